"""Reports to look at and a headless Chromium to look with."""

import os
import pathlib
import subprocess

import pytest
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
NAMES = ["blowfly", "banana", "hostile"]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def reports():
    """The blowfly report, one with two parameters, and one with 20 parameters and hostile names, made afresh."""
    directory = TARGET / "reports"
    # Built with the whole workspace, as the Rust tests are: one crate alone would have its dependencies compiled anew.
    subprocess.run(["cargo", "test", "--workspace", "--no-run", "--quiet"], cwd=ROOT, check=True)
    built = TARGET / "debug" / "examples" / "make_reports"
    subprocess.run([str(built), str(directory)], cwd=ROOT, check=True)
    return {name: directory / f"{name}.html" for name in NAMES}


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
def opened(request, reports, browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    opened = Opened(context.new_page(), reports[request.param])
    opened.name = request.param
    yield opened
    context.close()
