"""Which tool wrote a file, by what only its files hold, and how to read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from sizeup.errors import MalformedError, UsageError
from sizeup.importers import fio, lscpu, orion, slb, slob
from sizeup.importers.imported import Imported, session_records
from sizeup.input_file import read
from sizeup.session.builder import decode
from sizeup.session.records import ENCODER

SIZE_LIMIT_BYTES = 64 << 20
"""fio's json+ of a large run takes a few MiB; more is no result of these tools."""

KINDS: Mapping[str, tuple[Sequence[str], Callable[[str, str], Imported]]] = {
    "fio": ((fio.MARK,), fio.parse_fio),
    "fio-text": ((fio.TEXT_MARK,), fio.parse_fio_text),
    "lscpu": ((lscpu.MARK,), lscpu.parse_lscpu),
    "orion-matrix": ((orion.MATRIX_MARK,), orion.parse_orion_matrix),  # names ORION's version, too
    "orion": (orion.MARKS, orion.parse_orion),
    "slob": ((slob.MARK,), slob.parse_slob),
    "slb": ((slb.MARK,), slb.parse_slb),
}
"""By name: its marks, and the parser of text and of the name that its errors carry."""


def read_foreign(path: str, kind: str | None, groups: Sequence[int] = ()) -> Imported:
    """The figures in a file; ``kind`` is one of ``KINDS``, None to find out; ``groups`` are those of ``slb``."""
    text = read(path, "results of another tool", SIZE_LIMIT_BYTES).decode("utf-8-sig", "replace")
    if kind is None:
        kind = next((name for name, (marks, _) in KINDS.items() if any(mark in text for mark in marks)), None)
        if kind is None:
            raise UsageError(
                f"{path}: expected the JSON of fio or its text, ORION's summary, output or matrices, SLOB's "
                "awr_info.txt, lines of memhammer (SLB) or lscpu -J, found none of them; for AWR, sar or iostat use "
                "sizeup size --workload"
            )
    if groups and kind != "slb":
        raise UsageError(f"--groups: expected a file with lines of memhammer (SLB), found {path} of kind {kind}")
    try:
        part = slb.parse_slb(text, path, groups) if groups else KINDS[kind][1](text, path)
        for record in session_records([(path, part)], host=None, now=datetime.now(UTC)):
            decode(ENCODER.encode(record))  # reject what no session can hold before one is created
    except (ValueError, OverflowError) as error:
        raise MalformedError(f"{path}: expected finite figures, found one too large for a number: {error}") from error
    return part
