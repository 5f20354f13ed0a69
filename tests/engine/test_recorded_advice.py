"""The advice that a run records counts what earlier runs of its file measured, from its start on."""

from declared import declaration_of, series_of
from sizeup.engine.run import _found
from sizeup.model.machine import Machine
from sizeup.model.plan import Step
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.session.records import AdviceRecord, SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.sizing.advise import described, size
from sizeup.sizing.inputs.measured import measured

MACHINE = Machine(block_devices=(BlockDevice("sda", BlockKind.SCSI, 10**12),))


def measured_before() -> Session:
    """A session that measured 9 GB/s of direct I/O."""
    step = Step("io.direct.scan", "io.direct", "Direct I/O", {"path": "/dev/sda"}, 1.0, 2.0)
    run = StepRun(step, "sizeup", series_of("io.direct"), "curve", 0, outcome=Outcome(Status.OK))
    run.declaration = declaration_of("io.direct")
    for depth, rate in ((2, 8.9e9), (4, 9e9)):
        estimate = Estimate("rate", {"workload": "dss-scan", "queue_depth": depth}, rate)
        run.points[point_key("rate", estimate.at)] = Point("rate", estimate.at, estimate=estimate)
    header = SessionRecord(1, "s", "sizeup 0", "db01", "2026-01-01T00:00:00Z")
    return Session(header, machine=MACHINE, steps={step.id: run})


def test_a_run_that_continues_a_file_counts_what_was_measured_before() -> None:
    before = measured_before()
    (record,) = [record for record in _found(1, MACHINE, before) if isinstance(record, AdviceRecord)]
    (first,) = [record for record in _found(1, MACHINE, None) if isinstance(record, AdviceRecord)]

    assert measured(before)
    assert record.given == size(described(MACHINE, measured(before))).recorded()
    assert first.given == size(described(MACHINE, {})).recorded()
    assert record.given != first.given
