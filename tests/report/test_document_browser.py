"""The report in a real browser: it loads clean, sorts, works without scripts and passes axe-core."""

import json
import os
import re
import shutil
import subprocess
from html import unescape
from importlib.util import find_spec
from pathlib import Path

import pytest
from hostile_results import HOSTILE, simulated

from skewanova.report.folder import render_html

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
AXE = find_spec("axe_core_python")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; the structure is tested in test_report"),
]
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--enable-logging=stderr", "--virtual-time-budget=30000", "--dump-dom",
)  # fmt: skip


@pytest.fixture(scope="module")
def document():
    return render_html(simulated(HOSTILE, priors=(0.5, 0.1)))


def visit(document, place, *flags):
    """The page as the browser has it in the end, and what it wrote to the console."""
    page = place / "report.html"
    page.write_text(document, encoding="utf-8")
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={place / 'profile'}", *flags, page.as_uri()]
    done = subprocess.run(command, capture_output=True, check=False, timeout=240, env={**os.environ})
    console = [line for line in done.stderr.decode("utf-8", "replace").split("\n") if "CONSOLE" in line]
    return done.stdout.decode("utf-8"), console


def asked(document, place, script, *flags):
    """What a script finds on a copy of the page whose policy lets it run."""
    answer = (
        f"<script>addEventListener('load', async () => {{ const found = await (async () => {{ {script} }})();"
        "const answer = document.createElement('pre'); answer.id = 'answer';"
        "answer.textContent = JSON.stringify(found); document.body.append(answer); });</script>"
    )
    open_to_it = re.sub(r"script-src '[^']*'", "script-src 'unsafe-inline'", document)
    assert open_to_it != document
    dom, console = visit(open_to_it.replace("</body>", f"{answer}</body>"), place, *flags)
    assert console == []
    return json.loads(unescape(re.search(r'<pre id="answer">(.*?)</pre>', dom, flags=re.DOTALL)[1]))


def test_page_loads_clean_and_its_script_runs_under_its_policy(document, tmp_path):
    dom, console = visit(document, tmp_path)
    assert console == []
    assert document.count("<button") == 0
    assert dom.count('<th scope="col"') > dom.count('<th scope="col" class="number"><button') > 5
    assert dom.count('class="copy"') == 2


def test_a_script_in_its_place_would_not_run(document, tmp_path):
    changed = document.replace('"use strict";', '"use strict";document.title = "changed";')
    dom, console = visit(changed, tmp_path)
    assert "<title>changed" not in dom
    assert any("Content Security Policy" in line for line in console)


def test_nothing_is_fetched(document, tmp_path):
    script = "return performance.getEntriesByType('resource').map((entry) => entry.name);"
    assert asked(document, tmp_path, script) == []


def test_tables_sort_by_click_and_key(document, tmp_path):
    script = """
      const table = document.querySelector('[aria-labelledby=table-pairs-1] table');
      const column = (j) => [...table.tBodies[0].rows].map((row) => row.cells[j].textContent.trim());
      const heads = [...table.tHead.rows[0].cells];
      const press = (j) => {
        const button = heads[j].querySelector('button');
        button.focus();
        button.click();
        const sort = heads.map((head) => head.getAttribute('aria-sort'));
        return { focused: document.activeElement === button, sort };
      };
      const found = { before: column(2), names: heads.map((h) => h.textContent) };
      found.up = { ...press(2), cells: column(2) };
      found.down = { ...press(2), cells: column(2) };
      found.p = { ...press(4), cells: column(4) };
      found.text = { ...press(0), cells: column(0) };
      return found;
    """
    found = asked(document, tmp_path, script)
    assert found["names"][2] == "Difference"
    numbers = list(map(float, found["before"]))
    assert list(map(float, found["up"]["cells"])) == sorted(numbers)
    assert list(map(float, found["down"]["cells"])) == sorted(numbers, reverse=True)
    assert found["up"]["sort"] == [None, None, "ascending", None, None, None]
    assert found["down"]["sort"][2] == "descending"
    assert found["p"]["sort"] == [None, None, None, None, "ascending", None]
    values = [float(cell.replace("<0.0001", "0.00005")) for cell in found["p"]["cells"]]
    assert values == sorted(values)
    assert len(found["text"]["cells"]) == len(numbers)
    assert all(found[name]["focused"] for name in ("up", "down", "p", "text"))


def test_page_is_as_wide_as_a_phone(document, tmp_path):
    """Only tables scroll sideways, each in its own box."""
    script = """
      const frame = document.createElement('iframe'); frame.style.width = '390px';
      frame.srcdoc = document.documentElement.outerHTML.replace(/<script[^]*?<\\/script>/g, '');
      await new Promise((done) => { frame.onload = done; document.body.append(frame); });
      const page = frame.contentDocument.documentElement;
      return [page.scrollWidth, page.clientWidth, frame.contentDocument.querySelectorAll('table').length];
    """
    width, room, tables = asked(document, tmp_path, script)
    assert tables > 5
    assert width <= room <= 390


@pytest.mark.skipif(AXE is None, reason="no axe-core-python here (group test)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault(document, tmp_path, scheme):
    axe = (Path(AXE.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")
    with_axe = document.replace("</body>", f"<script>{axe}</script></body>")
    script = """
      const found = await axe.run(document, { resultTypes: ['violations'] });
      return { scheme: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
        passed: found.passes.length,
        faults: found.violations.map((fault) => [fault.id, fault.nodes.map((node) => node.html)]) };
    """
    flag = f"--blink-settings=preferredColorScheme={int(scheme == 'light')}"
    found = asked(with_axe, tmp_path, script, flag)
    assert found["scheme"] == scheme
    assert found["faults"] == []
    assert found["passed"] > 20
