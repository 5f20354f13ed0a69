"""A path that is lost while I/O runs is noticed, recorded, and told beside the figures."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from plugins.direct_io.small_runs import run, step
from sizeup.errors import SizeupError
from sizeup.model.machine import Gap
from sizeup.model.sample import Estimate, Samples
from sizeup.probing.api import Emission
from sizeup_direct_io import disks
from sizeup_direct_io import measure as measure_module
from sizeup_direct_io import run as run_module
from sizeup_direct_io.disks import PathWatch, StateChange, find_path_files

FC = "devices/virtual/net/fc{n}/ctlr_0/host1{n}"
LUN = FC + "/rport-1{n}:0-0/target1{n}:0:0/1{n}:0:0:0"
NUMBER = os.makedev(253, 0)


def put(root: Path, name: str, text: str = "") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def link(root: Path, name: str, target: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(root / target)


@pytest.fixture
def multipath(tmp_path: Path) -> Path:
    """A map of two SCSI devices, each behind an FC port of its own."""
    for n, disk in enumerate(("sdk", "sdl")):
        lun, host = LUN.format(n=n), FC.format(n=n)
        put(tmp_path, f"{lun}/state", "running\n")
        put(tmp_path, f"{lun}/block/{disk}/stat")
        link(tmp_path, f"{lun}/block/{disk}/device", lun)
        put(tmp_path, f"{host}/rport-1{n}:0-0/fc_remote_ports/rport-1{n}:0-0/port_state", "Online\n")
        put(tmp_path, f"{host}/fc_host/host1{n}/port_state", "Online\n")
        link(tmp_path, f"class/fc_host/host1{n}", f"{host}/fc_host/host1{n}")
        rport = f"rport-1{n}:0-0"
        link(tmp_path, f"class/fc_remote_ports/{rport}", f"{host}/{rport}/fc_remote_ports/{rport}")
        link(tmp_path, f"devices/virtual/block/dm-0/slaves/{disk}", f"{lun}/block/{disk}")
    link(tmp_path, "dev/block/253:0", "devices/virtual/block/dm-0")
    return tmp_path


def test_the_paths_of_a_multipath_map_are_its_devices_and_the_fc_ports_on_the_way(multipath: Path) -> None:
    assert list(find_path_files(NUMBER, sysfs=str(multipath))) == [
        "sdk (SCSI device)",
        "host10 (FC port)",
        "rport-10:0-0 (FC remote port of sdk)",
        "sdl (SCSI device)",
        "host11 (FC port)",
        "rport-11:0-0 (FC remote port of sdl)",
    ]


def test_an_iscsi_session_is_a_path_and_a_partition_has_those_of_its_disk(tmp_path: Path) -> None:
    lun = "devices/platform/host15/session1/target15:0:0/15:0:0:0"
    put(tmp_path, f"{lun}/state", "running")
    put(tmp_path, f"{lun}/block/sdi/sdi1/partition", "1")
    link(tmp_path, f"{lun}/block/sdi/device", lun)
    put(tmp_path, "class/iscsi_session/session1/state", "LOGGED_IN")
    link(tmp_path, "dev/block/253:0", f"{lun}/block/sdi/sdi1")

    files = find_path_files(NUMBER, sysfs=str(tmp_path))
    assert list(files) == ["sdi (SCSI device)", "session1 (iSCSI session of sdi)"]


def test_nvme_has_its_controllers_and_what_each_says_of_the_namespace(tmp_path: Path) -> None:
    subsystem = "devices/virtual/nvme-subsystem/nvme-subsys0"
    for n in (0, 1):
        controller = f"devices/pci0000:00/0000:0{n}:00.0/nvme/nvme{n}"
        put(tmp_path, f"{controller}/state", "live")
        put(tmp_path, f"{controller}/nvme0c{n}n1/ana_state", "optimized")
        put(tmp_path, f"{controller}/nvme0c{n}n2/ana_state", "inaccessible")
        link(tmp_path, f"{subsystem}/nvme{n}", controller)
    put(tmp_path, f"{subsystem}/nvme0n1/stat")
    link(tmp_path, f"{subsystem}/nvme0n1/device", subsystem)
    link(tmp_path, "dev/block/253:0", f"{subsystem}/nvme0n1")

    assert list(find_path_files(NUMBER, sysfs=str(tmp_path))) == [
        "nvme0 (NVMe controller)",
        "nvme0c0n1 (NVMe path)",
        "nvme1 (NVMe controller)",
        "nvme0c1n1 (NVMe path)",
    ]


def test_a_single_nvme_drive_has_one_controller(tmp_path: Path) -> None:
    controller = "devices/pci0000:00/0000:00:05.0/nvme/nvme3"
    put(tmp_path, f"{controller}/state", "live")
    put(tmp_path, f"{controller}/nvme3n1/stat")
    link(tmp_path, f"{controller}/nvme3n1/device", controller)
    link(tmp_path, "dev/block/253:0", f"{controller}/nvme3n1")

    assert list(find_path_files(NUMBER, sysfs=str(tmp_path))) == ["nvme3 (NVMe controller)"]


def test_what_lies_on_no_block_device_has_no_paths(tmp_path: Path) -> None:
    assert find_path_files(NUMBER, sysfs=str(tmp_path)) == {}


class States:
    """Paths whose states a test changes, and a clock that it moves."""

    def __init__(self, **states: str | None) -> None:
        self.states: dict[str, str | None] = dict(states)
        self.seconds = 100.0
        self.reads = 0

    def read(self, file: str) -> str | None:
        self.reads += 1
        return self.states[file]

    def watch(self) -> PathWatch:
        return PathWatch({path: path for path in self.states}, now=lambda: self.seconds, read=self.read)


def test_states_are_read_once_a_second_and_what_changed_is_told_once() -> None:
    states = States(a="running\n", b="running\n")
    watch = states.watch()
    states.states["b"] = "transport-offline\n"
    for _ in range(5):
        watch.poll()
    soon = states.reads
    states.seconds += 1.0
    watch.poll()

    assert soon == 2
    assert watch.changes == [StateChange("b", "running", "transport-offline", 101.0)]
    assert [gap.subject for gap in watch.gaps()] == ["io.direct: path b"]
    assert list(watch.gaps()) == []
    assert watch.down == ("b: transport-offline",)
    assert str(watch.changes[0]) == "path b went from running to transport-offline at 00:01:41 UTC"


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        ("running", "offline", True),
        ("running", "blocked", True),
        ("Online", "Linkdown", True),
        ("live", "connecting", True),
        ("live", None, True),
        ("optimized", "inaccessible", True),
        ("LOGGED_IN", "FAILED", True),
        ("optimized", "non-optimized", False),
        ("offline", "running", False),
        ("connecting", "live", False),
        ("blocked", "transport-offline", False),
    ],
)
def test_a_path_is_lost_when_it_carried_data_and_no_longer_does(before: str, after: str | None, lost: bool) -> None:
    states = States(a=before)
    watch = states.watch()
    states.states["a"] = after
    watch.poll(at_once=True)

    assert [change.lost for change in watch.changes] == [lost]


@pytest.fixture
def watched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, States]:
    states = States(sdk="running", sdl="running")
    monkeypatch.setattr(disks, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(run_module, "PathWatch", lambda _: states.watch())
    return folder, states


def losing(emissions: Sequence[Emission] | object, lose: Callable[[], None]) -> list[Emission]:
    """All emissions; the fault comes with the first sample."""
    found: list[Emission] = []
    for emission in emissions:  # type: ignore[attr-defined]
        if isinstance(emission, Samples) and not any(isinstance(one, Samples) for one in found):
            lose()
        found.append(emission)
    return found


def test_a_path_lost_in_a_run_is_a_gap_a_caveat_of_its_point_and_in_the_conclusion(
    watched: tuple[Path, States],
) -> None:
    folder, states = watched
    emissions = losing(run(step(folder, depth=1, ramps=2)), lambda: states.states.update(sdl="offline"))

    (gap,) = [e for e in emissions if isinstance(e, Gap) and "path sdl" in e.subject]
    assert gap.reason.startswith("went from running to offline at 00:01:40 UTC: later figures")
    first = next(e for e in emissions if isinstance(e, Estimate) and e.series == "iops")
    assert any("path sdl went from running to offline" in caveat for caveat in first.caveats)
    overall = [e for e in emissions if isinstance(e, Estimate) and e.at == {"part": "all"}][-1]
    assert "path sdl went from running to offline" in str(overall.extra["evidence"])


def test_paths_that_stay_are_not_mentioned(watched: tuple[Path, States]) -> None:
    folder, _ = watched
    emissions = list(run(step(folder, depth=1)))

    assert [e for e in emissions if isinstance(e, Gap) and "path" in e.subject] == []
    assert not any("path s" in caveat for e in emissions if isinstance(e, Estimate) for caveat in e.caveats)


def test_paths_that_were_down_before_the_run_are_told(watched: tuple[Path, States]) -> None:
    folder, states = watched
    states.states["sdk"] = "offline"
    emissions = list(run(step(folder, depth=1)))

    assert Gap("io.direct: paths down before the run", "sdk: offline") in emissions


def test_what_a_run_fails_with_names_the_path_that_was_lost_before(
    watched: tuple[Path, States], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, states = watched
    states.states["sdk"] = "offline"

    def fail(*_: object) -> None:
        states.states |= {"sdk": "running", "sdl": "offline"}
        raise SizeupError("no request succeeded for 5.0 s")

    monkeypatch.setattr(measure_module._Sampler, "check", fail)
    found: list[Emission] = []

    def collect() -> None:
        found.extend(run(step(folder, depth=1, check_concurrency=False)))

    with pytest.raises(SizeupError, match="path sdl went from running to offline at") as failed:
        collect()
    assert "path sdk" not in str(failed.value), "it came back"
