"""Pages in a real browser: nothing breaks, nothing leaves the page, everything can be read and used."""

import csv
import io
import pathlib
import xml.etree.ElementTree

import pytest

from conftest import TARGET

SECTIONS = {
    "report": ["checks", "parameters", "pairs", "learned", "predictive", "calibration", "budget", "simulations", "provenance"],
    "compare": ["table", "repeats", "budgets", "methods", "provenance"],
}
FIGURES = {
    "report": [
        "pair-plot", "relevance", "profile-score", "profile-evidence", "surface", "predictive-check",
        "coverage", "ranks", "width-by-simulations", "epsilon-by-simulations", "run-times",
    ],
    "compare": ["error", "coverage", "c2st", "gain", "width", "seconds", "error-by-simulations", "c2st-by-simulations"],
}
# Of the location-scale model, which has no profiles of a score over its hyperparameters, after rounds.
LOCATION_SCALE = [
    "pair-plot", "relevance", "predictive-check", "coverage", "ranks", "interval-by-round-0", "simulations-by-round", "run-times",
]
# A line whose colour the theme changes.
LINES = {"report": "#pair-plot .posterior", "compare": "#error-by-simulations .s0"}
LARGEST_PAGE = 3_000_000
# WCAG 2 AA: small text 4.5 to 1.
LEAST_CONTRAST = 4.5

CONTRASTS = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("h1,h2,h3,p,a,li,th,td,summary,button,figcaption,caption,.badge,text")) {
    if (!element.textContent.trim() || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const ink = parse(element.tagName === "text" ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(element))];
    found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), element.tagName + ": " + element.textContent.slice(0, 60)]);
  }
  return found;
}"""


def test_no_error_and_no_request_leaves_the_page(opened):
    opened.page.wait_for_timeout(300)
    assert opened.errors == []
    assert [url for url in opened.requests if not url.startswith(("file:", "data:"))] == []
    assert len([url for url in opened.requests if url.startswith("file:")]) == 1


def test_every_section_and_figure_is_there(opened, pages):
    for section in SECTIONS[opened.kind] + (["rounds"] if opened.name == "blowfly" else []):
        assert opened.page.locator(f"section#{section} h2").is_visible(), section
    figures = LOCATION_SCALE if opened.name == "blowfly" else FIGURES[opened.kind]
    for figure in figures + (["failures"] if opened.name == "banana" else []):
        box = opened.page.locator(f"figure#{figure} svg").bounding_box()
        assert box and box["width"] > 200 and box["height"] > 60, figure
    assert pages[opened.name].stat().st_size < LARGEST_PAGE
    # The verdict is the first thing after the title.
    assert opened.page.locator("header .verdict .headline").bounding_box()["y"] < 320


def test_no_text_in_a_figure_leaves_its_drawing(opened):
    outside = opened.page.evaluate("""() => [...document.querySelectorAll('figure svg')].flatMap((svg) => {
      const frame = svg.getBoundingClientRect();
      return [...svg.querySelectorAll('text')].filter((text) => {
        const box = text.getBoundingClientRect();
        return box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 2 || box.bottom > frame.bottom + 2;
      }).map((text) => svg.closest('figure').id + ': ' + text.textContent);
    })""")
    assert outside == []


def test_hovering_shows_the_value(opened):
    tip = opened.page.locator("#tip")
    assert tip.is_hidden()
    for figure in {"report": ["pair-plot", "relevance", "coverage"], "compare": ["error", "coverage", "gain-by-simulations"]}[opened.kind]:
        shape = opened.page.locator(f"figure#{figure} [data-tip]").first
        shape.scroll_into_view_if_needed()
        shape.hover(force=True)
        opened.page.mouse.move(*centre(shape))
        assert tip.is_visible(), figure
        assert any(character.isdigit() for character in tip.inner_text()), figure
    opened.page.keyboard.press("Escape")
    assert tip.is_hidden()


def centre(shape):
    box = shape.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_theme_switch_works_by_keyboard(opened):
    page = opened.page
    background = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")
    line = lambda: page.evaluate("(shape) => getComputedStyle(document.querySelector(shape)).stroke", LINES[opened.kind])
    before = background(), line()
    page.focus("#theme")
    page.keyboard.press("Enter")
    assert background() != before[0] and line() != before[1]
    assert page.get_attribute("#theme", "aria-pressed") == "true"
    page.keyboard.press("Enter")
    assert (background(), line()) == before


def test_the_system_theme_is_followed(opened):
    opened.page.emulate_media(color_scheme="dark")
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 20, 26)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(opened, scheme):
    opened.page.emulate_media(color_scheme=scheme)
    opened.page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    found = opened.page.evaluate(CONTRASTS)
    assert len(found) > 90
    assert [pair for pair in found if pair[0] < LEAST_CONTRAST] == []


def test_headings_names_and_labels(opened):
    page = opened.page
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map((heading) => Number(heading.tagName[1]))")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:]))
    assert page.get_attribute("html", "lang") == "en"
    unnamed = page.evaluate("""() => [...document.querySelectorAll('svg[role=img]')].filter((svg) => !svg.getAttribute('aria-label')).length
      + [...document.querySelectorAll('button')].filter((button) => !(button.getAttribute('aria-label') || button.textContent.trim())).length
      + [...document.querySelectorAll('.scroll')].filter((region) => !region.getAttribute('aria-label')).length""")
    assert unnamed == 0
    identifiers = page.evaluate("[...document.querySelectorAll('[id]')].map((element) => element.id)")
    assert len(identifiers) == len(set(identifiers))
    tables = page.evaluate("[...document.querySelectorAll('table')].every((table) => table.caption && table.querySelector('th[scope=col]') && table.querySelector('th[scope=row]'))")
    assert tables
    targets = page.evaluate("[...document.querySelectorAll('a[href^=\"#\"]')].every((link) => document.getElementById(link.getAttribute('href').slice(1)))")
    assert targets


def test_figures_and_numbers_can_be_saved(opened):
    page = opened.page
    # The numbers of a comparison are named by their method.
    figures, named = {"report": (["pair-plot", "coverage"], 0), "compare": (["error", "gain-by-simulations"], 1)}[opened.kind]
    for figure in figures:
        with page.expect_download() as download:
            page.click(f"figure#{figure} button[data-save=svg]")
        drawing = pathlib.Path(download.value.path()).read_text(encoding="utf-8")
        assert xml.etree.ElementTree.fromstring(drawing).tag.endswith("svg")
        assert "var(--" not in drawing and "<title>" in drawing
        with page.expect_download() as download:
            page.click(f"figure#{figure} button[data-save=csv]")
        assert download.value.suggested_filename == f"{figure}.csv"
        rows = list(csv.reader(io.StringIO(pathlib.Path(download.value.path()).read_text(encoding="utf-8"))))
        assert len(rows) > 8 and len({len(row) for row in rows}) == 1
        [float(value) for value in rows[1][named:]]


def test_pictures_at_desktop_and_phone_width_and_a_print(opened):
    page, name = opened.page, opened.name
    folder = TARGET / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(folder / f"{name}-desktop.png"), full_page=True)
    page.emulate_media(color_scheme="dark")
    page.screenshot(path=str(folder / f"{name}-dark.png"), full_page=True)
    page.emulate_media(color_scheme="light")
    page.pdf(path=str(folder / f"{name}.pdf"), format="A4", prefer_css_page_size=True)
    page.set_viewport_size({"width": 390, "height": 844})
    page.screenshot(path=str(folder / f"{name}-phone.png"), full_page=True)
    # Wide drawings scroll inside their frames; the page itself never does.
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
