"""Write a session as a web page, as text, as data, as one chart, or as a masked copy for sharing.

html          one web page: the verdict, resources, findings and charts, then folded details; no scripts, no requests
markdown      Markdown, with charts as tables of their values
text          plain text of 80 columns, with charts drawn with characters
csv           every sample and every figure of the advice, one row each
json          results, machine, findings and advice as one document (sizeup.report/1)
svg           the chart of one step as an SVG file; see --step
openmetrics   estimates as metrics in the OpenMetrics text format, for the textfile collector of node_exporter
share         a gzipped copy of the session, with host names, serial numbers, addresses, WWNs and paths masked
tidy-csv      one table of the estimates of all sessions, a row for each with host, machine type, coordinates,
              interval and validity
tidy-parquet  the same as Parquet; needs DuckDB: pip install 'sizeup[fleet]'
"""

from __future__ import annotations

import argparse
import codecs
import io
import sys
from typing import TYPE_CHECKING

from sizeup.cli.arguments import ALSO_MASK, also_masked, arg, switch
from sizeup.cli.results import chosen_format, document_text, format_arguments, list_masked
from sizeup.cli.sizing_inputs import read_workload_files, sizing_inputs, typed_inputs
from sizeup.errors import ExitStatus, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sizeup.session.value import Session
    from sizeup.sizing.session_advice import ShownAdvice

_PAGES = ("html", "markdown", "text")
_WITH_ADVICE = (*_PAGES, "csv", "json")
_BINARY = {"share": "share.sizeup.jsonl.gz", "tidy-parquet": "OUT.parquet"}
_FORMATS = (*_WITH_ADVICE, "svg", "openmetrics", "share", "tidy-csv", "tidy-parquet")
_EFFECTS = {
    **dict.fromkeys(("--recompute", "--workload", "--set"), _WITH_ADVICE),
    "--step": ("svg",),
    "--ascii": ("text",),
    "--against": _PAGES,
    "--also-mask": ("share",),
}
"""By option, the formats that it has an effect on."""

ARGUMENTS = (
    arg(
        "sessions", metavar="FILE", nargs="*",
        help="session file, plain or gzipped, or name of a saved session (default: the session that was written "
        "last); several with tidy-csv and tidy-parquet only",
    ),
    *format_arguments(_FORMATS),
    arg("--step", metavar="ID", help="with svg: step to draw"),
    arg(
        "--against", nargs="+", metavar="BASELINE", default=[],
        help="with html, markdown, text: start with a comparison with these sessions, directories or preset:NAME",
    ),
    ALSO_MASK,
    switch("--ascii", help="with text: use ASCII characters only"),
    switch(
        "--recompute",
        help="recompute the advice with the rules of this version, labeled as such, instead of showing what the "
        "session recorded",
    ),
    *sizing_inputs(
        settings="recompute the advice with these inputs; sizeup size keys lists them",
        workload="recompute the advice for the workload of",
    ),
)  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Read the session, write the report."""
    from sizeup.report import output
    from sizeup.session.store import LATEST, find

    out = arguments.output
    paths = arguments.sessions = [find(name) for name in arguments.sessions or [LATEST]]
    chosen = chosen_format(arguments, _FORMATS, paths, _EFFECTS)
    if len(paths) > 1 and not chosen.startswith("tidy-"):
        raise UsageError(f"expected one session, found {len(paths)}; for one table of several add --format tidy-csv")
    if chosen in _BINARY and out == "-" and sys.stdout.isatty():
        raise UsageError(
            f"--format {chosen} writes binary data, which a terminal cannot show; name a file: -o {_BINARY[chosen]}"
        )
    if chosen.startswith("tidy-"):
        from sizeup.report.tidy import import_duckdb, read_table, write_tidy_csv, write_tidy_parquet

        if chosen == "tidy-parquet":
            import_duckdb()  # before anything is read
        table = read_table(paths)
        write = write_tidy_parquet if chosen == "tidy-parquet" else write_tidy_csv
        output.write(out, lambda file: write(table, file))
    elif chosen == "share":
        _share(paths[0], out, also_masked(arguments))
    elif chosen == "openmetrics":
        from sizeup.report.openmetrics import openmetrics
        from sizeup.report.tidy import read_timed

        text = openmetrics(*read_timed(paths[0])).encode("utf-8", "replace")
        output.write(out, lambda file: file.write(text))
    else:
        from sizeup.session.reader import read_session

        session = read_session(paths[0])
        if chosen == "csv":  # of many samples, which need not stand in memory as text
            from sizeup.report.data import write_csv

            advice = _advice(session, chosen, arguments)
            output.write(out, lambda file: write_csv(session, codecs.getwriter("utf-8")(file, "replace"), advice))
        else:
            content = _content(session, chosen, arguments).encode("utf-8", "replace")
            output.write(out, lambda file: file.write(content))
    return ExitStatus.OK


def _advice(session: Session, chosen: str, arguments: argparse.Namespace) -> ShownAdvice:
    """Return the recorded advice, or that for the workload and the inputs that the user states."""
    from sizeup.sizing.session_advice import RECOMPUTE, session_advice

    workload = read_workload_files(arguments.workload) if arguments.workload else {}
    stated = {**workload, **typed_inputs(arguments.assignments)}
    how = RECOMPUTE if chosen not in _PAGES[:2] else "have the advice recomputed"
    return session_advice(session, recompute=arguments.recompute, stated=stated, how=how)


def _content(session: Session, chosen: str, arguments: argparse.Namespace) -> str:
    if chosen == "svg":
        return _chart(session, arguments.step)
    advice = _advice(session, chosen, arguments)
    if chosen == "json":
        from sizeup.report.data import results_json

        return results_json(session, advice)
    from sizeup.views.document.document import document

    written = document(session, advice)
    if arguments.against:
        from msgspec.structs import replace

        from sizeup.compare.compare import compare
        from sizeup.compare.published_results import digest_sides
        from sizeup.views.comparison.answer import answer
        from sizeup.views.comparison.compared_charts import compared_files
        from sizeup.views.comparison.comparison import nothing_shared
        from sizeup.views.document.comparison_document import comparison_part

        comparison = compare(*digest_sides(arguments.sessions, arguments.against))
        if not comparison.metrics and not comparison.other_workloads:
            raise UsageError(f"--against: {nothing_shared(comparison)}")
        found = answer(comparison, compared_files(comparison))
        written = replace(written, parts=(comparison_part(comparison), *written.parts), compared=found)
    return document_text(written, chosen, ascii_only=arguments.ascii)


def _chart(session: Session, wanted: str | None) -> str:
    from sizeup.charts import svg
    from sizeup.views.run.finished import headline

    measured = {id_: run for id_, run in session.steps.items() if run.points}
    if not measured:
        raise UsageError(
            "--format svg: no step of this session has results to draw; use --format text to see how its steps ended"
        )
    names = ", ".join(measured)
    if wanted is None and len(measured) != 1:
        raise UsageError(f"--format svg draws one chart; choose the step with --step, one of: {names}")
    step = wanted if wanted is not None else next(iter(measured))
    if step not in measured:
        raise UsageError(f"--step {step}: this session has no results for it; choose one of: {names}")
    return svg.standalone(headline(measured[step], session.machine))


def _share(path: str, out: str, also: Sequence[str]) -> None:
    from sizeup.report import output
    from sizeup.session.share import installed_masker, share
    from sizeup.sizing.rules import shipped
    from sizeup.text import clipped

    masker, unsaved = installed_masker()
    if unsaved:
        problem = f"the masking key cannot be saved ({unsaved}), so the pseudonyms of this file match no other file"
        print(f"sizeup: {problem}", file=sys.stderr)
    masker.public = frozenset(source.address for source in shipped().sources.values() if source.address)
    packed = io.BytesIO()
    session, free_texts = share(path, packed, masker, also)
    masked = {name.lower() for name in masker.masked}
    kept = [name for name in also if name.strip().lower() not in masked]
    texts = [f"  {clipped(text, 100)}" for text in free_texts]
    list_masked(
        ((new, old) for old, new in masker.masked.items()),
        "In the shared file",
        *session.damage.sentences(),
        *(f"Not masked, as it is not in the session or the same on every host: {name}" for name in kept),
        *(["Free text, which may hold names that only you know; mask them with --also-mask NAME:"] if texts else []),
        *texts,
    )
    output.write(out, lambda file: file.write(packed.getbuffer()))
    print(f"{len(masker.masked)} names masked in {out}. Check the file before you send it.", file=sys.stderr)
