"""Pages made by the command itself, and a headless Chromium to look with."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from playwright.sync_api import sync_playwright

from problems import failing_problem, hostile_problem

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
REPORTS = ["blowfly", "banana", "hostile"]
NAMES = REPORTS + ["compare"]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def kelfi(*arguments):
    """Runs the command: the one in $KELFI, else the one the Rust tests built."""
    command = os.environ.get("KELFI", str(TARGET / "debug" / "kelfi"))
    done = subprocess.run([command, *map(str, arguments), "--quiet"], cwd=ROOT)
    # 6: everything is written, but a check failed, as it should on pages with simulators that misbehave.
    assert done.returncode in (0, 6), (arguments, done.returncode)


@pytest.fixture(scope="session")
def pages():
    """The blowfly report, one with two parameters and failing simulations, one with 20 parameters and hostile names, a comparison."""
    folder = TARGET / "pages"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # Pages of both models: their figures differ.
    kelfi("run", "examples/blowfly.toml", "-o", folder / "blowfly", "--model", "location-scale")
    kelfi("run", failing_problem(folder, sys.executable), "-o", folder / "banana", "--model", "kernel-means", "--rounds", "1")
    kelfi("run", hostile_problem(folder, sys.executable), "-o", folder / "hostile", "--model", "kernel-means", "--rounds", "1")
    compared = ["--methods", "kelfi,rejection-regression,rejection,prior", "--budget", "50,150", "--repeats", "5"]
    kelfi("compare", "banana", *compared, "-o", folder / "compare")
    files = {name: folder / name / "report.html" for name in REPORTS}
    return {**files, "compare": folder / "compare" / "compare.html"}


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "chromium"), headless=True, args=FLAGS)
        yield running
        running.close()


class Opened:
    """A page with what went wrong while it was open."""

    def __init__(self, page, path):
        self.page = page
        self.errors = []
        self.requests = []
        page.on("console", lambda message: self.errors.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(path.as_uri())


@pytest.fixture(params=NAMES)
def opened(request, pages, browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    opened = Opened(context.new_page(), pages[request.param])
    opened.name = request.param
    opened.kind = "compare" if request.param == "compare" else "report"
    yield opened
    context.close()
