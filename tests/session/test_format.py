"""The format is what its page and its schema say, and old files read."""

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import jsonschema
import msgspec
import pytest

from sizeup.cli import run as sizeup
from sizeup.model.advice import Advice, AdviceSet, Bounds, OpenQuestion, ShareFacts
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Gap, Machine, Platform
from sizeup.model.plan import Better, Declaration, Hazard, Plan, Refusal, Series, SeriesQuantity, Step
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.model.topology import Core, Package, Pu
from sizeup.quantity import Origin, Quantity
from sizeup.session.reader import read_session
from sizeup.session.records import FORMAT, CommandRecord, ExperimentRecord, NoteRecord, Record, schema_text
from sizeup.session.value import point_key

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs/reference/session-format.md").read_text(encoding="utf-8")
FORMATS = sorted((HERE / "formats").glob("format-*.jsonl"))


def test_there_is_a_file_of_every_format() -> None:
    assert [path.name for path in FORMATS] == [f"format-{number}.jsonl" for number in range(1, FORMAT + 1)]


def test_format_1_reads_as_it_was_written() -> None:
    session = read_session(str(HERE / "formats/format-1.jsonl"))

    step = Step(
        "memory.latency.dram-thp",
        "memory.latency",
        "Memory latency",
        {"points": 5, "warm_up": 0.03},
        2.5,
        300.0,
        (Hazard.CPU_LOAD, Hazard.MEMORY),
        "512 MiB of memory",
        (1,),
    )
    assert session.damage.sentences() == ()
    assert session.header.host == "db01"
    assert session.machine == Machine(
        packages=(Package((0, 1), 0),),
        cores=(Core((0, 1), 0, 0, 0),),
        pus=(Pu(0, online=True, allowed=True, core=0), Pu(1, online=True, allowed=True, core=0)),
        memory_bytes=8 << 30,
        cpu_model="Example CPU",
        base_clock=Quantity(2.6e9, "Hz", Origin.DETECTED, "/proc/cpuinfo"),
        platform=Platform(architecture="x86_64", kernel="6.1.0", hostname="db01"),
    )
    assert session.plans == [
        Plan("quick", (step,), (Refusal("io.direct", "io.direct", "no target"),), {"memory.latency": {"points": 5}})
    ]
    run = session.steps[step.id]
    assert run.step == step
    assert run.series == {
        "dram-thp": Series(
            "dram-thp", "Random cycle", "ns", Better.LOWER, "working_set_bytes", "bytes", "Working set",
            quantities=(SeriesQuantity("memory.local_latency"),), boundaries="memory",
        )
    }  # fmt: skip
    assert run.declaration == Declaration("memory", "target")
    point = run.points[point_key("dram-thp", {"working_set_bytes": 16384})]
    assert (list(point.t_ns), list(point.values), list(point.flags)) == ([100, 200, 300], [1.2, 1.25, 9.5], [0, 0, 5])
    assert point.estimate == Estimate(
        "dram-thp", {"working_set_bytes": 16384}, 1.22, 1.2, 1.25, 3, 1.2, 1.2, 1.25, 0.33, converged=True
    )
    assert session.outcomes == {
        step.id: Outcome(Status.OK),
        "io.direct": Outcome(Status.REFUSED, "no target"),
        "clock.cost": Outcome(Status.CRASHED, "its worker died of SIGSEGV", "SIGSEGV"),
    }
    assert session.gaps == [Gap("/proc/pressure/cpu", "absent")]
    assert session.findings == [
        Finding("memory.small", Severity.INFO, "Small", ("8 GiB",), "little cache", "add memory", ("node:0",))
    ]
    need = Quantity(6.5e7, "bytes/s", Origin.RULE, "io.ghz-rule")
    assert session.advice == AdviceSet(
        (Advice("io.demand", "I/O need", "wants 65 MB/s", need, ("2 x 2.6",), (), ()),),
        (OpenQuestion("capacity.mb_s", "I/O supply", "what storage delivers", "--set capacity.mb_s=N"),),
        {"capacity.iops": "9 IOPS was measured, but not valid"},
        {"io-need": "2026-01-20"},
    )
    assert session.notes == [NoteRecord(900, "after the BIOS update", "ann", "2026-02-01T10:00:00Z", ("bios",), "DB 1")]
    a, b = ("echo 10 > /proc/sys/vm/swappiness", "echo 60 > /proc/sys/vm/swappiness")
    assert session.experiments == [ExperimentRecord(902, "e1", a, b, b, 3, "abbaba", 1.0, 60.0, "root")]
    problem = "it exited with status 1"
    assert session.commands == [CommandRecord(904, "e1", "a", a, 0.01, 1, 1, ("Permission denied",), problem)]
    assert (session.title, session.tags) == ("DB 1", ("bios",))
    assert session.end.status == "complete"


def test_format_2_holds_what_was_judged_as_values() -> None:
    session = read_session(str(HERE / "formats/format-2.jsonl"))

    assert session.advice is not None
    card = next(one for one in session.advice.cards if one.resource == "storage")
    assert card.facts == ShareFacts(
        Bounds(3.2768e8, 3.2768e8, 3.2768e8), Bounds(1.6e9, 1.6e9, 1.6e9), "MB/s", bottleneck="hba"
    )
    assert card.assumptions == ("Assumed: a block size of 8 KiB by default",)
    assert card.later == ("Storage: 105% in year 2 after losing one of 2 paths",)
    assert not set(card.assumptions) & set(card.notes)


def test_the_kept_file_has_every_kind_of_record() -> None:
    kinds = {msgspec.json.decode(line)["kind"] for line in (HERE / "formats/format-1.jsonl").read_bytes().splitlines()}
    assert kinds == {kind.__struct_config__.tag for kind in Record.__subclasses__()}


def test_the_page_lists_every_record_with_its_fields() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.*?) \|", PAGE, re.MULTILINE)
    listed = {kind: re.findall(r"`(\w+)`", fields) for kind, fields in rows}
    assert listed == {kind.__struct_config__.tag: list(kind.__struct_fields__) for kind in Record.__subclasses__()}


def test_the_schema_knows_every_record_and_its_fields() -> None:
    schema = msgspec.json.decode(schema_text())

    described = {
        entry["properties"]["kind"]["enum"][0]: list(entry["properties"])
        for entry in schema["$defs"].values()
        if "kind" in entry.get("properties", {}) and "enum" in entry["properties"]["kind"]
    }
    records = {kind.__struct_config__.tag: ["kind", *kind.__struct_fields__] for kind in Record.__subclasses__()}
    assert {kind: described.get(kind) for kind in records} == records


@cache
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(msgspec.json.decode(schema_text()))


def errors(line: bytes) -> list[str]:
    return [error.message for error in validator().iter_errors(msgspec.json.decode(line))]


def wrong_lines(path: Path) -> dict[int, list[str]]:
    return {number: found for number, line in enumerate(path.read_bytes().splitlines(), 1) if (found := errors(line))}


def test_the_schema_takes_every_line_of_the_kept_file() -> None:
    assert wrong_lines(HERE / "formats/format-1.jsonl") == {}


@pytest.mark.ci
def test_the_schema_is_one_and_takes_every_line_of_a_fresh_run(tmp_path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(msgspec.json.decode(schema_text()))
    fresh = tmp_path / "run"
    command = ["--batch", "-q", "-p", "null", "--set", "null.samples=20", "--set", "null.interval=0.2ms"]
    subprocess.run(
        [sys.executable, "-m", "sizeup", *command, "-o", fresh], check=True, stdout=subprocess.DEVNULL, timeout=300
    )

    assert wrong_lines(fresh) == {}


def test_the_schema_is_printed_for_other_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert sizeup(["schema"]) == 0
    assert capsys.readouterr().out == schema_text()


@pytest.mark.parametrize(
    "line", [b'{"kind":"samples","step":1}', b'{"kind":"end","t_ns":"late","status":"complete"}', b"[]"]
)
def test_the_schema_refuses_what_is_no_record(line: bytes) -> None:
    assert errors(line)


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
@pytest.mark.parametrize("number", range(5))
def test_the_printed_questions_are_answered_by_jq(number: int) -> None:
    command = re.findall(r"<!-- jq -->\n```\n(.*?)\n```", PAGE)[number]
    path = HERE / "formats/format-1.jsonl"

    done = subprocess.run(
        ["bash", "-c", command.replace("$f", f"'{path}'")], capture_output=True, text=True, check=True
    )

    expected = [
        "io.direct\trefused\tno target",
        'memory.latency.dram-thp\tdram-thp\t{"working_set_bytes":16384}\t1.22',
        "memory.latency.dram-thp\tdram-thp\t3",
        '"memory.latency.dram-thp","dram-thp",100,1.2',
        "Example CPU\t6.1.0",
    ]
    assert expected[number] in done.stdout.splitlines()
