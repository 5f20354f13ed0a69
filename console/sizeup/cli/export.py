"""Write a session as a web page, as text, as data, as one chart, or as a masked copy for sharing."""

from __future__ import annotations

import argparse
import codecs
import errno
import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from sizeup.cli.against import add_against
from sizeup.cli.sizing_inputs import add_sizing_inputs, read_workload_files
from sizeup.errors import ExitStatus, RefusedError, UsageError
from sizeup.portability import O_NONBLOCK

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sizeup.masking import Masker
    from sizeup.session.value import Session
    from sizeup.sizing.session_advice import ShownAdvice

_FORMATS = {
    "html": "one web page: the verdict, resources, findings and charts, then folded details; no scripts, no requests",
    "markdown": "Markdown, with charts as tables of their values",
    "text": "plain text of 80 columns, with charts drawn with characters",
    "csv": "every sample and every figure of the advice, one row each",
    "json": "results, machine, findings and advice as one document (sizeup.report/1)",
    "svg": "the chart of one step as an SVG file; see --step",
    "openmetrics": "estimates as metrics in the OpenMetrics text format, for the textfile collector of node_exporter",
    "share": "a gzipped copy of the session, with host names, serial numbers, addresses, WWNs and paths "
    "replaced by pseudonyms",
}
_WITH_ADVICE = ("html", "markdown", "text", "csv", "json")
_KEY_BYTES = 32


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "sessions",
        metavar="FILE",
        nargs="+",
        help="session file, plain or gzipped, or name of a saved session; several with --tidy only",
    )
    formats = parser.add_mutually_exclusive_group(required=True)
    for name, text in _FORMATS.items():
        formats.add_argument(f"--{name}", dest="format", action="store_const", const=name, help=text)
    formats.add_argument(
        "--tidy",
        choices=("csv", "parquet"),
        help="one table of the estimates of all sessions, a row for each with host, machine type, coordinates, "
        "interval and validity; parquet needs DuckDB: pip install 'sizeup[fleet]'",
    )
    parser.add_argument("-o", "--output", metavar="OUT", default="-", help="file to write (default: standard output)")
    parser.add_argument("--step", metavar="ID", help="with --svg: step to draw")
    add_against(
        parser,
        "--baseline",
        nargs="+",
        metavar="BASELINE",
        default=[],
        help="with --html, --markdown, --text: start with a comparison with these sessions, directories or preset:NAME",
    )
    parser.add_argument("--ascii", action="store_true", help="with --text: use ASCII characters only")
    parser.add_argument(
        "--recompute",
        action="store_true",
        help="with --html, --markdown, --text, --csv, --json: recompute the advice with the rules of this version, "
        "labeled as such, instead of showing what the session recorded",
    )
    add_sizing_inputs(
        parser,
        settings="recompute the advice with these inputs; sizeup size --keys lists them",
        workload="recompute the advice for the workload of",
    )


def run(arguments: argparse.Namespace) -> int:
    """Read the session, write the report."""
    from sizeup.report import output
    from sizeup.session.store import find

    out = arguments.output
    _refuse_unused(arguments)
    paths = [find(name) for name in arguments.sessions]
    for path in paths:
        if out != "-" and os.path.exists(out) and os.path.exists(path) and os.path.samefile(out, path):
            raise UsageError(f"-o {out}: would overwrite the session that is exported; choose another file")
    if arguments.tidy:
        return _tidy(paths, arguments.tidy, out)
    if arguments.format == "share":
        return _share(paths[0], out)
    if arguments.format == "openmetrics":
        return _openmetrics(paths[0], out)
    from sizeup.session.reader import read_session

    output.write(out, _writer(read_session(paths[0]), arguments))
    return ExitStatus.OK


def _refuse_unused(arguments: argparse.Namespace) -> None:
    """Raise UsageError for an option that has no effect on the format."""
    if len(arguments.sessions) > 1 and not arguments.tidy:
        raise UsageError(
            f"expected one session, found {len(arguments.sessions)}; only --tidy makes one table of several"
        )
    if arguments.recompute and arguments.format not in _WITH_ADVICE:
        raise UsageError("--recompute does not go with a format without advice; leave it out")
    if (arguments.workload or arguments.settings) and arguments.format not in _WITH_ADVICE:
        raise UsageError("--workload and --set do not go with a format without advice; leave them out")
    if arguments.step and arguments.format != "svg":
        raise UsageError("--step needs --svg; add --svg, or leave out --step")
    if arguments.ascii and arguments.format != "text":
        raise UsageError("--ascii needs --text; add --text, or leave out --ascii")
    if arguments.baseline and arguments.format not in ("html", "markdown", "text"):
        raise UsageError("--against needs --html, --markdown or --text; choose one of them, or leave out --against")


def _tidy(paths: list[str], kind: str, out: str) -> int:
    from sizeup.report import output
    from sizeup.report.tidy import import_duckdb, read_table, write_tidy_csv, write_tidy_parquet

    if kind == "parquet":
        if out == "-" and sys.stdout.isatty():
            raise UsageError(
                "--tidy parquet writes binary data, which a terminal cannot show; name a file: -o OUT.parquet"
            )
        import_duckdb()  # before anything is read
    table = read_table(paths)
    write = write_tidy_parquet if kind == "parquet" else write_tidy_csv
    output.write(out, lambda file: write(table, file))
    return ExitStatus.OK


def _openmetrics(path: str, out: str) -> int:
    from sizeup.report import output
    from sizeup.report.openmetrics import openmetrics
    from sizeup.report.tidy import read_timed

    text = openmetrics(*read_timed(path)).encode("utf-8", "replace")
    output.write(out, lambda file: file.write(text))
    return ExitStatus.OK


def _writer(session: Session, arguments: argparse.Namespace) -> Callable[[BinaryIO], object]:
    """Return the function that writes the session; except for CSV, the content is complete before a file is opened."""
    if arguments.format == "csv":
        from sizeup.report.data import write_csv

        advice = _advice(session, arguments)
        return lambda file: write_csv(session, codecs.getwriter("utf-8")(file, "replace"), advice)
    content = _content(session, arguments).encode("utf-8", "replace")
    return lambda file: file.write(content)


def _advice(session: Session, arguments: argparse.Namespace) -> ShownAdvice:
    """Return the recorded advice, or that for the workload and the inputs that the user states."""
    from sizeup.sizing.inputs.typed import parse_settings
    from sizeup.sizing.session_advice import session_advice

    workload = read_workload_files(arguments.workload) if arguments.workload else {}
    stated = {**workload, **parse_settings(arguments.settings)}
    return session_advice(session, recompute=arguments.recompute, stated=stated)


def _content(session: Session, arguments: argparse.Namespace) -> str:
    if arguments.format == "svg":
        return _chart(session, arguments.step)
    advice = _advice(session, arguments)
    if arguments.format == "json":
        from sizeup.report.data import results_json

        return results_json(session, advice)
    from sizeup.views.document.document import document

    written = document(session, advice)
    if arguments.baseline:
        from msgspec.structs import replace

        from sizeup.compare.compare import compare
        from sizeup.compare.published_results import digest_sides
        from sizeup.views.comparison.comparison import comparison_part, nothing_shared

        comparison = compare(*digest_sides(arguments.sessions, arguments.baseline))
        if not comparison.metrics and not comparison.other_workloads:
            raise UsageError(f"--against: {nothing_shared(comparison)}")
        first = replace(comparison_part(comparison), open=True)
        written = replace(written, parts=(first, *written.parts))
    if arguments.format == "html":
        from sizeup.report.html import page

        return page(written)
    if arguments.format == "markdown":
        from sizeup.report.markdown import markdown

        return markdown(written)
    from sizeup.report.text import text

    return text(written, ascii_only=arguments.ascii)


def _chart(session: Session, wanted: str | None) -> str:
    from sizeup.charts import svg
    from sizeup.views.run.finished import headline

    measured = {id_: run for id_, run in session.steps.items() if run.points}
    if not measured:
        raise UsageError("--svg: no step of this session has results to draw; use --text to see how its steps ended")
    names = ", ".join(measured)
    if wanted is None and len(measured) != 1:
        raise UsageError(f"--svg draws one chart; choose the step with --step, one of: {names}")
    step = wanted if wanted is not None else next(iter(measured))
    if step not in measured:
        raise UsageError(f"--step {step}: this session has no results for it; choose one of: {names}")
    return svg.standalone(headline(measured[step], session.machine))


def _share(path: str, out: str) -> int:
    from sizeup.charts.table import Column, Table
    from sizeup.report import output
    from sizeup.report.text import table_lines
    from sizeup.session.share import share
    from sizeup.sizing.rules import shipped

    if out == "-" and sys.stdout.isatty():
        raise UsageError(
            "--share writes compressed data, which a terminal cannot show; name a file: -o share.sizeup.jsonl.gz"
        )
    masker = _masker()
    masker.public = frozenset(source.address for source in shipped().sources.values() if source.address)
    damage: tuple[str, ...] = ()

    def write(file: BinaryIO) -> None:
        nonlocal damage
        damage = share(path, file, masker).damage.sentences()

    output.write(out, write)
    rows = tuple(sorted((new, old) for old, new in masker.masked.items()))
    listed = Table("Masked", (Column("In the shared file"), Column("Original")), rows)
    # The originals are shown to the sender only, and are never in the file.
    for line in (
        *damage,
        *table_lines(listed, 100),
        f"{len(rows)} names masked in {out}. Check the file before you send it.",
    ):
        print(line, file=sys.stderr)
    return ExitStatus.OK


def _masker() -> Masker:
    """Return the masker of this installation, whose pseudonyms are equal in every file that it shares."""
    import secrets

    from platformdirs import user_state_path

    from sizeup.masking import Masker

    key = secrets.token_bytes(_KEY_BYTES)
    try:
        return Masker(_kept(user_state_path("sizeup", appauthor=False) / "masking.key", key))
    except (OSError, RefusedError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        problem = f"the masking key cannot be saved ({reason}), so the pseudonyms of this file match no other file"
        print(f"sizeup: {problem}", file=sys.stderr)
        return Masker(key)


def host_pseudonym(host: str) -> str | None:
    """Return the name of a host in the files that this installation has shared; None if it has shared none."""
    from platformdirs import user_state_path

    from sizeup.masking import Masker, Secret

    with suppress(OSError, RefusedError):
        key = _key(user_state_path("sizeup", appauthor=False) / "masking.key")
        if len(key) == _KEY_BYTES:
            return Masker(key).mask_field(Secret.HOST, host)
    return None


def _kept(file: Path, new: bytes) -> bytes:
    """Return the key in a file; it is created from ``new`` if it is absent or incomplete."""
    from sizeup import files

    files.make_directory(str(file.parent))
    with suppress(FileNotFoundError):
        if len(key := _key(file)) == _KEY_BYTES:
            return key
        files.remove(str(file))
    try:
        files.write(str(file), lambda written: written.write(new), replace=False, mode=0o600)
    except FileExistsError:  # created concurrently by another process; use that key
        return _key(file)
    return new


def _key(file: Path) -> bytes:
    from sizeup import files

    # Opening a FIFO would block.
    with os.fdopen(files.open_existing(str(file), os.O_RDONLY | O_NONBLOCK, private=True), "rb") as kept:
        if not stat.S_ISREG(os.fstat(kept.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(file))
        return kept.read(_KEY_BYTES + 1)
