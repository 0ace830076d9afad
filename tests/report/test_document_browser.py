"""The report in a real browser: it loads clean, sorts, slides, opens, prints, and passes axe-core."""

import base64
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from hostile_results import HOSTILE, render_html, simulated

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
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
    rows = browser.find_elements("css selector", "table[aria-labelledby=table-by_prior] tbody tr")
    return [row.text for row in rows]


@pytest.fixture
def keys():
    from selenium.webdriver.common.keys import Keys

    return Keys


def test_page_loads_clean_and_fetches_nothing(opened):
    assert opened.get_log("browser") == []
    assert opened.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert len(opened.find_elements("css selector", "button.copy")) == 2


def test_a_script_in_its_place_would_not_run(browser, document, tmp_path):
    changed = document.replace('"use strict";', '"use strict";document.title = "changed";')
    visit(browser, changed, tmp_path)
    assert browser.title != "changed"
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


def test_tables_sort_by_click_and_key(opened, keys):
    by_css(opened, 'nav a[href="#pairs"]').click()
    table = by_css(opened, "table[aria-labelledby=table-pairs-1]")
    heads = table.find_elements("css selector", "thead button")
    assert heads[2].text == "Difference"

    def cells(column):
        return [row.text for row in table.find_elements("css selector", f"tbody td:nth-child({column + 1})")]

    numbers = list(map(float, cells(2)))
    heads[2].click()
    assert list(map(float, cells(2))) == sorted(numbers)
    heads[2].send_keys(keys.ENTER)
    assert list(map(float, cells(2))) == sorted(numbers, reverse=True)
    sorts = [head.get_attribute("aria-sort") for head in table.find_elements("css selector", "thead th")]
    assert sorts == [None, None, "descending", None, None, None]
    heads[4].send_keys(keys.SPACE)
    values = [float(cell.replace("<0.0001", "0.00005")) for cell in cells(4)]
    assert values == sorted(values)
    assert len(values) == len(numbers)
    assert opened.switch_to.active_element == heads[4]


def test_slider_moves_cursor_and_table_by_key(opened, keys):
    bar, caption = by_css(opened, "#prior"), by_css(opened, "#table-by_prior")
    cursor = by_css(opened, "#figure-regions line.cursor")
    first, x = rows_at_prior(opened), float(cursor.get_attribute("x1"))
    assert len(first) == len(HOSTILE)
    bar.send_keys(keys.ARROW_RIGHT)
    assert float(cursor.get_attribute("x1")) > x
    assert rows_at_prior(opened) != first
    bar.send_keys(keys.ARROW_LEFT)
    assert rows_at_prior(opened) == first
    bar.send_keys(keys.END)
    assert caption.text.startswith("At prior 0.5 (")
    assert bar.get_attribute("aria-valuetext") == caption.text
    area = opened.execute_script(
        "const box = document.getElementById('regions-prior-area').getBBox();"
        "return [box.x, box.x + box.width]"
    )
    assert float(cursor.get_attribute("x1")) == pytest.approx(area[1])
    bar.send_keys(keys.HOME)
    assert caption.text.startswith("At prior 0.05 (")
    assert float(cursor.get_attribute("x1")) == pytest.approx(area[0])


def test_pointer_over_the_figure_reads_the_prior_under_it(opened):
    from selenium.webdriver.common.action_chains import ActionChains

    picture, bar = by_css(opened, "#figure-regions svg"), by_css(opened, "#prior")
    opened.execute_script("arguments[0].scrollIntoView({ block: 'center' })", picture)
    seen = []
    for share in (-0.2, 0.05):
        ActionChains(opened).move_to_element_with_offset(
            picture, int(share * picture.size["width"]), 0
        ).perform()
        seen.append(int(bar.get_attribute("value")))
    assert seen[0] < seen[1]


def test_live_rows_stay_with_their_models_after_sorting(opened, keys):
    bar = by_css(opened, "#prior")
    bar.send_keys(keys.HOME)
    expected = sorted(rows_at_prior(opened))
    bar.send_keys(keys.END)
    by_css(opened, "table[aria-labelledby=table-by_prior] thead th:nth-child(3) button").click()
    bar.send_keys(keys.HOME)
    assert sorted(rows_at_prior(opened)) == expected


def test_links_open_the_parts_they_lead_into(browser, document, tmp_path):
    visit(browser, document, tmp_path, part="#table-plans")
    assert by_css(browser, "#pairs").get_attribute("open") is not None
    assert by_css(browser, "#methods").get_attribute("open") is None
    by_css(browser, 'nav a[href="#methods"]').click()
    assert by_css(browser, "#methods").get_attribute("open") is not None
    button = by_css(browser, "nav button.all")
    for said in ("Close all parts", "Open all parts"):
        button.click()
        states = {p.get_attribute("open") for p in browser.find_elements("css selector", "details.part")}
        assert len(states) == 1
        assert button.text == said


def test_page_is_complete_without_scripts(browser, document, tmp_path):
    visit(browser, document, tmp_path, scripts=False)
    assert not by_css(browser, "#slider").is_displayed()
    assert by_css(browser, "#table-by_prior").text.startswith("At prior 0.1 (")
    part = by_css(browser, "#tests")
    by_css(part, "summary").click()
    assert by_css(part, "table").is_displayed()


@pytest.mark.parametrize(("parts", "fewest", "most"), [("as they are", 2, 8), ("all", 9, 40)])
def test_closed_parts_are_not_printed(opened, parts, fewest, most):
    if parts == "all":
        by_css(opened, "nav button.all").click()
    paper = base64.b64decode(opened.print_page())
    assert fewest <= len(re.findall(rb"/Type\s*/Page[^s]", paper)) <= most


@pytest.mark.parametrize("width", [390, 700, 1300])
def test_page_is_as_wide_as_the_screen(browser, document, tmp_path, width):
    """Only tables, figures and the contents scroll sideways, each in its own box."""
    visit(browser, document, tmp_path, width=width)
    browser.execute_script("for (const part of document.querySelectorAll('details')) part.open = true")
    page = "document.documentElement"
    widest, room = browser.execute_script(f"return [{page}.scrollWidth, {page}.clientWidth]")
    assert widest <= room <= width
    contents = by_css(browser, "nav.contents")
    browser.execute_script("scrollTo(0, 4000)")
    assert 0 <= contents.rect["y"] - browser.execute_script("return scrollY") < 30  # it stays in sight


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
