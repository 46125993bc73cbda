"""sbi's own example, `pairplot`, `run_sbc` and `run_tarp` on kelfi's posterior. sbi is large: this is a slow test.

It installs sbi into an environment of its own, or uses the Python that KELFI_SBI_PYTHON names.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent


@pytest.mark.slow
def test_the_tools_of_sbi_take_the_posterior(tmp_path):
    python = os.environ.get("KELFI_SBI_PYTHON") or installed(tmp_path / "environment")
    environment = {**os.environ, "PYTHONPATH": str(TESTS.parent)}
    done = subprocess.run([python, str(TESTS / "sbi_flow.py")], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0 and "take the posterior" in done.stdout, done.stderr[-4000:]


def installed(folder):
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    # sbi 0.27 imports six without asking for it.
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", "sbi", "six"], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"sbi cannot be installed here: {done.stderr[-300:]}")
    return python
