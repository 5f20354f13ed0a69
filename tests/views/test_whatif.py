"""The inputs of what-if as lines, the steps they take, and what a change does."""

import re
from itertools import pairwise

import pytest

from sizeup.errors import SizeupError
from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.advise import size
from sizeup.sizing.input_value import UnusedMeasurement, Value
from sizeup.sizing.keys import KEYS, TYPED_SOURCE
from sizeup.views.inputs.advice import format_quantity
from sizeup.views.inputs.whatif import UNKNOWN, effect, input_rows, parse_typed, question_of, stepped, typed
from tiers import in_gate


def said(key: str, text: str) -> Value:
    return KEYS[key].parse(text, Origin.USER, "--set")


def test_an_input_that_nobody_knows_says_so_in_a_word() -> None:
    rows = {row.key: row for row in input_rows(size({}), {}, {})}

    assert rows["machine.sockets"].value == UNKNOWN == "unknown"
    assert rows["machine.sockets"].origin == "not known"
    assert rows["machine.sockets"].whole == ""


def test_lines_keep_their_order_whatever_is_said_and_asked() -> None:
    before = [row.key for row in input_rows(size({}), {}, {})]
    changed = {key: said(key, "5") for key in ("flash.cache_gib", "redo.mb_s")}
    after = [row.key for row in input_rows(size(changed), changed, {}, ["db.gb"])]

    assert [key for key in after if key in before] == before
    assert set(after) - set(before) >= {"flash.cache_gib", "db.gb"}
    assert len(before) <= 20
    assert question_of(before[0]) == "Workload"
    groups = [question_of(key) for key in after]
    assert len([1 for a, b in pairwise(groups) if a != b]) + 1 == len(set(groups))


def test_a_changed_input_says_what_it_was_as_found() -> None:
    found, now = {"machine.ghz": said("machine.ghz", "2.66")}, {"machine.ghz": said("machine.ghz", "3")}
    rows = {row.key: row for row in input_rows(size(now), now, found)}

    assert (rows["machine.ghz"].value, rows["machine.ghz"].found) == ("3 GHz", "2.66 GHz")
    assert rows["machine.sockets"].found == ""


def test_a_measured_figure_that_was_changed_has_four_digits() -> None:
    found = {"capacity.iops": Quantity(31034.15, "1/s", Origin.MEASURED, "io.direct")}
    now = {"capacity.iops": said("capacity.iops", "40000")}
    rows = {row.key: row for row in input_rows(size(now), now, found)}

    assert rows["capacity.iops"].found == "31,030 IOPS"


def test_a_figure_that_is_not_taken_says_so_in_its_line_and_why_below() -> None:
    figure = Quantity(9e9, "bytes/s", Origin.MEASURED, "io.direct")
    unused = {"capacity.mb_s": UnusedMeasurement(figure, "it may come from a cache", "run it larger")}
    row = next(row for row in input_rows(size(unused), {}, unused) if row.key == "capacity.mb_s")

    assert row.value == "not used"
    assert "9,000 MB/s was measured but is not used, because it may come from a cache. Run it larger" in row.help
    assert row.origin == "measured, io.direct"


@pytest.mark.parametrize(
    ("key", "text", "shown"),
    [
        ("workload.read_percent", "77.7457", "77.75 %"),
        ("workload.mb_s", "0.110592", "0.1106 MB/s"),
        ("workload.iops", "1736.5", "1,736 IOPS"),
        ("workload.iops", "123456", "123,456 IOPS"),  # as a TOML file states it
    ],
)
def test_what_a_file_gives_is_shown_with_four_digits_and_a_count_whole(key: str, text: str, shown: str) -> None:
    value = KEYS[key].parse(text, Origin.IMPORTED, "sar.txt")
    row = next(row for row in input_rows(size({key: value}), {key: value}, {}) if row.key == key)

    assert (row.value, row.whole.rstrip("%MBs/IOPS")) == (shown, text)


def test_what_was_measured_is_shown_with_four_digits_and_what_was_typed_as_it_was() -> None:
    measured = KEYS["capacity.iops"].parse("1287125.961", Origin.MEASURED, "io.direct")
    many = {"capacity.iops": measured, "sga.mb": said("sga.mb", "64G"), "db.gb": said("db.gb", "1000000000000")}
    rows = {row.key: row.value for row in input_rows(size(many), {}, {})}

    assert rows["capacity.iops"] == "1,287,000 IOPS"
    assert rows["sga.mb"] == "65,536 MiB"
    assert rows["db.gb"] == "1,000,000,000,000 GB"


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("machine.memory_gib", "23.53515625"),
        ("machine.ghz", "2.4..2.66..3"),
        ("numa.free_mb", "1500.5,1600"),
        ("workload.read_percent", "70"),
        ("redo.switch_minutes", "20"),
        ("slb.one_ops_s", "12345678.5"),
        ("license.pack", "oracle"),
        ("capacity.iops", "128712.59611"),
    ],
)
def test_what_a_field_offers_is_the_value_itself(key: str, text: str) -> None:
    value = said(key, text)

    assert said(key, typed(key, value)) == value


def test_a_range_of_one_value_is_typed_as_that_value() -> None:
    average = Quantity(18_500, "1/s", Origin.IMPORTED, "awr.txt", low=18_500, high=18_500)

    assert typed("workload.iops", average) == "18500IOPS"


@pytest.mark.parametrize(
    ("key", "text", "steps", "expected"),
    [
        ("machine.sockets", "2", 1, "3"),
        ("machine.sockets", "1", -1, "1"),
        ("license.term_years", "3", 1, "4"),
        ("workload.horizon_years", "0", 1, "1"),
        ("device.blocks_kib", "7", 1, "8"),
        ("workload.growth_percent", "0", 1, "5"),
        ("workload.utilization_percent", "98", 1, "100"),
        ("workload.read_percent", "3", -1, "0"),
        ("machine.ghz", "19.9", 1, "20"),
        ("machine.ghz", "2", 1, "2.1"),
        ("workload.io_kib", "8", 1, "16"),
        ("workload.io_kib", "12", 1, "16"),
        ("workload.io_kib", "12", -1, "8"),
        ("workload.class", "oltp", 1, "mixed"),
        ("workload.class", "light-scan", 1, "light-scan"),
        ("machine.guest", "yes", 1, "no"),
    ],
)
def test_a_step_moves_by_what_the_input_counts_and_stays_within_what_it_allows(
    key: str, text: str, steps: int, expected: str
) -> None:
    now, wanted = stepped(key, said(key, text), steps), said(key, expected)

    assert now is not None
    assert not isinstance(now, tuple | UnusedMeasurement)
    assert not isinstance(wanted, tuple | UnusedMeasurement)
    assert now.value == (wanted.value if isinstance(wanted, Words) else pytest.approx(wanted.value))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("machine.sockets", None),
        ("machine.cpu_model", said("machine.cpu_model", "Xeon")),
        ("numa.free_mb", said("numa.free_mb", "5,6")),
        ("workload.utilization_percent", said("workload.utilization_percent", "5")),
    ],
)
def test_where_no_step_leads_there_is_none(key: str, value: Value | None) -> None:
    assert stepped(key, value, -1) is None


def test_a_choice_that_nobody_made_begins_at_either_end() -> None:
    up, down = stepped("workload.class", None, 1), stepped("workload.class", None, -1)

    assert isinstance(up, Words)
    assert isinstance(down, Words)
    assert (up.value, down.value) == ("load", "light-scan")


def advice(value: float | None, verdict: str = "so", decision: str = "") -> Advice:
    quantity = None if value is None else Quantity(value, "1", Origin.RULE, "rule")
    return Advice("x", "X", verdict, quantity, (), (), (), decision=decision)


@pytest.mark.parametrize(
    ("now", "before", "words"),
    [
        (advice(150.0), advice(100.0), "+50.0 %"),
        (advice(50.0), advice(100.0), "-50.0 %"),
        (advice(100.0), advice(100.0), ""),
        (advice(2e7), advice(100.0), "x 200,000"),
        (advice(100.0), None, "new"),
        (advice(100.0), advice(None), "changed"),
        (advice(5.0), advice(0.0), "changed"),
        (advice(None, "must not be used"), advice(None, "may be used"), "changed"),
        (advice(None), advice(None), ""),
        (advice(100.0, decision="short"), advice(100.0, decision="balanced"), "changed"),
    ],
)
def test_what_a_change_does_is_told_for_figures_and_for_words(now: Advice, before: Advice | None, words: str) -> None:
    assert effect(now, before) == words


@pytest.mark.parametrize(
    "text",
    in_gate("^0$|0{4}|G|k|e-9|^$|9999|-3", ["0", "1000000000000", "-3", "8k", "1.5G", "", "words", "1e-9", "9" * 400]),
)
def test_whatever_is_said_is_refused_in_words_or_sized_with_figures_that_can_be_read(text: str) -> None:
    full = {key: said(key, value) for key, value in FULL.items()}
    for key in KEYS:
        try:
            now = {**full, key: said(key, text)}
            sizing = size(now)
        except SizeupError:
            continue
        rows = {row.key: row for row in input_rows(sizing, now, full)}
        assert rows[key].found
        for advice in sizing.advice:
            told = " ".join((advice.verdict, *advice.working))
            assert not re.search(r"\b(?:nan|inf)\b", told), (key, advice.id)


FULL = {
    "machine.sockets": "2",
    "machine.cores_per_socket": "8",
    "machine.threads_per_core": "2",
    "machine.ghz": "2.66",
    "machine.cpu_model": "Intel(R) Xeon(R)",
    "machine.memory_gib": "256",
    "machine.vcpus": "32",
    "workload.mb_s": "300",
    "workload.iops": "20000",
    "capacity.mb_s": "1000",
    "capacity.iops": "40000",
    "capacity.latency_ms": "2",
    "capacity.cpu_us_mb": "400",
    "path.stages": "hba:fc8*2",
    "array.disks": "8",
    "array.raid": "10",
    "array.disk_gb": "800",
    "array.drive": "hdd-15k",
    "db.gb": "2000",
    "redo.mb_s": "10",
    "redo.sync_write_us": "500",
    "redo.cache_gb": "16",
    "sga.mb": "65536",
    "memory.sessions": "500",
    "memory.local_ns": "90",
    "memory.remote_ns": "150",
    "numa.nodes": "2",
    "numa.free_mb": "100000,90000",
    "flash.cache_gib": "500",
    "scan.raw_gb": "1000",
    "scan.stored_gb": "250",
    "net.window_bytes": "65536",
    "net.rtt_ms": "0.2",
    "observed.mb_s": "200",
    "value.throughput": "250000",
    "value.system_usd": "500000",
    "workload.cpu_percent": "40",
}
"""A server about which nearly everything is said."""


def test_a_ratio_is_spelled_without_a_unit() -> None:
    sizing = size({**{key: said(key, value) for key, value in FULL.items()}})
    depth = sizing.find("io.queue-depth")

    assert depth.quantity is not None
    assert format_quantity(depth.quantity, depth.shown_in) == "80"


@pytest.mark.parametrize(
    ("key", "text", "plain"),
    [
        ("workload.iops", "20,000", "20000"),
        ("workload.iops", "1,500..20,000 IOPS..1,000,000", "1500..20000 IOPS..1000000"),
        ("workload.mb_s", "1,234.5", "1234.5"),
    ],
)
def test_commas_between_thousands_are_read_as_they_are_printed(key: str, text: str, plain: str) -> None:
    assert parse_typed(key, text) == KEYS[key].parse(plain, Origin.USER, TYPED_SOURCE)


@pytest.mark.parametrize("text", ["1,5", "20,00", "0,500", "1.500,000", "1,2345", "1234,567", ",500"])
def test_a_comma_that_may_be_that_of_decimals_is_refused(text: str) -> None:
    with pytest.raises(SizeupError):
        parse_typed("workload.iops", text)
