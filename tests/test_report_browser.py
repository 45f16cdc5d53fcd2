"""The report in a real browser: it opens from disk, draws, sorts, searches, and fits phone and desktop in both themes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from covote.estimators.registry import make
from covote.report.collect import Extras, collect
from covote.report.page import page
from crowds import draw_triples
from test_report_names import HOSTILE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run"),
)
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not here (scripts/install-chromium.sh installs it)"),
]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    with playwright.sync_playwright() as engine:
        opened = engine.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def crowd_page(tmp_path_factory):
    """A report of 60 annotators with every section."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    fit = make("multispa-ds").fit(draw_triples(2, n_items=120, n_annotators=60, share=0.2))
    truth = fit.codes_.copy()
    truth[::9] = (truth[::9] + 1) % 3
    facts = collect(fit, extras=Extras(truth=truth))
    path.write_text(page(facts))
    return path, facts


class Opened:
    """A page opened in a fresh context, with all that went wrong and all that was asked for."""

    def __init__(self, browser, path, *, size=DESKTOP, scheme="light"):
        self.context = browser.new_context(viewport=size, color_scheme=scheme)
        self.page = self.context.new_page()
        self.trouble, self.requests = [], []
        self.page.on("console", lambda m: self.trouble.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda e: self.trouble.append(str(e)))
        self.page.on("dialog", lambda d: (self.trouble.append(d.message), d.dismiss()))
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.goto(Path(path).as_uri())

    def __enter__(self):
        return self.page

    def __exit__(self, kind, *_):
        self.context.close()
        if kind is None:
            assert self.trouble == []
            assert len(self.requests) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_opens_draws_and_fits(browser, crowd_page, size, scheme):
    path, facts = crowd_page
    with Opened(browser, path, size=size, scheme=scheme) as tab:
        assert tab.title() == facts.outcome.title
        assert tab.evaluate("document.documentElement.scrollWidth") == size["width"]  # nothing sticks out
        kind, other = (".wide", ".narrow") if size is DESKTOP else (".narrow", ".wide")
        drawn = tab.locator(f".chart{kind} svg")
        assert drawn.count() >= 10
        assert tab.locator(f".chart{other}:visible").count() == 0
        for i in range(drawn.count()):
            box = drawn.nth(i).bounding_box()
            assert box["width"] > 150
            assert box["height"] > 60
            assert box["x"] + box["width"] <= size["width"]
        assert tab.locator(f".chart{kind} [role='graphics-symbol'][aria-label]").count() > 200


def test_axis_labels_do_not_overlap(browser, crowd_page):
    for size in (DESKTOP, PHONE):
        with Opened(browser, crowd_page[0], size=size) as tab:
            overlapping = tab.evaluate("""() => {
              const found = [];
              for (const group of document.querySelectorAll('.role-axis-label')) {
                const boxes = [...group.querySelectorAll('text')].filter((t) => t.textContent && +t.getAttribute('opacity') !== 0)
                  .map((t) => [t.textContent, t.getBoundingClientRect()]).filter(([, b]) => b.width);
                for (let i = 1; i < boxes.length; i++) {
                  const [a, b] = [boxes[i - 1][1], boxes[i][1]];
                  const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                  const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                  if (across > 1 && down > 3) found.push(boxes[i - 1][0] + ' / ' + boxes[i][0]);
                }
              }
              return found;
            }""")
            assert overlapping == []


def colour(tab, selector, what="color"):
    return tab.evaluate(f"getComputedStyle(document.querySelector({selector!r})).{what}")


def brightness(text):
    numbers = [float(n) for n in text[text.index("(") + 1 : -1].replace(",", " ").split()[:3]]
    return sum(numbers) / 3


def test_dark_and_light(browser, crowd_page):
    with Opened(browser, crowd_page[0], scheme="dark") as tab:
        assert brightness(colour(tab, "body", "backgroundColor")) < 60
        assert brightness(colour(tab, "body")) > 180
        assert brightness(colour(tab, ".chart.wide .role-axis-label text", "fill")) > 130  # drawings follow the theme
        tab.click("#theme")
        assert brightness(colour(tab, "body", "backgroundColor")) > 200
        assert brightness(colour(tab, ".chart.wide .role-axis-label text", "fill")) < 130
        tab.click("#theme")
        assert brightness(colour(tab, "body", "backgroundColor")) < 60
    with Opened(browser, crowd_page[0]) as tab:
        assert brightness(colour(tab, "body", "backgroundColor")) > 200


def rows(tab, table):
    return tab.locator(f"#{table} tbody tr:visible")


def test_search_finds_annotators_beyond_the_first_rows(browser, crowd_page):
    path, facts = crowd_page
    with Opened(browser, path) as tab:
        assert rows(tab, "annotators-table").count() == 15
        last = facts.annotators[-1].annotator
        tab.fill("[data-search='annotators-table']", last.upper())
        names = rows(tab, "annotators-table").locator(".id").all_inner_texts()
        assert last in names
        assert all(last in n for n in names)
        assert tab.locator("[data-found='annotators-table']").inner_text().endswith(f"of {len(facts.annotators)}")
        tab.fill("[data-search='annotators-table']", "nobody of this name")
        assert rows(tab, "annotators-table").count() == 0
        tab.fill("[data-search='annotators-table']", "")
        assert rows(tab, "annotators-table").count() == 15
        more = tab.locator("#annotators .more")
        assert more.inner_text() == "Show 45 more of 45"
        more.click()
        assert rows(tab, "annotators-table").count() == 60
        tab.fill("[data-search='matrices-cards']", last)
        assert tab.locator("#matrices-cards article:visible h4").all_inner_texts() == [
            a.annotator for a in facts.annotators if last in a.annotator
        ]


def test_sorting_by_number_and_by_name(browser, crowd_page):
    path, facts = crowd_page
    with Opened(browser, path) as tab:
        header = tab.locator("#annotators-table th", has_text="answers")
        header.locator("button").focus()
        tab.keyboard.press("Enter")  # works from the keyboard
        assert header.get_attribute("aria-sort") == "descending"
        shown = [int(t) for t in rows(tab, "annotators-table").locator("td:nth-child(3)").all_inner_texts()]
        assert shown == sorted((a.answers for a in facts.annotators), reverse=True)[:15]
        header.locator("button").click()
        assert header.get_attribute("aria-sort") == "ascending"
        assert int(rows(tab, "annotators-table").locator("td:nth-child(3)").first.inner_text()) == min(
            a.answers for a in facts.annotators
        )
        tab.locator("#annotators-table th button", has_text="annotator").click()
        names = rows(tab, "annotators-table").locator(".id").all_inner_texts()
        assert names == sorted(names, key=lambda n: int(n.removeprefix("judge")))
        assert header.get_attribute("aria-sort") is None


def test_tooltips_tables_and_contents(browser, crowd_page):
    with Opened(browser, crowd_page[0]) as tab:
        mark = tab.locator("#chart-classes .wide [role='graphics-symbol'][aria-label*='of the items']").first
        mark.hover()
        assert tab.locator("#tip").inner_text() == mark.get_attribute("aria-label")
        cell = tab.locator(".heat tbody td.r").first
        cell.hover()
        assert tab.locator("#tip").inner_text().startswith("class ape, labelled ape: ")
        tab.keyboard.press("Escape")
        assert tab.locator("#tip").is_hidden()
        details = tab.locator("#chart-classes details")
        assert not details.locator("table").is_visible()
        details.locator("summary").press("Enter")
        assert details.locator("tbody tr").count() == 3
        assert details.locator("table").is_visible()
        tab.keyboard.press("Home")
        tab.locator("nav a", has_text="Overlap").click()
        tab.locator("nav a[aria-current]", has_text="Overlap").wait_for()


def test_print_is_light_and_without_controls(browser, crowd_page):
    with Opened(browser, crowd_page[0], scheme="dark") as tab:
        tab.emulate_media(media="print")
        assert brightness(colour(tab, "body")) < 80
        assert tab.locator("nav").is_hidden()
        assert tab.locator("input[type=search]:visible").count() == 0
        assert len(tab.pdf()) > 50_000


def test_hostile_names_are_shown_as_text(browser, tmp_path):
    triples = [(f"{n} {i}", m, HOSTILE[(i * j) % 5]) for i, n in enumerate(HOSTILE * 2) for j, m in enumerate(HOSTILE)]
    facts = collect(make("majority-vote").fit(triples), extras=Extras(title=HOSTILE[0], deep=False))
    (tmp_path / "hostile.html").write_text(page(facts))
    for size in (DESKTOP, PHONE):
        with Opened(browser, tmp_path / "hostile.html", size=size) as tab:
            assert tab.locator("img, iframe, main script").count() == 0
            assert tab.locator("h1").inner_text() == HOSTILE[0]
            assert HOSTILE[0] in rows(tab, "annotators-table").locator(".id").all_inner_texts()
            assert tab.evaluate("document.documentElement.scrollWidth") == size["width"]
            long = tab.locator("#annotators-table .name[title]", has_text="aaaa").first
            assert long.bounding_box()["width"] < 260
            long.click()
            assert "open" in long.get_attribute("class")
            assert tab.evaluate("document.documentElement.scrollWidth") == size["width"]


def test_without_scripts_everything_is_still_there(browser, crowd_page):
    path, facts = crowd_page
    context = browser.new_context(java_script_enabled=False, viewport=DESKTOP)
    tab = context.new_page()
    tab.goto(Path(path).as_uri())
    assert rows(tab, "annotators-table").count() == len(facts.annotators)
    assert tab.locator(".search:visible").count() == 0
    context.close()
