"""The web page in a real browser: silent on its console, and no request but the page itself."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from compare.test_answer import CASES
from consoles import machine
from report.sessions import records, written
from sizeup.compare.comparison import Conclusion
from sizeup.quantity import Origin
from sizeup.report.html import page
from sizeup.session.reader import read_session
from sizeup.sizing.advise import described, size
from sizeup.sizing.keys import KEYS
from sizeup.sizing.session_advice import AdviceOrigin, ShownAdvice
from sizeup.views.document.comparison_document import comparison_document
from sizeup.views.document.document import document

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--enable-logging=stderr",
         "--host-resolver-rules=MAP * ~NOTFOUND")  # fmt: skip
pytestmark = [pytest.mark.ci, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")]

OF_THE_BROWSER = ("google.com", "googleapis.com", "gstatic.com")
"""Where Chromium itself wants to go, whatever it shows."""


def test_the_page_asks_for_nothing_and_complains_of_nothing(tmp_path: Path) -> None:
    assert CHROMIUM is not None
    session = written(tmp_path / "one.sizeup.jsonl", *records("<img src=http://192.0.2.1/x onerror=alert(1)>"))
    report, network = tmp_path / "report.html", tmp_path / "net.json"
    report.write_text(page(document(read_session(session))))

    result = subprocess.run(
        [CHROMIUM, *QUIET, f"--user-data-dir={tmp_path / 'profile'}", f"--log-net-log={network}",
         f"--screenshot={tmp_path / 'page.png'}", report.as_uri()],
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip

    assert (tmp_path / "page.png").stat().st_size > 10_000
    assert "CONSOLE" not in result.stderr
    asked = {
        urlsplit(url).hostname or ""
        for event in json.loads(network.read_text())["events"]
        if (url := str(event.get("params", {}).get("url", ""))).startswith(("http", "ws", "ftp"))
    }
    assert {host for host in asked if not host.endswith(OF_THE_BROWSER)} == set()


def judged(path: Path) -> str:
    """The page of a session with a verdict, shares in the last year, an assumed license, findings and notes."""
    session = read_session(written(path / "one.sizeup.jsonl", *records()))
    session.machine = machine()
    stated = {
        "workload.iops": "60000", "workload.read_percent": "70", "workload.io_kib": "8", "workload.cpu_percent": "60",
        "workload.growth_percent": "20", "workload.horizon_years": "3", "path.bandwidth_mb_s": "1600",
        "license.host_cores": "8", "redo.mb_s": "20",
    }  # fmt: skip
    given = {key: KEYS[key].parse(text, Origin.USER, "--set") for key, text in stated.items()}
    advice = size(described(session.machine, given))
    return page(document(session, ShownAdvice(AdviceOrigin.RECORDED, advice)))


def in_chromium(path: Path, *arguments: str) -> str:
    assert CHROMIUM is not None
    command = [CHROMIUM, *QUIET, f"--user-data-dir={path / 'profile'}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


@pytest.mark.parametrize(("width", "height", "most_screens"), [(1280, 800, 3), (768, 1024, 3), (390, 844, 6)])
def test_the_answer_takes_few_screens_and_none_of_it_stands_out_sideways(
    width: int, height: int, most_screens: int, tmp_path: Path
) -> None:
    inner = judged(tmp_path).replace('http-equiv="Content-Security-Policy"', "")
    ask = """const shown = document.querySelector("iframe").contentDocument, root = shown.documentElement;
        document.title = [shown.querySelector(".part").getBoundingClientRect().top,
                          root.scrollWidth - root.clientWidth, root.clientWidth].join(" ")"""
    # The window of a headless browser has a least width, a frame has none.
    frame = f'<iframe width="{width}" height="{height}" style="border:0" srcdoc="{html.escape(inner)}"></iframe>'
    (tmp_path / "page.html").write_text(f"{frame}<script>onload = () => {{ {ask} }}</script>")

    dumped = in_chromium(tmp_path, "--window-size=1400,900", "--dump-dom", (tmp_path / "page.html").as_uri())

    top, over, inside = map(float, dumped.rpartition("<title>")[2].partition("</title>")[0].split())
    assert width - 20 <= inside <= width
    assert 0 < top <= most_screens * height
    assert over == 0


def test_on_a_phone_a_compared_row_has_both_values_and_only_the_bar_of_a_change(tmp_path: Path) -> None:
    found = CASES["slower"][0]
    withheld = replace(found.headlines[0], verdict=Conclusion.NOT_VALID)
    inner = page(comparison_document(replace(found, headlines=(withheld, *found.headlines))))
    inner = inner.replace('http-equiv="Content-Security-Policy"', "")
    ask = """const shown = document.querySelector("iframe").contentDocument;
        const told = row => [...row.cells].map(cell => cell.getClientRects().length ? 1 : 0).join("");
        document.title = [...shown.querySelectorAll(".compared tbody tr")].map(told).join(" ")"""
    frame = f'<iframe width="390" height="844" style="border:0" srcdoc="{html.escape(inner)}"></iframe>'
    (tmp_path / "page.html").write_text(f"{frame}<script>onload = () => {{ {ask} }}</script>")

    dumped = in_chromium(tmp_path, "--window-size=1400,900", "--dump-dom", (tmp_path / "page.html").as_uri())

    rows = dumped.rpartition("<title>")[2].partition("</title>")[0].split()
    assert sorted(set(rows)) == ["111011", "111111"]


def test_the_answer_prints_on_two_pages(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(judged(tmp_path))

    in_chromium(tmp_path, f"--print-to-pdf={tmp_path / 'page.pdf'}", (tmp_path / "page.html").as_uri())

    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "page.pdf").read_bytes())) <= 2


def test_on_a_narrow_screen_a_chart_of_a_chapter_scrolls_in_its_place_instead_of_shrinking(tmp_path: Path) -> None:
    assert CHROMIUM is not None
    text = page(document(read_session(written(tmp_path / "one.sizeup.jsonl", *records()))))
    text = text.replace('http-equiv="Content-Security-Policy"', "")  # so that the page can be asked
    measured = "document.querySelector('.part figure svg').getBoundingClientRect().width"
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    opened = "document.querySelectorAll('details').forEach(part => part.open = true)"
    ask = f"<script>{opened}; document.title = [{measured}, {sideways}].join(' ')</script>"
    (tmp_path / "page.html").write_text(text.replace("</body>", f"{ask}</body>"))

    dumped = in_chromium(tmp_path, "--window-size=500,900", "--dump-dom", (tmp_path / "page.html").as_uri())

    width, over = dumped.partition("<title>")[2].partition("</title>")[0].split()
    assert float(width) > 600
    assert float(over) == 0


def test_no_figure_of_a_table_is_broken_and_charts_beside_each_other_end_in_one_line(tmp_path: Path) -> None:
    text = judged(tmp_path).replace('http-equiv="Content-Security-Policy"', "")
    ask = """document.querySelectorAll('details').forEach(part => part.open = true);
        const lines = cell => { const text = document.createRange(); text.selectNodeContents(cell);
                                return new Set([...text.getClientRects()].map(box => Math.round(box.top))).size };
        const cells = [...document.querySelectorAll('.part td.n')];
        const ends = [...document.querySelectorAll('.two .card')].slice(0, 2)
                     .map(box => box.getBoundingClientRect().bottom);
        document.title = [cells.length, Math.max(...cells.map(lines)), Math.max(...ends) - Math.min(...ends)].join(' ')
        """
    (tmp_path / "page.html").write_text(text.replace("</body>", f"<script>{ask}</script></body>"))

    dumped = in_chromium(tmp_path, "--window-size=1100,900", "--dump-dom", (tmp_path / "page.html").as_uri())

    cells, most_lines, uneven = map(float, dumped.partition("<title>")[2].partition("</title>")[0].split())
    assert cells > 10
    assert most_lines == 1
    assert uneven == 0


@pytest.mark.parametrize("width", [390, 768])
def test_without_a_workload_a_narrow_screen_shows_what_each_resource_is(width: int, tmp_path: Path) -> None:
    session = read_session(written(tmp_path / "one.sizeup.jsonl", *records()))
    session.machine = machine()
    inner = page(document(session)).replace('http-equiv="Content-Security-Policy"', "")
    ask = """const shown = document.querySelector("iframe").contentDocument;
        document.title = [...shown.querySelectorAll(".rows tbody tr")]
            .map(row => [...row.querySelectorAll("td")].some(cell => cell.textContent && cell.offsetWidth > 0))"""
    frame = f'<iframe width="{width}" height="900" style="border:0" srcdoc="{html.escape(inner)}"></iframe>'
    (tmp_path / "page.html").write_text(f"{frame}<script>onload = () => {{ {ask} }}</script>")

    dumped = in_chromium(tmp_path, "--window-size=1400,900", "--dump-dom", (tmp_path / "page.html").as_uri())
    shown = dumped.rpartition("<title>")[2].partition("</title>")[0].split(",")

    assert len(shown) > 2
    assert set(shown) == {"true"}
