"""The web page in a real browser: silent on its console, and no request but the page itself."""

import json
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from report.sessions import records, written
from sizeup.report.html import page
from sizeup.session.reader import read_session
from sizeup.views.document import document

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--enable-logging=stderr",
         "--host-resolver-rules=MAP * ~NOTFOUND")  # fmt: skip
OF_THE_BROWSER = ("google.com", "googleapis.com", "gstatic.com")
"""Where Chromium itself wants to go, whatever it shows."""


@pytest.mark.ci
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_the_page_asks_for_nothing_and_complains_of_nothing(tmp_path: Path) -> None:
    assert CHROMIUM is not None
    session = written(tmp_path / "one.sizeup.jsonl", *records("<img src=http://192.0.2.1/x onerror=alert(1)>"))
    report, network = tmp_path / "report.html", tmp_path / "net.json"
    report.write_text(page(document(read_session(session))))

    result = subprocess.run(
        [CHROMIUM, *QUIET, f"--user-data-dir={tmp_path / 'profile'}", f"--log-net-log={network}",
         f"--screenshot={tmp_path / 'page.png'}", report.as_uri()],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip

    assert (tmp_path / "page.png").stat().st_size > 10_000
    assert "CONSOLE" not in result.stderr
    asked = {
        urlsplit(url).hostname or ""
        for event in json.loads(network.read_text())["events"]
        if (url := str(event.get("params", {}).get("url", ""))).startswith(("http", "ws", "ftp"))
    }
    assert {host for host in asked if not host.endswith(OF_THE_BROWSER)} == set()


@pytest.mark.ci
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_on_a_narrow_screen_a_chart_scrolls_in_its_place_instead_of_shrinking(tmp_path: Path) -> None:
    assert CHROMIUM is not None
    text = page(document(read_session(written(tmp_path / "one.sizeup.jsonl", *records()))))
    text = text.replace('http-equiv="Content-Security-Policy"', "")  # so that the page can be asked
    measured = "document.querySelector('figure svg').getBoundingClientRect().width"
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    ask = f"<script>document.title = [{measured}, {sideways}].join(' ')</script>"
    (tmp_path / "page.html").write_text(text.replace("</body>", f"{ask}</body>"))

    dumped = subprocess.run(
        [CHROMIUM, *QUIET, f"--user-data-dir={tmp_path / 'profile'}", "--window-size=500,900", "--dump-dom",
         (tmp_path / "page.html").as_uri()],
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip

    width, over = dumped.partition("<title>")[2].partition("</title>")[0].split()
    assert float(width) > 600
    assert float(over) == 0
