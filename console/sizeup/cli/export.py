"""Write a session down for people who were not there: as a page, text, data, one chart, or masked for sharing."""

from __future__ import annotations

import argparse
import codecs
import errno
import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from sizeup.errors import ExitStatus, RefusedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sizeup.masking import Masker
    from sizeup.session.value import Session

_FORMATS = {
    "html": "one web page without scripts or requests: summary on top, charts, tables; prints well",
    "markdown": "Markdown, charts as tables of their values",
    "text": "plain text of 80 columns, charts drawn with characters",
    "csv": "every sample and every figure of the advice, a row each",
    "json": "results, machine, findings and advice as one document (sizeup.report/1)",
    "svg": "the chart of one step; see --step",
    "share": "the session itself, gzipped, with hosts, serials, addresses, WWNs and paths replaced by pseudonyms",
}
_KEY_BYTES = 32


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("session", metavar="FILE", help="a session file, plain or gzipped")
    formats = parser.add_mutually_exclusive_group(required=True)
    for name, text in _FORMATS.items():
        formats.add_argument(f"--{name}", dest="format", action="store_const", const=name, help=text)
    parser.add_argument("-o", "--output", metavar="OUT", default="-", help="where to; standard output without it")
    parser.add_argument("--step", metavar="ID", help="with --svg: the step whose chart is wanted")
    parser.add_argument(
        "--against",
        nargs="+",
        metavar="B",
        default=[],
        help="with --html, --markdown, --text: begin with how it compares with these sessions, folders or preset:NAME",
    )
    parser.add_argument("--ascii", action="store_true", help="with --text: nothing but ASCII")
    parser.add_argument(
        "--recompute",
        action="store_true",
        help="with --html, --markdown, --text, --csv, --json: advice by the rules of this version, and labeled so, "
        "instead of what the session recorded",
    )


def run(arguments: argparse.Namespace) -> int:
    """Read the session, write the report."""
    from sizeup.report import output

    path, out = arguments.session, arguments.output
    if arguments.step and arguments.format != "svg":
        raise UsageError("--step belongs to --svg")
    if arguments.ascii and arguments.format != "text":
        raise UsageError("--ascii belongs to --text")
    if arguments.against and arguments.format not in ("html", "markdown", "text"):
        raise UsageError("--against belongs to --html, --markdown and --text")
    if arguments.recompute and arguments.format in ("svg", "share"):
        raise UsageError("--recompute belongs to --html, --markdown, --text, --csv and --json")
    if out != "-" and os.path.exists(out) and os.path.exists(path) and os.path.samefile(out, path):
        raise UsageError(f"{out}: is the session itself; choose another file with -o")
    if arguments.format == "share":
        return _share(path, out)
    from sizeup.session.reader import read_session

    output.write(out, _writer(read_session(path), arguments))
    return ExitStatus.OK


def _writer(session: Session, arguments: argparse.Namespace) -> Callable[[BinaryIO], object]:
    """What writes the session in the format that was asked for; drawn before a file is touched, CSV apart."""
    if arguments.format == "csv":
        from sizeup.report.data import write_csv
        from sizeup.sizing.session_advice import session_advice

        advice = session_advice(session, recompute=arguments.recompute)
        return lambda file: write_csv(session, codecs.getwriter("utf-8")(file, "replace"), advice)
    content = _content(session, arguments).encode("utf-8", "replace")
    return lambda file: file.write(content)


def _content(session: Session, arguments: argparse.Namespace) -> str:
    if arguments.format == "svg":
        return _chart(session, arguments.step)
    from sizeup.sizing.session_advice import session_advice

    advice = session_advice(session, recompute=arguments.recompute)
    if arguments.format == "json":
        from sizeup.report.data import results_json

        return results_json(session, advice)
    from sizeup.views.document import document

    written = document(session, advice)
    if arguments.against:
        from msgspec.structs import replace

        from sizeup.compare.compare import compare
        from sizeup.compare.published_results import digest_sides
        from sizeup.views.comparison import comparison_part, nothing_shared

        comparison = compare(*digest_sides([arguments.session], arguments.against))
        if not comparison.metrics:
            raise UsageError(f"--against: {nothing_shared(comparison)}")
        written = replace(written, parts=(comparison_part(comparison), *written.parts))
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
    from sizeup.views.finished import headline

    measured = {id_: run for id_, run in session.steps.items() if run.points}
    names = ", ".join(measured) or "none"
    if wanted is None and len(measured) != 1:
        raise UsageError(f"--svg draws one chart; name its step with --step, one of: {names}")
    step = wanted if wanted is not None else next(iter(measured))
    if step not in measured:
        raise UsageError(f"--step {step}: no such step has results in this session; it has: {names}")
    return svg.standalone(headline(measured[step], session.machine))


def _share(path: str, out: str) -> int:
    from sizeup.charts.table import Column, Table
    from sizeup.report import output
    from sizeup.report.text import table_lines
    from sizeup.session.share import share
    from sizeup.sizing.rules import shipped

    if out == "-" and sys.stdout.isatty():
        raise UsageError("--share writes a gzipped session; give it a file with -o, such as -o share.sizeup.jsonl.gz")
    masker = _masker()
    masker.public = frozenset(source.url for source in shipped().sources.values() if source.url)
    damage: tuple[str, ...] = ()

    def write(file: BinaryIO) -> None:
        nonlocal damage
        damage = share(path, file, masker).damage.sentences()

    output.write(out, write)
    rows = tuple(sorted((new, old) for old, new in masker.masked.items()))
    listed = Table("Masked", (Column("In the shared file"), Column("Stands for")), rows)
    # What stands for what is for the sender's eyes, and never in the file.
    for line in (*damage, *table_lines(listed, 100), f"{len(rows)} names masked in {out}; read it before you send it."):
        print(line, file=sys.stderr)
    return ExitStatus.OK


def _masker() -> Masker:
    """Pseudonyms of this installation: the same in every file it shares, so that they can be compared."""
    import secrets

    from platformdirs import user_state_path

    from sizeup.masking import Masker

    key = secrets.token_bytes(_KEY_BYTES)
    try:
        return Masker(_kept(user_state_path("sizeup", appauthor=False) / "masking.key", key))
    except (OSError, RefusedError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        words = f"no key could be kept ({reason}); the pseudonyms of this file match no other file"
        print(f"sizeup: {words}", file=sys.stderr)
        return Masker(key)


def _kept(file: Path, new: bytes) -> bytes:
    """The key in a file, made from ``new`` where there is none, or only what a full disk left of one."""
    from sizeup import files

    files.make_directory(str(file.parent))
    with suppress(FileNotFoundError):
        if len(key := _key(file)) == _KEY_BYTES:
            return key
        files.remove(str(file))
    try:
        files.write(str(file), lambda written: written.write(new), replace=False, mode=0o600)
    except FileExistsError:  # another sizeup was first, and its key holds
        return _key(file)
    return new


def _key(file: Path) -> bytes:
    from sizeup import files

    # A FIFO would be waited for.
    with os.fdopen(files.open_existing(str(file), os.O_RDONLY | os.O_NONBLOCK, private=True), "rb") as kept:
        if not stat.S_ISREG(os.fstat(kept.fileno()).st_mode):
            raise OSError(errno.EINVAL, "no regular file", str(file))
        return kept.read(_KEY_BYTES + 1)
