"""The advice that a session records: of a run, and with the inputs that a user entered later."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from sizeup.errors import SizeupError, UsageError
from sizeup.model.machine import Machine
from sizeup.portability import host_name
from sizeup.session.reader import read_session
from sizeup.session.records import (
    FORMAT,
    TOOL,
    AdviceRecord,
    EndRecord,
    FindingRecord,
    MachineRecord,
    Record,
    SessionRecord,
    StatedInput,
)
from sizeup.session.store import utc_text
from sizeup.session.value import Session
from sizeup.session.writer import Writer
from sizeup.sizing.advise import described, size
from sizeup.sizing.input_value import Value, is_imported, with_stated
from sizeup.sizing.inputs.measured import measured
from sizeup.sizing.recorded_inputs import parsed_inputs, recorded_inputs
from sizeup.views.inputs.advice import first_of
from sizeup.views.inputs.whatif import typed


def advice_record(t_ns: int, machine: Machine, session: Session | None) -> AdviceRecord:
    """Return the advice on a machine by what its session measured so far, with the inputs entered for the session."""
    entered = {} if session is None else recorded_inputs(session)
    known = {} if session is None else measured(session, entered)
    stated = stated_inputs(entered)
    try:
        given = size(described(machine, with_stated(known, entered))).recorded()
    except SizeupError:  # the machine is another than when they were entered
        given, stated = size(described(machine, {} if session is None else measured(session))).recorded(), ()
    imported = () if session is None or not stated else session.imported
    return AdviceRecord(t_ns, given, stated, utc_text(datetime.now(UTC)) if stated else "", imported)


def stated_inputs(values: Mapping[str, Value]) -> tuple[StatedInput, ...]:
    """Return inputs as a session records them."""
    return tuple(
        StatedInput(key, typed(key, value), first.origin, first.source, getattr(value, "caveats", ()))
        for key, value in values.items()
        if (first := first_of(value)) is not None
    )


def save_advice(
    path: str, values: Mapping[str, Value], machine: Machine | None = None, before: Sequence[Mapping[str, Value]] = ()
) -> None:
    """Add to a session the advice with the inputs that a user entered, which from now on is what is shown of it.

    A session that does not exist is made for the ``machine``. What the file holds is kept, whatever fails. ``before``
    are the inputs before each change.
    """
    if not os.path.exists(path):
        if machine is None:
            raise UsageError(f"{path}: cannot save the inputs: the file no longer exists")
        hostname, now = machine.platform.hostname or host_name(), utc_text(datetime.now(UTC))
        header = SessionRecord(FORMAT, str(uuid.uuid4()), TOOL, hostname, now)
        imported = _imported({}, (*before, values))
        made = Session(header, machine=machine, stated=stated_inputs(values), imported=imported)
        findings = (FindingRecord(1, finding) for finding in machine.findings)
        with Writer.create(path) as writer:
            advice = advice_record(2, machine, made)
            writer.write(header, MachineRecord(1, machine), *findings, advice, EndRecord(3, "complete"))
            writer.sync()
        return
    session = read_session(path)
    if session.machine is None:
        raise UsageError(f"{path}: cannot save the inputs: the session has no machine record")
    session.stated = stated_inputs(values)
    session.imported = _imported(parsed_inputs(session.imported), (*before, values))
    t_ns = session.last_ns + 1
    advice = advice_record(t_ns, session.machine, session)
    if len(advice.stated) != len(session.stated):
        raise UsageError(f"{path}: cannot save the inputs: they contradict the machine of the session")
    records: list[Record] = [advice]
    if session.end is not None:  # the last line of a session that nobody has to resume
        records.append(replace(session.end, t_ns=t_ns + 1))
    with Writer.append(path, beside_another="inputs") as writer:
        writer.write(*records)
        writer.sync()


def _imported(known: Mapping[str, Value], states: Sequence[Mapping[str, Value]]) -> tuple[StatedInput, ...]:
    """Return what files state of inputs that were entered in its place; what was taken back meanwhile is forgotten."""
    for state in states:
        files = {key: value for key, value in state.items() if is_imported(value)}
        known = {key: value for key, value in known.items() if key in state} | files
    return stated_inputs({key: value for key, value in known.items() if not is_imported(states[-1][key])})
