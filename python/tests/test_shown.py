"""What people see: progress, notebooks, figures, types."""

import io
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest
import simulators

import kelfi
from kelfi import _progress

PYTHON = Path(__file__).resolve().parents[1]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_a_terminal_and_cleared(monkeypatch, prior):
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    monkeypatch.setattr(_progress, "EVERY", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    kelfi.simulate(simulators.noisy, prior, 5, seed=1)
    lines = sys.stderr.getvalue().split("\r")
    assert lines[5].startswith("simulations 100% |██████") and " 5/5 [00:00<00:00]" in lines[5]
    assert lines[-2].strip() == "" and lines[-1] == ""


def test_fits_and_calibration_tell_how_far_they_are(monkeypatch, prior, data, posterior):
    theta, x, x_o = data
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    kelfi.fit(theta, x, x_o, prior, model="kernel-means", ard=True)
    assert "learning" in sys.stderr.getvalue()
    posterior.calibration(theta[:40], theta[:40, [0, 1, 1]], progress=True)
    assert "calibration" in sys.stderr.getvalue()


def test_nothing_is_written_into_a_pipe_unless_asked_for(capfd, prior):
    kelfi.simulate(simulators.slow, prior, 80, seed=1)
    assert capfd.readouterr().err == ""
    kelfi.simulate(simulators.slow, prior, 80, seed=1, progress=True)
    assert "simulations" in capfd.readouterr().err


def test_notebooks_have_one_output_that_is_replaced(monkeypatch, prior):
    said = []

    class Handle:
        def update(self, data, raw):
            said.append(("update", data["text/plain"]))

    def display(data, raw, display_id):
        said.append(("display", data["text/plain"]))
        return Handle()

    shell = types.ModuleType("IPython")
    shell.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    shown = types.ModuleType("IPython.display")
    shown.display = display
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    monkeypatch.setattr(_progress, "EVERY", 0.0)
    kelfi.simulate(simulators.noisy, prior, 5, seed=1)
    assert [kind for kind, _ in said].count("display") == 1
    assert said[-1][0] == "update" and "5/5" in said[-1][1]


def test_a_notebook_shows_a_table_with_the_numbers_and_names_escaped(location_scale):
    shown = location_scale._repr_html_()
    assert f"<td>{location_scale.mean()[0]:.4g}</td>" in shown and f"<td>{location_scale.interval(0.95)[1, 1]:.4g}</td>" in shown
    prior = kelfi.Prior({"<b>": kelfi.Normal(0, 1)})
    theta = prior.sample(50, seed=1)
    model = kelfi.KernelMeansLikelihood(theta, theta, [0.3], prior, epsilon=0.2, length_scale=0.5, regularization=1e-3)
    assert "<td>&lt;b&gt;</td>" in model.posterior()._repr_html_()


def test_a_figure_is_shown_once_where_pyplot_shows_figures_itself(monkeypatch, posterior):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    plt.close("all")
    figure = posterior.plot("relevance")
    assert plt.get_fignums() == [figure.number]
    plt.close("all")
    monkeypatch.setattr(plt, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    figure = posterior.plot("relevance")
    assert plt.get_fignums() == [] and figure.axes


def mypy(code, folder):
    pytest.importorskip("mypy")
    path = folder / "used.py"
    path.write_text(code)
    # Dask's own functions have no types.
    command = [sys.executable, "-m", "mypy", "--strict", "--untyped-calls-exclude=distributed", "--cache-dir", os.devnull]
    found = [str(path)] if code else [str(script) for script in sorted((PYTHON / "examples").glob("*.py"))]
    return subprocess.run([*command, *found], cwd=folder, capture_output=True, text=True)


def test_strict_types_pass_on_the_examples(tmp_path):
    done = mypy("", tmp_path)
    assert done.returncode == 0, done.stdout


RIGHT = "import kelfi\nprior = kelfi.Prior(a=kelfi.Normal(0, 1))\nkelfi.fit([[0.0]], [[0.0]], [0.0], prior, model='location-scale')\n"
WRONG = {
    "kelfi.fit([[0.0]], [[0.0]], [0.0], prior, model='location scale')": "location scale",
    "kelfi.fit([[0.0]], [[0.0]], [0.0], prior, epsilom=1.0)": "epsilom",
    "kelfi.infer(len, prior, [0.0], rounds='many')": "rounds",
    "kelfi.infer(len, prior, [0.0], num_worker=2)": "num_worker",
    "kelfi.load('p.json').sample(10, method='herd')": "method",
    "kelfi.load('p.json').plot('pair')": "plot",
}


def test_strict_types_catch_a_wrong_option(tmp_path):
    assert mypy(RIGHT, tmp_path).returncode == 0
    done = mypy(RIGHT + "\n".join(WRONG) + "\n", tmp_path)
    assert done.returncode == 1 and f"Found {len(WRONG)} errors" in done.stdout, done.stdout
    for said in WRONG.values():
        assert said in done.stdout


def test_pyright_says_the_same(tmp_path):
    pytest.importorskip("pyright")

    def pyright(*files):
        return subprocess.run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, *files], capture_output=True, text=True)

    done = pyright(*map(str, sorted((PYTHON / "examples").glob("*.py"))))
    assert done.returncode == 0, done.stdout
    path = tmp_path / "used.py"
    path.write_text(RIGHT + "\n".join(WRONG) + "\n")
    assert f"{len(WRONG)} errors" in pyright(str(path)).stdout
