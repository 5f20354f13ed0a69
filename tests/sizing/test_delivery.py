"""What was delivered beside what was ordered."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from sizeup import cli
from sizeup.model.machine import Machine
from sizeup.model.storage import Hba, Transport
from sizeup.quantity import Origin, Quantity, Uncertainty
from sizeup.report.table import table_lines
from sizeup.sizing.advise import described, size
from sizeup.sizing.delivery import DeliveredPart, delivered_parts, delivered_sizing
from sizeup.sizing.input_value import Value
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.rules import shipped
from sizeup.views.result.delivery import delivery_sentence, delivery_table
from sizing.storage_machines import NVME, budget, fibre_channel, port

ORDER = (
    *("array.disks=4", "array.raid=10", "array.drive_iops=10000", "array.disk_gb=1000", "workload.read_percent=100"),
    *("path.stages=hba:fc32*2@2", "machine.cores=24", "machine.memory_gib=256"),
)


def statuses(
    delivered: dict[str, Value], order: tuple[str, ...] = ORDER, machine: Machine | None = None
) -> dict[str, tuple[str, float | str, float | str | None]]:
    found = delivered_sizing(delivered, machine, shipped())
    parts = delivered_parts(size(parse_settings(order)), found, shipped(), machine)
    return {one.key: (one.status, one.ordered, one.found) for one in parts}


def test_each_part_is_as_ordered_missing_slower_or_unknown() -> None:
    """Two ports of 3,200 MB/s were ordered, and 4 x 10,000 reads/s; 250 GiB are 97.7 % of 256."""
    measured: Value = Quantity(30_000, "1/s", Origin.MEASURED, "step", low=29_000, high=31_000)
    here = parse_settings(["array.disks=3", "path.stages=hba:fc32*1", "machine.cores=24", "machine.memory_gib=250"])

    found = statuses({**here, "capacity.iops": measured})

    assert found["array.disks"] == ("missing", 4, 3)
    assert found["path.bandwidth_mb_s"] == ("missing", 6.4e9, 3.2e9)
    assert found["machine.cores"] == ("as ordered", 24, 24)
    assert found["machine.memory_gib"][0] == "as ordered"
    assert found["capacity.iops"] == ("slower", 40_000, 30_000)
    assert found["capacity.gb"] == ("unknown", 2e12, None)
    assert found["path.stages.ports"] == ("missing", 2, 1)
    assert found["path.stages.cards"] == ("unknown", 2, None)
    assert statuses(parse_settings(["machine.memory_gib=240"]))["machine.memory_gib"][0] == "missing"


@pytest.mark.parametrize(("raid", "status"), [("10", "as ordered"), ("5", "more"), ("0", "more")])
def test_space_beyond_the_order_is_more(raid: str, status: str) -> None:
    """Four drives of 3,840 GB are 7,680 GB in RAID 10, and 11,520 GB in RAID 5; a drive is up to 1 % larger."""
    drives = ("array.disks=4", "array.disk_gb=3840")
    delivered = parse_settings([drives[0], "array.disk_gb=3840.76", f"array.raid={raid}"])

    assert statuses(delivered, (*drives, "array.raid=10"))["capacity.gb"][0] == status


def test_ports_of_another_link_are_not_as_ordered() -> None:
    found = statuses(parse_settings(["path.stages=hba:fc16*2@2"]))

    assert found["path.stages.ports"][0] == "as ordered"
    assert found["path.stages.link"] == ("different", "fc32", "fc16")
    assert "path.stages.link" not in statuses(parse_settings(["path.stages=hba:fc32*2@2"]))


@pytest.mark.parametrize(("disks", "space"), [(1, None), (2, 1e12), (3, 1e12), (5, 2e12)])
@pytest.mark.parametrize("of_file", ["typed", "file"])
def test_drives_that_are_no_pairs_are_counted_and_their_space_is_that_of_the_pairs(
    disks: int, space: float | None, of_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four drives of 1,000 GB in RAID 10 were ordered: 2,000 GB."""
    text = 'schema = "sizeup.candidate/1"\n[inputs]\n"array.raid" = 10\n"array.disk_gb" = 1000\n"array.disks" = '
    (tmp_path / "order.toml").write_text(f"{text}4\n", encoding="utf-8")
    (tmp_path / "found.toml").write_text(f"{text}{disks}\n", encoding="utf-8")
    typed = ["none", "--set", f"array.disks={disks}", "array.raid=10", "array.disk_gb=1000"]
    machine = [str(tmp_path / "found.toml")] if of_file == "file" else typed

    assert cli.run(["size", "--against", str(tmp_path / "order.toml"), "--json", "--machine", *machine]) == 0
    parts = {one["key"]: one for one in json.loads(capsys.readouterr().out)["parts"]}
    assert (parts["array.disks"]["found"], parts["array.disks"]["ordered"]) == (disks, 4)
    assert parts["array.disks"]["status"] == ("missing" if disks < 4 else "more")
    assert parts["capacity.gb"]["found"] == space


@pytest.mark.parametrize(("disks_gb", "status"), [(764, "missing"), (4000, "uncertain")])
def test_space_is_at_most_that_of_all_disks_that_the_machine_sees(disks_gb: float, status: str) -> None:
    """Four drives of 1,000 GB in RAID 10 were ordered: 2,000 GB."""
    all_disks: Value = Quantity(disks_gb * 1e9, "bytes", Origin.DETECTED, "9 disks")

    assert statuses({"path.disks_gb": all_disks})["capacity.gb"] == (status, 2e12, disks_gb * 1e9)


SERVER = ("machine.sockets=2", "machine.cores=12", "machine.ghz=3.5")
SE2 = ("license.product=se2",)
EE = ("license.product=ee", "machine.cores_per_socket=6", "machine.cpu_model=Intel(R) Xeon(R) Gold 6338")
PER_SOCKET = "machine.cores_per_socket"


@pytest.mark.parametrize(
    ("ordered", "delivered", "key", "said"),
    [
        ((), ["machine.guest=yes"], "machine.cores", "uncertain: of a guest, not of its server"),
        (("machine.guest=yes",), ["machine.guest=yes"], "machine.cores", "as ordered"),
        (("machine.guest=no",), ["machine.guest=yes"], "machine.guest", "different"),
        ((), ["machine.ghz=2.27"], "machine.ghz", "slower: 65 %"),  # 2.27 / 3.5
        ((), ["machine.ghz=3.49"], "machine.ghz", "as ordered"),
        (("machine.socket_capacity=2",), [], "machine.socket_capacity", "unknown: not detected"),
        (SE2, ["machine.sockets=4"], "machine.sockets", "more: +2; Oracle Database Standard Edition 2 is not perm"),
        (("license.product=se2",), ["machine.cores=24"], "machine.cores", "more: +12"),
        ((), ["machine.sockets=4"], "machine.sockets", "more: +2"),
        (("license.product=se2", "machine.sockets=1"), ["machine.sockets=2"], "machine.sockets", "licenses count"),
        (EE, ["machine.cores_per_socket=12", "machine.cores=24"], PER_SOCKET, "more: +6; licenses count them"),
        (EE, ["machine.sockets=1", "machine.cores_per_socket=12"], PER_SOCKET, "more: +6"),  # as many cores
    ],
)
def test_the_processors_of_a_server(ordered: tuple[str, ...], delivered: list[str], key: str, said: str) -> None:
    """Enterprise Edition counts cores, Standard Edition 2 the sockets of servers that are built for two."""
    order = {**parse_settings(SERVER), **parse_settings(ordered)}
    found = delivered_sizing({**parse_settings(SERVER), **parse_settings(delivered)}, None, shipped())

    part = next(one for one in delivered_parts(size(order), found, shipped()) if one.key == key)

    text = " ".join(str(delivery_table([part]).rows[0][-1]).split())
    assert text == said or (len(said) > 12 and said in text)


def test_another_clock_than_the_base_clock_is_no_missing_one() -> None:
    highest: Value = Quantity(3.0e9, "Hz", Origin.DETECTED, "cpuinfo_max_freq", caveats=("the base may be lower",))

    assert statuses({"machine.ghz": highest}, ("machine.ghz=3.5",))["machine.ghz"] == ("uncertain", 3.5e9, 3.0e9)


def test_keys_of_the_order_that_are_not_compared_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = '"machine.cores" = 12\n"path.stages" = "hba:fc32"\n"value.system_usd" = 3000\n"license.product" = "ee"\n'
    order = tmp_path / "order.toml"
    order.write_text(f'schema = "sizeup.candidate/1"\n[inputs]\n{settings}', encoding="utf-8")
    against = ["size", "--machine", "none", "--set", "machine.cores=12", "--against", str(order)]

    assert cli.run(against) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Not compared: value.system_usd"
    assert cli.run([*against, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["not_compared"] == ["value.system_usd"]


def test_a_measurement_whose_interval_reaches_the_order_is_as_ordered() -> None:
    measured: Value = Quantity(39_000, "1/s", Origin.MEASURED, "step", low=38_000, high=41_000)

    assert statuses({"capacity.iops": measured})["capacity.iops"][0] == "as ordered"


@pytest.mark.parametrize(
    ("value", "uncertainty", "status"),
    [
        (30_000, Uncertainty(None, "others took 83 % of the CPUs", upper=True), "uncertain"),
        (30_000, Uncertainty(35_000, "throughput was not steady", upper=True), "slower"),
        (30_000, Uncertainty(45_000, "throughput was not steady", upper=True), "uncertain"),
        (50_000, Uncertainty(2_000, "a cache may hold the file"), "uncertain"),
        (50_000, Uncertainty(45_000, "throughput was not steady"), "as ordered"),
        (50_000, Uncertainty(None, "others took 83 % of the CPUs", upper=True), "as ordered"),
    ],
)
def test_what_an_uncertainty_leaves_open_is_neither_as_ordered_nor_slower(
    value: float, uncertainty: Uncertainty, status: str
) -> None:
    """40,000 IOPS were ordered."""
    measured: Value = Quantity(value, "1/s", Origin.MEASURED, "step", uncertainties=(uncertainty,))

    assert statuses({"capacity.iops": measured})["capacity.iops"][0] == status


def test_the_drives_of_a_server_are_counted_where_nothing_hides_them() -> None:
    """Two drives of 1,000 GB of the 4 that were ordered, in RAID 0: 2,000 GB of the 2,000 of 4 drives in RAID 10."""
    *drives, volume = NVME.block_devices
    striped = replace(volume, raid_level="raid0", members=tuple(one.name for one in drives))
    machine = replace(NVME, block_devices=(*drives, striped))
    found = statuses({}, (*ORDER, "array.drive=nvme-pcie4"), machine)

    assert found["array.disks"] == ("missing", 4, 2)
    assert found["array.disk_gb"] == ("as ordered", 1e12, 1e12)
    assert found["array.drive"] == ("as ordered", "nvme-pcie4", "nvme")
    assert found["array.raid"] == ("different", "10", "0")
    assert found["capacity.gb"] == ("as ordered", 2e12, 2e12)

    one = replace(machine, block_devices=(drives[0],))
    assert statuses(parse_settings(["array.raid=10"]), machine=one)["array.disks"] == ("missing", 4, 1)

    behind_an_array = statuses({}, machine=fibre_channel(port("host1"), port("host2"), port("host3")))
    assert behind_an_array["array.disks"] == ("unknown", 4, None)
    assert behind_an_array["path.stages.ports"] == ("more", 2, 3)


@pytest.mark.parametrize(
    ("found", "status"),
    [
        ("Intel(R) Xeon(R) Gold 6426Y", "as ordered"),
        ("Intel(R) Xeon(R) Gold 6430", "different"),
        ("Xeon", "unknown"),
    ],
)
def test_a_processor_is_known_by_its_name(found: str, status: str) -> None:
    order = ("machine.cpu_model=Intel Xeon Gold 6426Y", "machine.threads_per_core=2")
    here = parse_settings([f"machine.cpu_model={found}", "machine.threads_per_core=1"])

    assert statuses(here, order)["machine.cpu_model"][0] == status
    assert statuses(here, order)["machine.threads_per_core"] == ("missing", 2, 1)


def test_more_cores_than_ordered_are_named_as_licenses_count_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """256 - 21 = 235."""
    monkeypatch.chdir(tmp_path)
    Path("order.toml").write_text('schema = "sizeup.candidate/1"\n[inputs]\n"machine.cores" = 21\n')
    against = ["size", "--machine", "none", "--set", "machine.cores=256", "--against", "order.toml"]
    assert cli.run(against) == 0

    first, *_, row = capsys.readouterr().out.splitlines()
    assert first == "Delivered: 1 of 2 more"
    assert "more: +235; licenses count them" in row
    assert cli.run([*against, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == {"as ordered": 1, "more": 1}


def test_the_unit_is_that_of_both_figures() -> None:
    here = size(parse_settings(["machine.memory_gib=256"]))
    parts = {one.key: one for one in delivered_parts(size(parse_settings(ORDER)), here, shipped())}

    assert (parts["machine.memory_gib"].ordered, parts["machine.memory_gib"].unit) == (256 * 2**30, "bytes")
    assert (parts["path.bandwidth_mb_s"].ordered, parts["path.bandwidth_mb_s"].unit) == (6.4e9, "bytes/s")


def test_ports_that_are_down_are_delivered_and_not_usable() -> None:
    """Two ports were ordered; the bandwidth of another controller is none of theirs."""
    machine = fibre_channel(port("host1", "Linkdown"), port("host2", "Linkdown"))
    raid = Hba("host0", Transport.RAID, state="running")
    machine = replace(machine, hbas=(*machine.hbas, raid), budgets=(*machine.budgets, budget("host0", 7e9)))
    one_up = replace(machine, hbas=(port("host1"), *machine.hbas[1:]))

    parts = {one.key: one for one in delivered(machine)}
    assert (parts["path.stages.ports"].status, parts["path.stages.ports"].found) == ("down", 2)
    assert parts["path.stages.ports"].down == "host1 (Linkdown), host2 (Linkdown)"
    assert (parts["path.bandwidth_mb_s"].status, parts["path.bandwidth_mb_s"].found) == ("down", None)
    assert "down: host1 (Linkdown), host2" in " ".join(
        " ".join(table_lines(delivery_table([*parts.values()]), 200)).split()
    )
    assert "2 down" in delivery_sentence([*parts.values()])

    parts = {one.key: one for one in delivered(one_up)}
    assert parts["path.stages.ports"].down == "host2 (Linkdown)"
    assert (parts["path.bandwidth_mb_s"].status, parts["path.bandwidth_mb_s"].found) == ("missing", 800e6)
    assert not any(one.down for one in delivered(fibre_channel(port("host1"), port("host2"))))


def test_a_port_of_unknown_speed_is_not_counted_as_none() -> None:
    """Two ports of 3,200 MB/s were ordered; of one of those that were found the speed is unknown."""
    machine = replace(fibre_channel(port("host1"), port("host2")), budgets=(budget("host1", 3.2e9),))
    raid = Hba("host0", Transport.RAID, state="running")
    beside = replace(machine, hbas=(*machine.hbas, raid), budgets=(*machine.budgets, budget("host0", 7e9)))

    for one in (machine, beside):
        found = {part.key: part for part in delivered(one)}["path.bandwidth_mb_s"]
        assert (found.status, found.found) == ("uncertain", 3.2e9)
        assert "host2 online, speed unknown" in "".join(table_lines(delivery_table([found]), 200))


def delivered(machine: Machine) -> list[DeliveredPart]:
    found = delivered_sizing(described(machine, {}), machine, shipped())
    return list(delivered_parts(size(parse_settings(ORDER)), found, shipped(), machine))


@pytest.mark.ci
def test_an_order_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = ["--set", "workload.iops=1000", "workload.cpu_cores=10"]
    assert cli.run(["size", "--design", *wanted, "-o", "order.toml"]) == 0
    capsys.readouterr()
    against = ["size", "--machine", "none", "--against", "order.toml"]
    assert cli.run([*against, "--set", "machine.cores=10", "--json"]) == 0
    parts = {one["key"]: one for one in json.loads(capsys.readouterr().out)["parts"]}
    assert (parts["machine.cores"]["ordered"], parts["machine.cores"]["status"]) == (15, "missing")  # 10 / 0.7 = 14.3
    assert cli.run([*against, "--set", "machine.cores=10"]) == 0
    assert "missing: 5" in capsys.readouterr().out

    Path("found.toml").write_text('schema = "sizeup.candidate/1"\n[inputs]\n"machine.cores" = 20\n')
    assert cli.run(["size", "--machine", "found.toml", *against[3:], "--set", "machine.cores=10", "--json"]) == 0
    parts = {one["key"]: one for one in json.loads(capsys.readouterr().out)["parts"]}
    assert (parts["machine.cores"]["ordered"], parts["machine.cores"]["found"]) == (15, 10)

    Path("order.toml").write_text('schema = "sizeup.workload/1"\n[inputs]\n')
    assert cli.run(against) == 2
    assert "order.toml: expected sizeup.candidate/1" in capsys.readouterr().err


def test_a_delivery_is_judged_by_the_workload_of_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four drives in RAID 10 give 4 x 10,000 / (0.5 + 0.5 x 2) = 26,667 IOPS; with 70 % reads it would be 30,769."""
    monkeypatch.chdir(tmp_path)
    drives = '"array.disks" = 4\n"array.raid" = "10"\n"array.drive_iops" = 10000\n'
    workload = '[workload]\n"workload.read_percent" = 50\n'
    Path("order.toml").write_text(f'schema = "sizeup.candidate/1"\n[inputs]\n{drives}{workload}')

    assert cli.run(["size", "--machine", "none", "--against", "order.toml", "--json"]) == 0
    parts = {one["key"]: one for one in json.loads(capsys.readouterr().out)["parts"]}
    assert parts["capacity.iops"]["ordered"] == pytest.approx(40_000 / 1.5)
    assert cli.run([*("size", "--machine", "none", "--against", "order.toml", "--json", "--set"), READS]) == 0
    parts = {one["key"]: one for one in json.loads(capsys.readouterr().out)["parts"]}
    assert parts["capacity.iops"]["ordered"] == 40_000


READS = "workload.read_percent=100"


def test_storage_need_not_be_as_fast_as_its_parts_but_as_the_workload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """60,382 IOPS at most 70 % used are 86,260, of 8 KiB 706.64 MB/s; two years of +50 % are 135,859.5 at 100 %.

    The ports of the order carry 781,250 IOPS, which an order says that states no workload.
    """
    monkeypatch.chdir(tmp_path)
    reads = "workload.read_percent=100"
    wanted = ["--set", "workload.iops=60382", "workload.io_kib=8", reads, "array.drive_iops=1e6", "array.disk_gb=4000"]
    assert cli.run(["size", "--design", *wanted, "path.stages=hba:fc32", "-o", "order.toml"]) == 0
    capsys.readouterr()
    against = ["size", "--machine", "none", "--against", "order.toml"]
    found = ["--set", "capacity.iops=90000", "capacity.mb_s=700"]

    assert cli.run([*against, *found, "--json"]) == 0
    parts = {one["key"]: one for one in json.loads(capsys.readouterr().out)["parts"]}
    assert (parts["capacity.iops"]["ordered"], parts["capacity.iops"]["status"]) == (
        pytest.approx(86_260),
        "as ordered",
    )
    assert parts["capacity.mb_s"]["ordered"] == pytest.approx(60_382 * 8192 / 0.7)
    assert (parts["capacity.mb_s"]["status"], parts["capacity.mb_s"]["by_workload"]) == ("missing", True)
    assert cli.run([*against, *found]) == 0
    assert "what the workload of the order needs" in capsys.readouterr().out

    years = ["workload.growth_percent=50", "workload.horizon_years=2"]
    assert cli.run([*against, *found, *years, "--json"]) == 0
    parts = {one["key"]: one for one in json.loads(capsys.readouterr().out)["parts"]}
    assert parts["capacity.iops"]["ordered"] == pytest.approx(135_859.5)
    assert parts["capacity.iops"]["status"] == "missing"

    order, table, workload = Path("order.toml").read_text().partition("[workload]")
    stated = '"capacity.iops" = 95000\n'
    Path("order.toml").write_text(f"{order}{stated}{table}{workload}")
    assert cli.run([*against, *found]) == 0
    assert "95,000 IOPS  90,000 IOPS  missing: 5,000 IOPS" in capsys.readouterr().out
    assert "designed for 60,382 IOPS" in order
    Path("order.toml").write_text(order)
    assert cli.run([*against, *found, "--set", "workload.io_kib=8", reads]) == 0
    assert "781,250 IOPS  90,000 IOPS  missing: 691,250 IOPS" in capsys.readouterr().out


def test_reads_alone_leave_open_what_was_delivered_for_a_mix() -> None:
    """1,000 IOPS at most 70 % used are 1,429; 2,000 reads a second say less of half writes."""
    measured: Value = Quantity(2_000, "1/s", Origin.MEASURED, "step")
    order = (*ORDER[:4], "workload.iops=1000", "workload.io_kib=8")

    assert statuses({"capacity.iops": measured}, (*order, READS))["capacity.iops"][0] == "as ordered"
    assert (
        statuses({"capacity.iops": measured}, (*order, "workload.read_percent=50"))["capacity.iops"][0] == "uncertain"
    )


def test_ports_limit_the_iops_that_were_ordered() -> None:
    """1 x fc8 of 800 MB/s carries 97,656 requests of 8 KiB, and the drives would give 400,000."""
    order = ("array.disks=4", "array.raid=10", "array.drive_iops=100000", READS, "path.stages=hba:fc8")
    measured: Value = Quantity(98_000, "1/s", Origin.MEASURED, "step")

    assert statuses({"capacity.iops": measured}, order)["capacity.iops"] == ("as ordered", 800e6 / 8192, 98_000)


def test_less_than_the_order_is_uncertain_where_the_machine_may_have_more() -> None:
    """A container shows 8 GiB, and the nodes of its host 130 GiB."""
    more = Uncertainty(130.0 * 2**30, "the nodes have more", upper=True)
    shown: Value = Quantity(8.0 * 2**30, "bytes", Origin.DETECTED, "/proc/meminfo", uncertainties=(more,))
    order = ("machine.memory_gib=96",)

    assert statuses({"machine.memory_gib": shown}, order)["machine.memory_gib"][0] == "uncertain"
    certain = replace(shown, uncertainties=())
    assert statuses({"machine.memory_gib": certain}, order)["machine.memory_gib"][0] == "missing"
