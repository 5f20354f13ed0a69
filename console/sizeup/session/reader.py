"""Reads session files, finished or growing, and forgives what a crash can leave behind.

A file may come from a stranger. The reader therefore bounds what it keeps, never trusts a length or
a depth, and replaces every character that could steer a terminal before a string reaches anyone.
"""

from __future__ import annotations

import os
import re
import zlib
from array import array
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, ClassVar, cast

import msgspec

from sizeup.errors import MalformedError, UsageError
from sizeup.input_file import open_file, opened, reading
from sizeup.model.sample import Coordinates, Progress
from sizeup.session.limits import (
    DECOMPRESSED_LIMIT_BYTES,
    FILE_LIMIT_BYTES,
    ITEMS_LIMIT,
    LINE_LIMIT_BYTES,
    SAMPLES_LIMIT,
)
from sizeup.session.records import (
    FORMAT,
    GZIP_MAGIC,
    AdviceRecord,
    AnyRecord,
    ContinuedRecord,
    EndRecord,
    EnvironmentRecord,
    EstimateRecord,
    FindingRecord,
    GapRecord,
    MachineRecord,
    NoteRecord,
    OutcomeRecord,
    PlanRecord,
    ProgressRecord,
    Record,
    SamplesRecord,
    SessionRecord,
    StepStartRecord,
    decoder,
)
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.text import clean, one_line

SESSION_FILE = "a session file"
_CHUNK_BYTES = 1 << 18
_SAMPLES_PREFIX = b'{"kind":"samples"'
_INTEGER_LIMIT = 1 << 63
_LONG_NUMBER = re.compile(rb"[:\[,]-?\d{19}")


class _Kind(msgspec.Struct):
    """Enough of a line to tell what it is."""

    kind: str
    format: int | None = None


_KIND: msgspec.json.Decoder[_Kind] = msgspec.json.Decoder(_Kind)
_KNOWN = frozenset(cast("str", kind.__struct_config__.tag) for kind in Record.__subclasses__())


def _cleaned(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return clean(value)
    if depth > 50:
        raise ValueError("nested deeper than 50 levels")
    if isinstance(value, list):
        return [_cleaned(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {clean(key): _cleaned(item, depth + 1) for key, item in value.items()}
    return _bounded(value)


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and abs(value) >= _INTEGER_LIMIT:
        raise ValueError("a whole number beyond 64 bits")
    return value


def decode(line: bytes) -> AnyRecord:
    """The record of a line, cleaned; ``ValueError`` and its like where it is none."""
    # Samples are plain ASCII without escapes; only what may hide a control character, or a number that no
    # column and no float can hold, takes the slow way.
    plain = line.isascii() and b"\\" not in line and b"\x7f" not in line
    if plain and (line.startswith(_SAMPLES_PREFIX) or not _LONG_NUMBER.search(line)):
        return cast("AnyRecord", decoder().decode(line))
    return cast("AnyRecord", msgspec.convert(_cleaned(msgspec.json.decode(line)), AnyRecord))


class _Reader:
    """Lines in, a growing ``Session`` out; without samples where only an outline is wanted."""

    def __init__(
        self, where: str, *, samples: bool = True, listener: Callable[[AnyRecord], None] | None = None
    ) -> None:
        self._where = where
        self._without_samples = not samples
        self._listener = listener
        self._line_number = 0
        self._samples = 0
        self._points = 0
        self._seen: set[int] = set()
        self._session: Session | None = None

    @property
    def session(self) -> Session:
        """What was read so far."""
        if self._session is None:
            raise MalformedError(f"{self._where}: expected a sizeup session, found an empty file")
        return self._session

    @property
    def started(self) -> bool:
        """Whether the first line was read."""
        return self._session is not None

    def add(self, line: bytes) -> None:
        """Take one whole line."""
        self._line_number += 1
        if self._session is None:
            self._session = Session(self._header(line))
            if self._listener is not None:
                self._listener(self._session.header)
            return
        if not line.strip() or (self._without_samples and line.startswith(_SAMPLES_PREFIX)):
            return
        damage = self._session.damage
        try:
            record = decode(line)
            self._ADDERS[type(record)](self, self._session, record)
            self._session.last_ns = max(self._session.last_ns, self._time_of(record))
            if self._listener is not None:
                self._listener(record)
        except (msgspec.DecodeError, ValueError, OverflowError, RecursionError) as error:
            # ValueError covers ValidationError, UnicodeDecodeError and what the model's own checks raise.
            if self._is_unknown(line):
                damage.unknown += 1
                return
            damage.malformed += 1
            damage.first = damage.first or f"line {self._line_number}: {one_line(str(error), 120)}"

    def skip_too_long(self) -> None:
        """Count a line that was longer than the limit."""
        self._line_number += 1
        if self._session is None:
            raise MalformedError(f"{self._where}: expected a sizeup session, found no end to its first line")
        self._session.damage.too_long += 1

    def tear(self, line: bytes) -> None:
        """Take the last line of the file, which has no end."""
        if self._session is None:
            self._session = Session(self._header(line))
        self._session.damage.torn = True

    def _header(self, line: bytes) -> SessionRecord:
        try:
            kind = _KIND.decode(line)
            if kind.kind == "session" and (kind.format or 0) > FORMAT:
                raise UsageError(
                    f"{self._where}: written by a newer sizeup (format {kind.format}; this one reads up to {FORMAT}); "
                    "open it with that version or a later one"
                )
            header = decode(line)
        except (msgspec.DecodeError, ValueError, OverflowError, RecursionError):
            header = None
        if not isinstance(header, SessionRecord) or header.format < 1:
            found = one_line(line[:200].decode(errors="replace"), 60)
            raise MalformedError(
                f"{self._where}: expected a sizeup session, whose first line is a record of kind session; "
                f"found {found!r}; sessions are made by: sizeup --batch -o FILE"
            )
        return header

    @staticmethod
    def _is_unknown(line: bytes) -> bool:
        try:
            return _KIND.decode(line).kind not in _KNOWN
        except (msgspec.DecodeError, ValueError, RecursionError):
            return False

    @staticmethod
    def _time_of(record: AnyRecord) -> int:
        if isinstance(record, SamplesRecord):
            return record.t_ns[-1] if record.t_ns else 0
        return 0 if isinstance(record, SessionRecord) else record.t_ns

    def _repeated_header(self, session: Session, record: SessionRecord) -> None:
        if record != session.header:
            raise ValueError("a second, different session record")

    @staticmethod
    def _keep(session: Session, items: list[Any], item: object) -> None:
        if len(items) < ITEMS_LIMIT:
            items.append(item)
        else:
            session.damage.left_out += 1

    def _continued(self, session: Session, record: ContinuedRecord) -> None:
        self._keep(session, session.continued, record)
        session.end = None

    def _machine(self, session: Session, record: MachineRecord) -> None:
        session.machine = record.machine

    def _plan(self, session: Session, record: PlanRecord) -> None:
        self._keep(session, session.plans, record.plan)

    def _step_start(self, session: Session, record: StepStartRecord) -> None:
        id_ = record.step.id
        if id_ in session.steps:
            self._keep(session, session.earlier_attempts, session.steps.pop(id_))
            session.outcomes.pop(id_, None)
        elif len(session.steps) >= ITEMS_LIMIT:
            session.damage.left_out += 1
            return
        series = {series.name: series for series in record.series}
        session.steps[id_] = StepRun(record.step, record.distribution, series, record.chart, record.t_ns)

    def _step(self, session: Session, id_: str) -> StepRun:
        step = session.steps.get(id_)
        if step is None:
            raise ValueError(f"step {one_line(id_, 60)!r} was never started")
        return step

    def _point(self, session: Session, id_: str, series: str, at: Coordinates) -> Point | None:
        step = self._step(session, id_)
        key = point_key(series, at)
        point = step.points.get(key)
        if point is None:
            if self._points >= ITEMS_LIMIT:
                session.damage.left_out += 1
                return None
            self._points += 1
            for value in at.values():
                _bounded(value)
            point = step.points[key] = Point(series, at)
        return point

    def _add_samples(self, session: Session, record: SamplesRecord) -> None:
        count = len(record.values)
        if len(record.t_ns) != count or len(record.flags) not in (0, count):
            raise ValueError(
                f"expected as many times and flags as values, "
                f"found {len(record.t_ns)} and {len(record.flags)} for {count}"
            )
        # A copied or merged file can hold a batch twice; times make equal batches the same batch.
        identity = hash((record.step, record.series, tuple(record.at.items()), record.t_ns, record.values))
        if identity in self._seen:
            session.damage.duplicates += 1
            return
        if self._samples + count > SAMPLES_LIMIT:
            session.damage.left_out += count
            return
        point = self._point(session, record.step, record.series, record.at)
        if point is None:
            return
        # Converted first, so that a value out of range leaves the three columns of equal length.
        times, values = array("q", record.t_ns), array("d", record.values)
        flags = array("B", record.flags or bytes(count))
        self._seen.add(identity)
        self._samples += count
        point.t_ns.extend(times)
        point.values.extend(values)
        point.flags.extend(flags)

    def _estimate(self, session: Session, record: EstimateRecord) -> None:
        point = self._point(session, record.step, record.estimate.series, record.estimate.at)
        if point is not None:
            point.estimate = record.estimate

    def _progress(self, session: Session, record: ProgressRecord) -> None:
        self._step(session, record.step).progress = Progress(record.done, record.remaining_seconds, record.doing)

    def _outcome(self, session: Session, record: OutcomeRecord) -> None:
        if len(session.outcomes) >= ITEMS_LIMIT:
            session.damage.left_out += 1
            return
        session.outcomes[record.step] = record.outcome
        step = session.steps.get(record.step)
        if step is not None:
            step.outcome, step.ended_ns = record.outcome, record.t_ns

    def _finding(self, session: Session, record: FindingRecord) -> None:
        new = record.finding
        for index, old in enumerate(session.findings):
            if (old.id, old.subjects) == (new.id, new.subjects):
                session.findings[index] = new
                return
        self._keep(session, session.findings, new)

    def _advice(self, session: Session, record: AdviceRecord) -> None:
        for index, old in enumerate(session.advice):
            if old.id == record.advice.id:
                session.advice[index] = record.advice
                return
        self._keep(session, session.advice, record.advice)

    def _end(self, session: Session, record: EndRecord) -> None:
        session.end = record

    def _environment(self, session: Session, record: EnvironmentRecord) -> None:
        self._keep(session, session.environment, record)

    def _gap(self, session: Session, record: GapRecord) -> None:
        self._keep(session, session.gaps, record.gap)

    def _note(self, session: Session, record: NoteRecord) -> None:
        self._keep(session, session.notes, record)

    # Plain functions: bound methods in the reader would tie it into a cycle, and keep the samples of one
    # session in memory while the next one is read.
    _ADDERS: ClassVar[dict[type[Record], Callable[[_Reader, Session, Any], None]]] = {
        SessionRecord: _repeated_header,
        ContinuedRecord: _continued,
        EnvironmentRecord: _environment,
        MachineRecord: _machine,
        PlanRecord: _plan,
        StepStartRecord: _step_start,
        SamplesRecord: _add_samples,
        EstimateRecord: _estimate,
        ProgressRecord: _progress,
        OutcomeRecord: _outcome,
        GapRecord: _gap,
        FindingRecord: _finding,
        AdviceRecord: _advice,
        NoteRecord: _note,
        EndRecord: _end,
    }


class _Lines:
    """Cuts a stream of chunks, each shorter than the longest line, into lines; forgets those past the limit.

    A line in the making is kept as pieces: to join them at each chunk takes a minute for a line of 2 GiB.
    """

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self._pieces: list[bytes] = []
        self._length = 0

    def feed(self, chunk: bytes) -> int:
        """Take the next bytes; the count of whole lines among them."""
        first, *others = chunk.split(b"\n")
        self._grow(first)
        if others:
            self._end()
            for line in others[:-1]:
                self._reader.add(line)
            self._grow(others[-1])
        return len(others)

    def finish(self) -> None:
        """The stream has ended; what is left is a torn line."""
        if self._length > LINE_LIMIT_BYTES:
            self._reader.skip_too_long()
        elif (line := b"".join(self._pieces)).strip():
            self._reader.tear(line)

    def _grow(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length > LINE_LIMIT_BYTES:
            self._pieces.clear()
        elif piece:
            self._pieces.append(piece)

    def _end(self) -> None:
        if self._length > LINE_LIMIT_BYTES:
            self._reader.skip_too_long()
        else:
            self._reader.add(b"".join(self._pieces))
        self._pieces.clear()
        self._length = 0


def _chunks(file: BinaryIO, where: str) -> Iterator[bytes]:
    """The content in pieces, unpacked where it is gzip, up to the limits of this module."""
    packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    file.seek(0)
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if packed else None
    limit, total = DECOMPRESSED_LIMIT_BYTES if packed else FILE_LIMIT_BYTES, 0
    while chunk := file.read(_CHUNK_BYTES):
        while chunk:
            piece = chunk
            if unpack is not None:
                try:
                    piece = unpack.decompress(chunk, _CHUNK_BYTES)
                except zlib.error:
                    return  # what came before the damage counts; the line it tore is reported
                chunk = unpack.unconsumed_tail
            else:
                chunk = b""
            total += len(piece)
            if total > limit:
                raise UsageError(f"{where}: refused: it holds more than {limit >> 20} MiB")
            yield piece


def read_session(path: str, listener: Callable[[AnyRecord], None] | None = None, *, samples: bool = True) -> Session:
    """The session in a file, plain or gzipped; raises ``SizeupError`` where it is none or is newer.

    Without ``samples`` it is an outline that costs little more than reading the file. ``listener`` hears
    every record that was accepted, in the order of the file.
    """
    reader = _Reader(path, samples=samples, listener=listener)
    lines = _Lines(reader)
    with opened(path, SESSION_FILE) as file:
        for chunk in _chunks(file, path):
            lines.feed(chunk)
    lines.finish()
    return reader.session


class SessionFollower:
    """Reads a session file that another process is writing, as far as it has come."""

    def __init__(self, path: str) -> None:
        self._reader = _Reader(path)
        self._lines = _Lines(self._reader)
        self._path = path
        self._file: BinaryIO | None = None

    @property
    def session(self) -> Session | None:
        """What was read so far, growing with each ``poll``; None before the first line is there."""
        return self._reader.session if self._reader.started else None

    def poll(self, limit_bytes: int = 4 << 20) -> int:
        """Read what was appended, at most about ``limit_bytes``; the number of new records.

        A file that does not exist yet counts as empty.
        """
        if self._file is None:
            if not os.path.exists(self._path):
                return 0
            self._file = open_file(self._path, SESSION_FILE)
            packed = self._file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            self._file.seek(0)
            if packed:  # nobody writes on: it is read once, and whole
                return self._unpack(self._file)
        count, total = 0, 0
        while total < limit_bytes:
            with reading(self._path, SESSION_FILE):
                chunk = self._file.read(_CHUNK_BYTES)
            if not chunk:
                break
            total += len(chunk)
            count += self._lines.feed(chunk)
        return count

    def _unpack(self, file: BinaryIO) -> int:
        count = sum(self._lines.feed(chunk) for chunk in _chunks(file, self._path))
        self._lines.finish()
        return count

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
