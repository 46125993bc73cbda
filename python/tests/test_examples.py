"""The examples run, their notebooks are theirs, and the lines of the README and the book work as typed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PYTHON / "examples"))
from make_notebooks import notebook, scripts  # noqa: E402


def run(code, folder):
    environment = {**os.environ, "MPLBACKEND": "agg"}
    done = subprocess.run([sys.executable, *code], cwd=folder, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", scripts(), ids=lambda path: path.stem)
def test_example(path, tmp_path):
    if path.stem == "dask_cluster":
        pytest.importorskip("distributed")
    run([str(path)], tmp_path)


@pytest.mark.parametrize("path", scripts(), ids=lambda path: path.stem)
def test_notebook_is_made_from_its_script(path):
    written = path.with_suffix(".ipynb").read_text()
    assert written == notebook(path.read_text()), "run python/examples/make_notebooks.py"
    code = [cell for cell in json.loads(written)["cells"] if cell["cell_type"] == "code"]
    assert code and all(cell["outputs"] == [] for cell in code)
    for cell in code:
        compile("".join(cell["source"]), path.name, "exec")


DOCUMENTS = ["README.md", "python/README.md", "docs/src/start/python.md", "docs/src/reference/python.md", "docs/src/understand/raw-data.md"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_python_lines_of_the_documents(name, tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", (PYTHON.parent / name).read_text(), flags=re.DOTALL | re.MULTILINE)
    assert blocks
    run(["-c", "\n".join(blocks)], tmp_path)


@pytest.mark.parametrize("name", ["LICENSE-MIT", "LICENSE-APACHE"])
def test_the_package_carries_the_licences_of_the_project(name):
    assert (PYTHON / name).read_text() == (PYTHON.parent / name).read_text()
