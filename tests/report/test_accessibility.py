"""Web pages by axe-core, the judge of WCAG 2.2 that browsers' own tools use: no violation, in light and in dark."""

import html
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from compare.test_answer import CASES
from fleet_sessions import Figures, made_fleet, records, server, with_remote_dimms, write
from report.sessions import records as session_records
from report.sessions import written
from report.test_browser import CHROMIUM, QUIET, judged
from sizeup.cli import run
from sizeup.compare.machines import Difference
from sizeup.report.html import page
from sizeup.session.reader import read_session
from sizeup.views.comparison.compared_charts import compared_curves
from sizeup.views.document.comparison_document import comparison_document
from sizeup.views.document.document import document

AXE = os.environ.get("SIZEUP_AXE", "")
pytestmark = [
    pytest.mark.ci,
    pytest.mark.skipif(not AXE, reason="SIZEUP_AXE names no axe.min.js; the gate fetches it"),
]
ASK = """
document.querySelectorAll("details").forEach(part => part.open = true);
axe.run().then(found => {
  const nodes = one => one.nodes.map(node => `${node.target}: ${node.failureSummary}`);
  const told = found.violations.map(one => [one.id, ...nodes(one)]);
  document.title = JSON.stringify({rules: found.passes.length, told});
});
"""


def plain(path: Path) -> str:
    return page(document(read_session(written(path / "one.sizeup.jsonl", *session_records()))))


def comparison(path: Path) -> str:
    session = read_session(written(path / "one.sizeup.jsonl", *session_records()))
    compared = replace(CASES["slower"][0], differences=(Difference("Kernel", "6.2", "6.1"),))
    return page(comparison_document(compared, compared_curves(session, session, ("old", "new"))[0]))


def sizing(path: Path) -> str:
    assert run(["size", "--machine", "none", "--set", "machine.cores=8", "machine.ghz=2", "workload.cpu_percent=90",
                "workload.iops=9000", "capacity.iops=12000", "-o", str(path / "size.html")]) == 0  # fmt: skip
    return (path / "size.html").read_text()


def fleet(path: Path) -> str:
    made_fleet(path, 5)
    write(path, "db03", records("db03", Figures(dram_ns=152.0), with_remote_dimms(server())))
    run(["fleet", str(path), "-o", str(path / "fleet.html")])
    return (path / "fleet.html").read_text()


@pytest.mark.parametrize("made", [plain, judged, comparison, sizing, fleet])
@pytest.mark.parametrize(("scheme", "width"), [(1, 1280), (0, 600)], ids=["light, wide", "dark, narrow"])
def test_axe_finds_no_violation(made: Callable[[Path], str], scheme: int, width: int, tmp_path: Path) -> None:
    assert CHROMIUM is not None
    text = made(tmp_path).replace('http-equiv="Content-Security-Policy"', "")  # so that the page can be asked
    scripts = f"<script>{Path(AXE).read_text()}</script><script>{ASK}</script>"
    (tmp_path / "page.html").write_text(text.replace("</body>", f"{scripts}</body>"))

    command = [CHROMIUM, *QUIET, f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},900",
               f"--blink-settings=preferredColorScheme={scheme}", "--virtual-time-budget=60000", "--dump-dom",
               (tmp_path / "page.html").as_uri()]  # fmt: skip
    dumped = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout

    found = json.loads(html.unescape(dumped.partition("<title>")[2].partition("</title>")[0]))
    assert found["rules"] > 10
    assert found["told"] == []
