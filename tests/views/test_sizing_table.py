"""The answers of sizing as rows: what they rest on, how sure they are, and in which group they stand."""

from sizeup.quantity import Origin, Quantity
from sizeup.sizing.advise import size
from sizeup.sizing.input_value import UnusedMeasurement, Value
from sizeup.sizing.keys import KEYS
from sizeup.views.inputs.input_names import input_label
from sizeup.views.inputs.sizing_table import GROUPS, NO_WORKLOAD, AnswerRow, answer_rows, assumed_keys
from sizeup.views.inputs.whatif import LISTED, input_rows, question_of


def said(key: str, text: str, origin: Origin = Origin.USER) -> Value:
    return KEYS[key].parse(text, origin, "--set")


CORES = {
    "machine.sockets": said("machine.sockets", "2"),
    "machine.cores_per_socket": said("machine.cores_per_socket", "8"),
}


def rows(*inputs: tuple[str, str]) -> dict[str, AnswerRow]:
    return {row.id: row for row in answer_rows(size({**CORES, **{key: said(key, text) for key, text in inputs}}))}


def test_an_answer_that_rests_on_an_unchosen_default_reads_assumed_and_names_it() -> None:
    unchosen, chosen = rows(), rows(("license.pack", "oracle"))

    assert unchosen["license.units"].basis.startswith("assumed: vendor")
    assert "vendor" not in chosen["license.units"].basis


def test_figures_have_all_their_digits_before_the_point() -> None:
    """65,536 MiB of shared memory are 32,768 huge pages and one more, of 2,048 KiB each: four digits lack some."""
    given = rows(("sga.mb", "65536"), ("license.pack", "oracle"))

    assert given["memory.huge-pages"].value == "32,769 pages"
    assert given["memory.memlock"].value == "67,110,912 KiB"
    assert given["memory.page-tables.small"].value == "128 MiB"


def test_every_answer_with_an_unchosen_input_reads_assumed_and_no_other() -> None:
    given = size(
        {**CORES, "workload.mb_s": said("workload.mb_s", "200"), "capacity.mb_s": said("capacity.mb_s", "900")}
    )

    for row in answer_rows(given):
        advice = given.find(row.id)
        if advice is not None:
            assert row.basis.startswith("assumed") == bool(assumed_keys(advice.inputs)), row


def test_an_input_that_nobody_chose_reads_assumed_and_an_unknown_answer_has_no_confidence() -> None:
    origins = {row.key: row.origin for row in input_rows(size(CORES), {}, {})}

    assert origins["workload.read_percent"].startswith("assumed, ")
    assert origins["machine.sockets"].startswith("user, ")
    assert rows()["io.capacity"].confidence == ""


def test_groups_stand_in_their_order_and_verdicts_carry_their_status_and_share() -> None:
    given = rows(("workload.mb_s", "200"), ("capacity.mb_s", "1000"), ("workload.cpu_percent", "97"))
    groups = [row.group for row in given.values()]

    assert groups == sorted(groups, key=GROUPS.index)
    assert [(row.title, row.value, row.status) for row in given.values() if row.group == "Verdict"] == [
        ("CPU", "WARN 97 %", "warn"),
        ("Storage", "PASS 20 %", "pass"),
    ]


def test_without_a_workload_the_first_row_asks_for_it() -> None:
    first = next(iter(rows().values()))

    assert (first.id, first.value) == (NO_WORKLOAD, "no workload")
    assert first.basis == "missing: IOPS wanted or Throughput"


def test_a_range_has_its_unit_once_and_an_amount_no_cents() -> None:
    found = rows()

    assert found["license.cost.list"].value.startswith("$")
    assert found["license.units"].range_ == "8 to 16 licenses"


def test_every_input_has_a_question_and_a_label_of_its_own() -> None:
    labels = [(question_of(key), input_label(key)) for key in KEYS]

    assert {question for question, _ in labels} == set(LISTED)
    twice = sorted({entry for entry in labels if labels.count(entry) > 1})
    assert twice == []


def test_a_capacity_in_iops_has_a_row_of_its_own_and_none_says_unknown() -> None:
    found = rows(("workload.iops", "60000"), ("capacity.iops", "50000"))
    capacity = [row for row in found.values() if row.group == "Capacity" and "Storage" in row.title]

    assert [(row.title, row.value, row.basis) for row in capacity] == [
        ("Storage capacity in IOPS", "50,000 IOPS", "typed")
    ]
    assert rows(("workload.iops", "60000"))["io.capacity"].value == "unknown"


def test_a_measured_capacity_that_is_no_evidence_says_so() -> None:
    iops = Quantity(44970.0, "1/s", Origin.MEASURED, "io.direct iops")
    unused = UnusedMeasurement(iops, "the I/O did not bypass the page cache", "run io.direct again")
    given = size({**CORES, "workload.iops": said("workload.iops", "20000"), "capacity.iops": unused}).recorded()
    row = next(row for row in answer_rows(given) if row.id == "io.capacity")

    assert (row.value, row.basis) == ("! not used, 44,970 IOPS", "measured, but not used")
