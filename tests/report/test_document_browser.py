"""The report in a real browser: it loads clean, sorts, slides, opens, prints, and passes axe-core."""

import base64
import re
import shutil
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest
from hostile_results import HOSTILE, render_html, simulated

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
DRIVER = shutil.which("chromedriver")
AXE = find_spec("axe_core_python")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; the structure is tested in test_folder"),
    pytest.mark.skipif(DRIVER is None, reason="no chromedriver here (Debian: chromium-driver)"),
    pytest.mark.skipif(find_spec("selenium") is None, reason="no selenium here (group test)"),
]
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@cache
def page_of(names, n_folds=5):
    """The page of a comparison at three priors."""
    return render_html(simulated(names, n_folds=n_folds, priors=(0.5, 0.1, 0.01)))


@pytest.fixture(scope="module")
def document():
    return render_html(simulated(HOSTILE, priors=(0.5, 0.1)))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser, document, tmp_path):
    """The browser with the page just opened, 1,200 pixels wide, light and with scripts."""
    return visit(browser, document, tmp_path)


def visit(browser, document, place, *, width=1200, scheme="light", scripts=True, part=""):
    page = place / "report.html"
    page.write_text(document, encoding="utf-8")
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
    browser.get_log("browser")
    browser.get("about:blank")
    browser.get(page.as_uri() + part)
    return browser


def by_css(browser, selector):
    return browser.find_element("css selector", selector)


def rows_at_prior(browser):
    return [row.text for row in browser.find_elements("css selector", "#table-by_prior tbody tr")]


def caption(browser):
    return by_css(browser, "#table-by_prior caption").text


def cursor_x(browser):
    path = by_css(browser, "svg.wide.auprec .cursor").get_attribute("d")
    return float(path[1:].split(" ")[0].split("V")[0])


@pytest.fixture
def keys():
    from selenium.webdriver.common.keys import Keys

    return Keys


def test_page_loads_clean_and_fetches_nothing(opened):
    assert opened.get_log("browser") == []
    assert opened.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_a_script_in_its_place_would_not_run(browser, document, tmp_path):
    visit(browser, document.replace('"use strict";', '"use strict";document.title = "changed";'), tmp_path)
    assert browser.title != "changed"
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


FEW = ("network", "forest", "boosting")
MANY = tuple(f"model-{i:02d}-of-many" for i in range(20))
TWELVE = tuple(f"m{i}" for i in range(12))


#: Boxes of what the first screen must show, and of its names, each with the box of what holds it.
SEEN = """
const shown = (e) => e.getClientRects().length > 0;
const box = (e) => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
const all = (selector) => [...document.querySelectorAll(selector)].filter(shown);
return {
  parts: all('h1, .verdict, figure#figure-auprec svg, .slider, #table-by_prior').map(box),
  names: all('svg.auprec text.name').map(box),
  texts: all('svg.auprec > text').map(box),
  picture: box(all('svg.auprec')[0]),
  page: [document.documentElement.scrollWidth, document.documentElement.clientWidth],
};
"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("names", [FEW, MANY])
def test_the_first_screen_holds_figure_slider_and_ranking(browser, tmp_path, names, width):
    visit(browser, page_of(names), tmp_path, width=width)
    seen = browser.execute_script(SEEN)
    assert len(seen["parts"]) == 5
    bottom = max(box[3] for box in seen["parts"])
    assert bottom <= 900 or width == 390
    assert seen["page"][0] <= seen["page"][1] <= width
    left, top, right, low = seen["picture"]
    for box in seen["names"]:
        assert left <= box[0] < box[2] <= min(right + 1, width)
        assert top <= box[1] < box[3] <= low
    heights = sorted(box[1] for box in seen["names"])
    assert all(b - a >= 10 for a, b in pairwise(heights))


def test_slider_moves_cursor_table_and_curves_by_key(opened, keys):
    bar = by_css(opened, "#prior")
    first, x = rows_at_prior(opened), cursor_x(opened)
    assert len(first) == len(HOSTILE)
    bar.send_keys(keys.ARROW_RIGHT)
    assert cursor_x(opened) > x
    assert rows_at_prior(opened) != first
    bar.send_keys(keys.ARROW_LEFT)
    assert (rows_at_prior(opened), cursor_x(opened)) == (first, pytest.approx(x, abs=0.1))
    curve = by_css(opened, "svg.pr path.line").get_attribute("d")
    bar.send_keys(keys.END)
    assert caption(opened) == "At a prior of 0.5 1 in 2 positive"
    assert by_css(opened, "svg.pr path.line").get_attribute("d") != curve
    assert by_css(opened, "#pr-prior").get_attribute("textContent") == "at a prior of 0.5"
    assert bar.get_attribute("aria-valuetext").startswith("At a prior of 0.5, 1 in 2 positive, ")
    left, right = map(float, by_css(opened, "svg.wide.auprec").get_attribute("data-box").split(" ")[:2])
    assert cursor_x(opened) == pytest.approx(right)
    bar.send_keys(keys.HOME)
    assert caption(opened).startswith("At a prior of 0.05 1 in 20 positive")
    assert cursor_x(opened) == pytest.approx(left)


def test_the_thumb_stands_below_the_cursor(opened):
    bar = by_css(opened, "#prior")
    thumb = bar.rect["x"] + 8 + float(bar.get_attribute("value")) * (bar.rect["width"] - 16)
    chart = by_css(opened, "svg.wide.auprec")
    assert thumb == pytest.approx(chart.rect["x"] + cursor_x(opened) * chart.rect["width"] / 800, abs=2)


def test_rows_are_sorted_by_their_value_at_the_prior(opened, keys):
    bar = by_css(opened, "#prior")
    for key in (keys.HOME, keys.END):
        bar.send_keys(key)
        cells = opened.find_elements("css selector", "#table-by_prior td:nth-child(2)")
        values = [float(cell.text) for cell in cells]
        assert values == sorted(values, reverse=True)
        dots = opened.find_elements("css selector", "svg.wide.auprec circle[data-model]")
        heights = sorted(float(dot.get_attribute("cy")) for dot in dots)
        top, bottom = map(float, by_css(opened, "svg.wide.auprec").get_attribute("data-box").split(" ")[2:4])
        assert heights == pytest.approx([bottom - (bottom - top) * value for value in values], abs=0.3)


def test_a_prior_in_the_link_opens_there(browser, document, tmp_path):
    visit(browser, document, tmp_path, part="#prior=0.2")
    assert caption(browser).startswith("At a prior of 0.2 ")
    browser.execute_script("location.hash = '#prior=0.5'")
    browser.execute_async_script("setTimeout(arguments[arguments.length - 1], 50)")
    assert caption(browser).startswith("At a prior of 0.5 ")


def test_pressing_in_the_figure_moves_the_slider(opened):
    from selenium.webdriver.common.action_chains import ActionChains

    picture, bar = by_css(opened, "svg.wide.auprec"), by_css(opened, "#prior")
    seen = []
    for share in (-0.2, 0.05):
        offset = int(share * picture.size["width"])
        ActionChains(opened).move_to_element_with_offset(picture, offset, 0).click().perform()
        seen.append(float(bar.get_attribute("value")))
    assert seen[0] < seen[1]


def test_names_fade_their_lines(opened):
    button = by_css(opened, "#table-by_prior tbody button")
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    number = by_css(opened, "#table-by_prior tbody tr").get_attribute("data-model")
    marks = opened.find_elements("css selector", f'svg [data-model="{number}"]')
    assert len(marks) > 4
    assert all("off" in mark.get_attribute("class") for mark in marks)
    button.click()
    assert opened.find_elements("css selector", "svg .off") == []


def test_the_pointer_names_the_nearest_line(opened):
    from selenium.webdriver.common.action_chains import ActionChains

    dot, chart = by_css(opened, "svg.wide.auprec circle[data-model]"), by_css(opened, "svg.wide.auprec")
    ActionChains(opened).move_to_element(dot).perform()
    number = dot.get_attribute("data-model")
    near = {part.get_attribute("data-model") for part in opened.find_elements("css selector", ".near")}
    row = by_css(opened, f'#table-by_prior tr[data-model="{number}"]')
    assert near == {number}
    cells = [row.find_element("css selector", cell).text for cell in ("th", "td")]
    assert by_css(opened, "svg.wide.auprec .tip").text == " ".join(cells)
    ActionChains(opened).move_to_element_with_offset(chart, 0, chart.size["height"] // 2 + 30).perform()
    assert opened.find_elements("css selector", ".near") == []


def test_many_models_are_drawn_as_differences_or_values_and_ten_rows_are_shown_at_first(browser, tmp_path):
    visit(browser, page_of(TWELVE), tmp_path)
    differences, values = "svg.wide.distance", "svg.wide.auprec:not(.distance)"
    assert [by_css(browser, chart).is_displayed() for chart in (differences, values)] == [True, False]
    dots = browser.find_elements("css selector", f"{differences} circle[data-model]")
    assert min(float(dot.get_attribute("cy")) for dot in dots) == pytest.approx(30)  # the highest, at zero
    by_css(browser, "#scale-auprec").click()
    assert [by_css(browser, chart).is_displayed() for chart in (differences, values)] == [False, True]
    assert sum(bool(text) for text in rows_at_prior(browser)) == 10
    by_css(browser, "button.all").click()
    assert sum(bool(text) for text in rows_at_prior(browser)) == 12


def test_links_open_the_parts_they_lead_into(browser, document, tmp_path):
    visit(browser, document, tmp_path, part="#table-plans")
    assert by_css(browser, "#checks").get_attribute("open") is not None
    assert by_css(browser, "#method").get_attribute("open") is None
    browser.execute_script("location.hash = '#table-tests'")
    browser.execute_async_script("setTimeout(arguments[arguments.length - 1], 50)")
    assert by_css(browser, "#method").get_attribute("open") is not None


def test_tab_reaches_the_links_of_the_verdict_first(opened, keys):
    order = []
    for _ in range(3):
        opened.switch_to.active_element.send_keys(keys.TAB)
        order.append(opened.switch_to.active_element)
    assert order[0].get_attribute("class") == "skip"
    assert all(link.find_element("xpath", "ancestor::*[@id='verdict']") for link in order[1:])


def test_page_is_complete_without_scripts(browser, document, tmp_path):
    visit(browser, document, tmp_path, scripts=False)
    assert not by_css(browser, ".slider").is_displayed()
    assert caption(browser).startswith("At a prior of 0.121 ")  # amid the supported ones
    assert by_css(browser, "svg.wide.auprec").is_displayed()
    part = by_css(browser, "#method")
    by_css(part, "summary").click()
    assert by_css(part, "table").is_displayed()


def test_the_opened_page_is_short(browser, tmp_path):
    visit(browser, page_of(FEW, n_folds=10), tmp_path)
    browser.execute_script("for (const part of document.querySelectorAll('details')) part.open = true")
    assert len(browser.execute_script("return document.body.innerText").split()) <= 2000
    assert len(browser.find_elements("css selector", "table")) <= 8
    assert 2 <= len(re.findall(rb"/Type\s*/Page[^s]", base64.b64decode(browser.print_page()))) <= 6


@pytest.mark.parametrize("width", [390, 700, 1300])
def test_page_is_as_wide_as_the_screen(browser, document, tmp_path, width):
    """Only tables scroll sideways, each in its own box."""
    visit(browser, document, tmp_path, width=width)
    browser.execute_script("for (const part of document.querySelectorAll('details')) part.open = true")
    page = "document.documentElement"
    widest, room = browser.execute_script(f"return [{page}.scrollWidth, {page}.clientWidth]")
    assert widest <= room <= width


#: Contrast of every line and name of the first figure with the paper and with the shade.
CONTRAST = """
const light = (color) => {
  const parts = color.match(/[\\d.]+/g).slice(0, 3).map((x) => x / 255);
  const [r, g, b] = parts.map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
};
const style = (e) => getComputedStyle(e);
const shade = document.querySelector('.shade');
const grounds = [style(document.body).backgroundColor, style(shade).fill].map(light);
const lines = [...document.querySelectorAll('svg.auprec path.line')].map((e) => light(style(e).stroke));
return lines.flatMap((x) => grounds.map((y) => Math.max(x, y) / Math.min(x, y)));
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_stand_out(browser, tmp_path, scheme):
    for number in (10, 12):
        visit(browser, page_of(TWELVE[:number]), tmp_path, scheme=scheme)
        assert min(browser.execute_script(CONTRAST)) >= 3


@pytest.mark.skipif(AXE is None, reason="no axe-core-python here (group test)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault(browser, document, tmp_path, scheme):
    visit(browser, document, tmp_path, scheme=scheme, width={"light": 1300, "dark": 390}[scheme])
    browser.execute_script("for (const part of document.querySelectorAll('details')) part.open = true")
    browser.execute_script((Path(AXE.submodule_search_locations[0]) / "axe.min.js").read_text("utf-8"))
    found = browser.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run(document, { resultTypes: ['violations'] }).then((found) => done({"
        "  passed: found.passes.length,"
        "  faults: found.violations.map((fault) => [fault.id, fault.nodes.map((node) => node.html)]) }));"
    )
    assert found["faults"] == []
    assert found["passed"] > 20
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
