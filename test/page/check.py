#!/usr/bin/env python3
"""Runs a program that writes a page and looks at the page.

Usage: check.py PAGE PROGRAM [argument ...]
In headless Chromium where it is installed: no console error, the numbers of marks, rows and lanes are those of the data,
sorting, filtering and zooming work, at two widths and in both colour schemes. Without it, what can be told from the text.
"""

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# What a reader does, ending in a text about what was seen. Numbers are compared with the data by the script itself.
DRIVER = """<script>
function wanted(what, truth) { if (!truth) throw new Error("wanted: " + what); }
const all = (selector) => [...document.querySelectorAll(selector)];
const data = JSON.parse(document.getElementById("data").textContent);
const clicked = (element) => element.dispatchEvent(new MouseEvent("click", {bubbles: true}));
const check = {
  bench() {
    const table = () => all(".scroll.tall tbody tr");
    wanted("a row for each of the data's", table().length === data.rows.length);
    const drawn = data.rows.filter((row) => row.backend === "cpu" && row.median_ms !== undefined && !row.reduced &&
      row.threads === data.machine.roofs[data.machine.roofs.length - 1].threads);
    const twice = drawn.length + drawn.filter((row) => row.flops > 0).length;
    wanted("a mark for each measured row in each picture", all(".mark").length === twice && drawn.length > 0);
    const heading = all(".scroll.tall th button").find((button) => button.textContent.startsWith("ms"));
    clicked(heading);
    const sorted = data.rows.filter((row) => row.median_ms !== undefined).sort((a, b) => b.median_ms - a.median_ms);
    wanted("the slowest row first", table()[0].children[0].textContent === sorted[0].operator);
    const search = document.querySelector("input[type=search]");
    search.value = data.rows[0].operator;
    search.dispatchEvent(new Event("input"));
    wanted("the filter keeps some", table().length === data.rows.filter((row) => (row.operator + " " + row.case).includes(data.rows[0].operator)).length);
    clicked(document.querySelector(".chips button"));
    const family = document.querySelector(".chips button").textContent;
    wanted("one family picked out", all(".mark.faint").length === all(".mark").filter((mark) => mark.dataset.family !== family).length);
    wanted("an entry for each operator", all("details").length === new Set(data.rows.map((row) => row.operator)).size);
    wanted("growth drawn", data.growth.length === 0 || all("details path.series").length >= data.growth.length);
    return table().length + " rows after filtering";
  },
  launches() {
    const launches = data.report.launches.length;
    wanted("a section for each launch", all("main section").length === launches && launches > 0);
    const events = all("rect.event").length;
    wanted("events drawn", events > 0 && all("svg[aria-label=timeline] text").some((text) => text.textContent.includes("modelled time, us")));
    const span = all(".panel .controls span")[0], before = span.textContent;
    clicked(document.querySelector(".zoom-in"));
    wanted("another window after zooming", all(".panel .controls span")[0].textContent !== before);
    wanted("names in the map of NRAM", data.report.launches[0].nram.every((r) => document.body.textContent.includes(r.name)));
    const hot = (data.report.launches[0].lines || []).filter((line) => line.file && line.held_us > 0);
    const shown = all(".lines tr.hot").map((row) => row.children[4].textContent);
    wanted("a row for each line that takes time", hot.every((line) => shown.includes(String(line.line))));
    const memory = data.report.launches.some((launch) => launch.cores.some((core) => core.memory_core && core.tasks));
    wanted("memory cores by their name", !memory || all("td").some((cell) => cell.textContent.startsWith("memory core")));
    for (const table of innerWidth >= 1300 ? all(".scroll") : []) {
      wanted("no cut columns, got " + table.scrollWidth + " of " + table.clientWidth, table.scrollWidth <= table.clientWidth + 1);
    }
    wanted("sentences", all(".sentences li").length >= Math.max(...data.report.launches.map((launch) => (launch.sentences || []).length)));
    return events + " events, " + all(".lines tr.hot").length + " lines";
  }};
document.title = "checked: " + check[data.kind]();
const wide = document.documentElement.scrollWidth;
if (wide > innerWidth + 1) throw new Error("wanted: no wider than the window, got " + wide + " of " + innerWidth);
</script>
"""


def data_of(text: str) -> dict:
    found = re.search(r'<script type="application/json" id="data">\n(.*?)\n</script>', text, re.DOTALL)
    assert found, "the page has no data"
    return json.loads(found[1])


def check_text(text: str) -> dict:
    """What holds without a browser: the data are JSON, nothing is left to fill in, nothing comes from elsewhere."""
    data = data_of(text)
    assert text.startswith("<!DOCTYPE html>") and text.rstrip().endswith("</html>")
    assert not re.search(r"@[A-Z]+@", text), "a part of the page was not filled in"
    outside = re.findall(r"(?:src|href)=[\"']?https?:|@import|url\(|fetch\(|XMLHttpRequest", text)
    assert not outside, f"the page wants something from elsewhere: {outside}"
    for tag in ("script", "style", "main", "html"):
        assert len(re.findall(f"<{tag}[ >]", text)) == text.count(f"</{tag}>"), f"<{tag}> is not closed"
    assert data["kind"] in ("bench", "launches") and (data.get("rows") or data["report"]["launches"])
    return data


def look(chromium: str, page: Path, width: int, dark: bool) -> str:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
        result = subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", *scheme,
             f"--window-size={width},1000", f"--user-data-dir={profile}", "--dump-dom", page.as_uri()],
            capture_output=True, text=True, timeout=300)
    errors = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
    assert not errors, "\n".join(errors)
    title = re.search(r"<title>checked: (.*?)</title>", result.stdout)
    assert title, f"the page did not come to its end: {result.stderr[-2000:]}"
    return html.unescape(title[1])


def main() -> None:
    page, program = Path(sys.argv[1]).resolve(), sys.argv[2:]
    page.unlink(missing_ok=True)
    result = subprocess.run(program, capture_output=True, text=True)
    assert page.exists(), f"{program}: {result.returncode}\n{result.stdout}{result.stderr}"
    text = page.read_text()
    data = check_text(text)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        print(f"verdict: {page.name}: its text holds; Skipped: its scripts, for there is no Chromium (./run deps page)")
        return
    if data["kind"] == "bench" and not data["growth"]:  # --quick measures none
        data["growth"] = [{"operator": data["rows"][0]["operator"], "parameter": name, "ms": [1, 2, 4, 8], "exponent": 1,
                           "of_work": 1, "linear": True} for name in ("n", "c")]
        text = re.sub(r'(id="data">\n).*?(\n</script>)', lambda m: m[1] + json.dumps(data).replace("<", "\\u003c") + m[2],
                      text, count=1, flags=re.DOTALL)
    driven = page.with_suffix(".driven.html")
    driven.write_text(text.replace("</body>", DRIVER + "</body>"))
    seen = [look(chromium, driven, width, dark) for width, dark in ((1400, False), (1300, False), (500, True))]
    print(f"verdict: {page.name}: {len(text) // 1024} KiB, in Chromium without errors, {', '.join(seen)}")


if __name__ == "__main__":
    main()
