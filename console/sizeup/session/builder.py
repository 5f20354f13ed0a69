"""Builds a session from the lines of its file, finished or growing, and skips what a crash can leave in it.

What is kept is bounded, as the file is untrusted.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from sizeup.decoding import convert, json_decoder
from sizeup.errors import MalformedError, UsageError
from sizeup.model.sample import Coordinates, Progress
from sizeup.session import records
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.text import clean, one_line

_MEASURED = (records.MachineRecord, records.StepStartRecord, records.EstimateRecord, records.OutcomeRecord)
"""Records that can change what was measured."""
SAMPLES_PREFIX = b'{"kind":"samples"'
_INTEGER_LIMIT = 1 << 63
_LONG_NUMBER = re.compile(rb"[:\[,]-?\d{19}")


class SessionBuilder:
    """Lines in, a growing ``Session`` out; without samples where only an outline is wanted."""

    def __init__(
        self, where: str, *, samples: bool = True, listener: Callable[[records.AnyRecord], None] | None = None
    ) -> None:
        self._where = where
        self._without_samples = not samples
        self._listener = listener
        self._line_number = 0
        self._samples = 0
        self._points = 0
        self._seen: set[int] = set()
        self.found: Session | None = None
        """None before the first line."""

    @property
    def session(self) -> Session:
        """What was read so far."""
        if self.found is None:
            raise MalformedError(f"{self._where}: expected a sizeup session, found an empty file")
        return self.found

    def add(self, line: bytes) -> None:
        """Take one whole line."""
        self._line_number += 1
        if self.found is None:
            self.found = Session(self._header(line))
            if self._listener is not None:
                self._listener(self.found.header)
            return
        if not line.strip() or (self._without_samples and line.startswith(SAMPLES_PREFIX)):
            return
        damage = self.found.damage
        try:
            record = decode(line)
            self._add_record(self.found, record)
            t_ns = 0 if isinstance(record, records.SessionRecord) else record.t_ns
            if isinstance(t_ns, tuple):
                t_ns = t_ns[-1] if t_ns else 0
            self.found.last_ns = max(self.found.last_ns, t_ns)
            self.found.revision += isinstance(record, _MEASURED)
            if self._listener is not None:
                self._listener(record)
        except (msgspec.DecodeError, ValueError, OverflowError, RecursionError) as error:
            # ValueError covers ValidationError, UnicodeDecodeError and what the model's own checks raise.
            if is_unknown(line):
                damage.unknown += 1
                return
            damage.malformed += 1
            damage.first = damage.first or f"line {self._line_number}: {one_line(str(error), 120)}"

    def skip_too_long(self) -> None:
        """Count a line that was longer than the limit."""
        self._line_number += 1
        if self.found is None:
            raise MalformedError(f"{self._where}: expected a sizeup session, found no end to its first line")
        self.found.damage.too_long += 1

    def add_torn_line(self, line: bytes) -> None:
        """Take the last line of the file, which has no end."""
        if self.found is None:
            self.found = Session(self._header(line))
        self.found.damage.torn = True

    def _header(self, line: bytes) -> records.SessionRecord:
        try:
            heading = _HEADING.decode(line)
            if heading.kind == "session" and (heading.format or 0) > records.FORMAT:
                raise UsageError(
                    f"{self._where}: written by a newer sizeup (format {heading.format}; this one reads up to "
                    f"{records.FORMAT}); open it with that version or a later one"
                )
            header = decode(line)
        except (msgspec.DecodeError, ValueError, OverflowError, RecursionError):
            header = None
        if not isinstance(header, records.SessionRecord) or header.format < 1:
            found = one_line(line[:200].decode(errors="replace"), 60)
            raise MalformedError(
                f"{self._where}: expected a sizeup session, whose first line is a record of kind session; "
                f"found {found!r}; sessions are made by: sizeup --batch -o FILE"
            )
        return header

    def _add_record(self, session: Session, record: records.AnyRecord) -> None:
        match record:
            case records.SamplesRecord():  # most lines of a file are samples
                self._add_samples(session, record)
            case records.EstimateRecord(estimate=estimate):
                if (point := self._point(session, record.step, estimate.series, estimate.at)) is not None:
                    point.estimate = estimate
            case records.ProgressRecord():
                progress = Progress(record.done, record.remaining_seconds, record.activity)
                self._step(session, record.step).progress = progress
            case records.EnvironmentRecord():
                self._keep(session, session.environment, record)
            case records.StepStartRecord():
                self._step_start(session, record)
            case records.OutcomeRecord() if len(session.outcomes) >= records.ITEMS_LIMIT:
                session.damage.left_out += 1
            case records.OutcomeRecord():
                session.outcomes[record.step] = record.outcome
                if (step := session.steps.get(record.step)) is not None:
                    step.outcome, step.ended_ns = record.outcome, record.t_ns
            case records.MachineRecord():
                session.machine = record.machine
            case records.PlanRecord():
                self._keep(session, session.plans, record.plan)
            case records.GapRecord():
                self._keep(session, session.gaps, record.gap)
            case records.FindingRecord(finding=new):
                for index, old in enumerate(session.findings):
                    if (old.id, old.subjects) == (new.id, new.subjects):
                        session.findings[index] = new
                        break
                else:
                    self._keep(session, session.findings, new)
            case records.AdviceRecord(given=given):
                # Screens list both by their ids, which an untrusted file may repeat.
                advice = {advice.id: advice for advice in given.advice}
                questions = {question.key: question for question in given.questions}
                session.advice = replace(given, advice=tuple(advice.values()), questions=tuple(questions.values()))
                session.advice_ns, session.stated, session.stated_at = record.t_ns, record.stated, record.written
                session.imported = record.imported
            case records.NoteRecord():
                self._keep(session, session.notes, record)
            case records.EndRecord():
                session.end = record
            case records.ContinuedRecord():
                self._keep(session, session.continued, record)
                session.end = None
            case records.ExperimentRecord():
                self._keep(session, session.experiments, record)
                session.end = None
            case records.CommandRecord():
                self._keep(session, session.commands, record)
                session.end = None  # a run before it has ended, the experiment has not
            case records.SessionRecord():
                if record != session.header:
                    raise ValueError("a second, different session record")

    @staticmethod
    def _keep(session: Session, items: list[Any], item: object) -> None:
        if len(items) < records.ITEMS_LIMIT:
            items.append(item)
        else:
            session.damage.left_out += 1

    def _step_start(self, session: Session, record: records.StepStartRecord) -> None:
        id_ = record.step.id
        if id_ in session.steps:
            self._keep(session, session.earlier_attempts, session.steps.pop(id_))
            session.outcomes.pop(id_, None)
        elif len(session.steps) >= records.ITEMS_LIMIT:
            session.damage.left_out += 1
            return
        run = StepRun(
            record.step, record.distribution, {one.name: one for one in record.series}, record.chart, record.t_ns
        )
        run.declaration, run.start_delay_ns = record.declaration, record.start_delay_ns
        session.steps[id_] = run

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
            if self._points >= records.ITEMS_LIMIT:
                session.damage.left_out += 1
                return None
            self._points += 1
            for value in at.values():
                bounded(value)
            point = step.points[key] = Point(series, at)
        return point

    def _add_samples(self, session: Session, record: records.SamplesRecord) -> None:
        count = len(record.values)
        if len(record.t_ns) != count or len(record.flags) not in (0, count):
            found = f"{len(record.t_ns)} and {len(record.flags)} for {count}"
            raise ValueError(f"expected as many times and flags as values, found {found}")
        # A copied or merged file can hold a batch twice; times make equal batches the same batch.
        identity = hash((record.step, record.series, tuple(record.at.items()), record.t_ns, record.values))
        if identity in self._seen:
            session.damage.duplicates += 1
            return
        if self._samples + count > records.SAMPLES_LIMIT:
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


class _Heading(msgspec.Struct):
    """The fields of a line that identify its kind."""

    kind: str
    format: int | None = None


_HEADING: msgspec.json.Decoder[_Heading] = json_decoder(_Heading)
_KNOWN = frozenset(cast("str", kind.__struct_config__.tag) for kind in records.Record.__subclasses__())


def _cleaned(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return clean(value)
    if depth > 50:
        raise ValueError("nested deeper than 50 levels")
    if isinstance(value, list):
        return [_cleaned(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {clean(key): _cleaned(item, depth + 1) for key, item in value.items()}
    return bounded(value)


def bounded(value: Any) -> Any:
    """Return the value; raise ``ValueError`` for an integer that no column holds."""
    if isinstance(value, int) and abs(value) >= _INTEGER_LIMIT:
        raise ValueError("a whole number beyond 64 bits")
    return value


def decode(line: bytes) -> records.AnyRecord:
    """The record of a line, cleaned; ``ValueError`` and its like where it is none."""
    # Samples are plain ASCII without escapes; only what may hide a control character, or a number that no
    # column and no float can hold, takes the slow way.
    plain = line.isascii() and b"\\" not in line and b"\x7f" not in line
    if plain and (line.startswith(SAMPLES_PREFIX) or not _LONG_NUMBER.search(line)):
        return cast("records.AnyRecord", records.decoder().decode(line))
    return cast("records.AnyRecord", convert(_cleaned(msgspec.json.decode(line)), records.AnyRecord))


def is_unknown(line: bytes) -> bool:
    """Whether a line is a record of a kind that this version does not know."""
    try:
        return _HEADING.decode(line).kind not in _KNOWN
    except (msgspec.DecodeError, ValueError, RecursionError):
        return False
