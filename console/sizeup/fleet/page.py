"""The fleet as one web page: the answer first, then the hosts that stand out, then a table per machine type.

A click on a column sorts by it. The page has one script, of its own, which its content security policy allows by its
hash; it makes no request.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from importlib import resources

from sizeup import __version__
from sizeup.charts.markup import Markup, element, joined, style_sheet
from sizeup.compare.profile import AcceptanceResult
from sizeup.fleet.against import FleetDrift
from sizeup.fleet.fleet import Fleet, Host, HostStatus, usable
from sizeup.fleet.profile import Acceptance
from sizeup.fleet.sections import acceptance_lines, drift_lines, synchronized_lines
from sizeup.fleet.synchronized import SynchronizedRun
from sizeup.fleet.table import (
    columns_of,
    difference_sentences,
    figure_text,
    headline,
    outlier_sentence,
    problem_sentences,
    short_title,
)
from sizeup.report.html import band_section, state, top_line, whole_page
from sizeup.text import plural
from sizeup.views.band import Band
from sizeup.views.result.summary import SEVERITY_WORDS

_MOST_DIFFERENCES = 12
_WIDTH = 10_000
_SCRIPT = (resources.files("sizeup.fleet") / "fleet.js").read_text(encoding="utf-8")
_MORE_STYLE = style_sheet("sizeup.fleet", "fleet.css")
_STATES = {
    HostStatus.OK: ("●", "ok"),
    HostStatus.BETTER: ("▲", "s1"),
    HostStatus.NOT_COMPARED: ("○", "dim"),
}
"""Sign and color of a status; the word beside it says which one, and any other is a warning."""
_RESULTS = {
    AcceptanceResult.PASS: ("●", "ok"),
    AcceptanceResult.FAIL: ("▼", "bad"),
    AcceptanceResult.UNDECIDED: ("?", "warn"),
}


def fleet_page(
    fleet: Fleet,
    accepted: Sequence[Acceptance] = (),
    drift: FleetDrift | None = None,
    runs: Sequence[SynchronizedRun] = (),
) -> str:
    """Return the whole page."""
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    results = {one.host: one.result for one in accepted}
    body = joined(
        top_line("fleet", plural(len(fleet.hosts), "host"), f"by sizeup {__version__}"),
        element(
            "main",
            band_section(_band(fleet)),
            *(element("p", sentence, class_="quiet") for sentence in problem_sentences(fleet)),
            _section("Acceptance", acceptance_lines(accepted, _WIDTH) if accepted else ()),
            *(_section("Synchronized run", synchronized_lines(run, _WIDTH)) for run in runs),
            _section("Drift", drift_lines(drift, _WIDTH) if drift is not None else ()),
            *(_outliers(host) for host in fleet.hosts if host.outliers or host.findings),
            *(_hosts(fleet, name, hosts, results) for name, hosts in fleet.types.items()),
            element("script", Markup(_SCRIPT)),
        ),
    )
    return whole_page(f"Fleet: {headline(fleet)} – sizeup", body, _MORE_STYLE, digest)


def _band(fleet: Fleet) -> Band:
    """Return how many hosts stand out, with their names."""
    out = sum(bool(host.outliers) for host in fleet.hosts)
    compared = any(host.status is HostStatus.OK for host in fleet.hosts)
    word, status = (
        (plural(out, "OUTLIER"), "warn") if out else ("ALL NORMAL", "ok") if compared else ("NO PEERS", "acc")
    )
    return Band(word, status, f"{headline(fleet)}.")


def _section(title: str, lines: Iterable[str]) -> Markup:
    found = [line.strip() for line in lines]
    if not found:
        return joined()
    items = element("ul", *(element("li", line) for line in found[1:])) if found[1:] else joined()
    return joined(element("h2", title), element("p", found[0]), items)


def _outliers(host: Host) -> Markup:
    sentences = [outlier_sentence(one) for one in host.outliers]
    found = [f"{SEVERITY_WORDS[one.severity]}: {one.title}" for one in host.findings]
    differs = dict.fromkeys(text for one in host.outliers for text in difference_sentences(one, _MOST_DIFFERENCES))
    return element(
        "section",
        element("h2", host.name, element("span", _status(host))),
        *(element("p", text) for text in (*sentences, *found)),
        element("ul", *(element("li", text) for text in differs)) if differs else joined(),
        class_="card",
    )


def _status(host: Host) -> Markup:
    sign, token = _STATES.get(host.status, ("▲", "warn"))
    return state(sign, host.status.value, token)


def _hosts(fleet: Fleet, title: str, hosts: Sequence[Host], results: dict[str, AcceptanceResult]) -> Markup:
    names = columns_of(fleet, hosts)
    titles = ["Host", *(short_title(fleet, name) for name in names), "Status", *(["Profile"] if results else [])]
    head = element(
        "tr",
        *(
            element("th", element("button", text, type="button"), scope="col", class_="n" if numeric else "t")
            for text, numeric in ((text, 0 < at <= len(names)) for at, text in enumerate(titles))
        ),
    )  # fmt: skip
    first = sorted(hosts, key=lambda host: not host.outliers)
    rows = (element("tr", *_cells(host, names, results)) for host in first)
    grid = element("table", element("thead", head), element("tbody", *rows), class_="sortable")
    wide = element("div", grid, class_="wide", tabindex="0", role="group", aria_label=title)
    return joined(element("h2", f"{title}: {plural(len(hosts), 'host')}"), wide)


def _cells(host: Host, names: Sequence[str], results: dict[str, AcceptanceResult]) -> list[Markup]:
    out = {outlier.figure.name for outlier in host.outliers}
    cells = [element("th", host.name, scope="row")]
    for name in names:
        figure = host.figures.get(name)
        counts = figure is not None and usable(figure)
        css_class = "n out" if name in out else "n" if counts else "n quiet"
        text = figure_text(host, name, outlier="").strip()
        sort = repr(figure.value) if figure is not None and counts else ""
        cells.append(element("td", text, class_=css_class, data_sort=sort))
    rank = list(HostStatus).index(host.status)
    cells.append(element("td", _status(host), data_sort=str(rank)))
    if results:
        result = results[host.name]
        sign, token = _RESULTS[result]
        cells.append(element("td", state(sign, result.value, token), data_sort=result.value))
    return cells
