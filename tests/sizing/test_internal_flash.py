"""Drives inside the servers of a cluster: no other server reaches them, so they hold nothing but caches."""

import pytest
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.machine import Machine, Platform
from sizeup.model.storage import Hba, Transport
from sizeup.quantity import Quantity
from sizeup.sizing.advise import Sizing, described, size
from sizeup.sizing.inputs.measured import measured
from sizeup.sizing.keys import parse_settings
from sizing.measured_sessions import FIVE, drives, ramp, session
from sizing.sized import advice, card
from sizing.storage_machines import fibre_channel, port

CLUSTER = ("cluster.nodes=2", "workload.mb_s=100", "db.gb=500")
FLASH = ("array.disks=4", "array.raid=10", "array.disk_gb=350", "array.drive=nvme-pcie4")
PORTS = fibre_channel(port("host1"), port("host2"))
BOTH = replace(FIVE, hbas=PORTS.hbas, scsi_devices=PORTS.scsi_devices, maps=PORTS.maps)
BOTH = replace(
    BOTH, block_devices=FIVE.block_devices + PORTS.block_devices, budgets=drives(5, 1e9).budgets + PORTS.budgets
)
SATA = replace(PORTS, hbas=tuple(Hba(hba.name, Transport.SATA) for hba in PORTS.hbas), maps=())


def of(machine: Machine, *settings: str) -> Sizing:
    return size(described(machine, parse_settings(settings)))


def source(found: Sizing) -> str:
    paths = found.inputs["path.bandwidth_mb_s"]
    assert isinstance(paths, Quantity)
    return paths.source


def test_flash_inside_the_servers_of_a_cluster_is_a_cache_without_raid() -> None:
    alone, both = advice("flash.use", *FLASH, "db.gb=500"), advice("flash.use", *FLASH, *CLUSTER)
    reached = advice("flash.use", *FLASH, *CLUSTER, "path.stages=hba:fc32*4")

    assert (alone.decision, both.decision, reached.decision) == ("schema", "cache", "schema")
    assert both.quantity.value == pytest.approx(500 / 1400)
    assert "--set path.stages" in both.verdict


def test_a_cache_of_one_server_has_no_raid_either() -> None:
    answer = advice("flash.use", *FLASH, "db.gb=2800")

    assert answer.decision == "cache"
    assert answer.quantity.value == 2


@pytest.mark.parametrize("links", [(), ("path.stages=flash:pcie4-x4*4",)])
def test_stated_flash_inside_the_servers_of_a_cluster_is_no_shared_storage(links: tuple[str, ...]) -> None:
    drives, space = card("storage", *CLUSTER, *FLASH, *links), card("space", *CLUSTER, *FLASH, *links)

    assert (drives.status, space.status) == ("unknown", "unknown")
    assert "inside one server of a cluster" in drives.statement
    assert "inside one server of a cluster" in space.statement
    assert card("space", *FLASH, "db.gb=500").status == "warn"
    assert card("space", *CLUSTER, *FLASH, "path.stages=hba:fc32*4").status == "warn"


@pytest.mark.parametrize("machine", [FIVE, SATA], ids=["NVMe", "SATA"])
def test_detected_drives_inside_the_servers_of_a_cluster_are_no_shared_storage(machine: Machine) -> None:
    alone, both = of(machine, *CLUSTER[1:]), of(machine, *CLUSTER)

    assert next(one for one in alone.cards if one.resource == "storage").share is not None
    storage, space = (next(one for one in both.cards if one.resource == name) for name in ("storage", "space"))
    assert (storage.status, space.status) == ("unknown", "unknown")
    assert "inside one server of a cluster" in storage.statement
    assert "path.disks_gb" not in both.inputs


def test_the_paths_that_all_servers_reach_stay() -> None:
    assert source(of(BOTH, *CLUSTER[1:])) == "NVMe nvme0, nvme1, nvme2, nvme3, nvme4"
    assert source(of(BOTH, *CLUSTER)) == "FC ports host1, host2"


def test_drives_of_a_guest_may_be_anywhere() -> None:
    assert "path.bandwidth_mb_s" in of(replace(FIVE, platform=Platform(is_guest=True)), *CLUSTER).inputs


@pytest.mark.parametrize("device", ["nvme0n1", "/u00/oradata"])
def test_a_drive_inside_one_server_is_no_place_for_the_database_of_a_cluster(device: str) -> None:
    with pytest.raises(UsageError, match=r"all servers of the cluster .* inside one of them"):
        of(FIVE, *CLUSTER, f"db.device={device}")


def test_what_was_measured_inside_one_server_is_not_of_the_cluster() -> None:
    found = session("io.direct", *ramp("dss-rand", 200e6, 201e6), machine=FIVE, path="/dev/nvme2n1")
    stated = parse_settings(CLUSTER)

    assert isinstance(measured(found, {})["path.bandwidth_mb_s"], Quantity)
    assert measured(found, stated) == {}


def test_drives_of_no_stated_kind_are_flash_only_if_they_are() -> None:
    """Two of four drives of 1,000 GB hold data in RAID 10, and the database takes half of them."""
    array = ("array.disks=4", "array.raid=10", "array.disk_gb=1000", "array.drive_iops=4000", "db.gb=1000")

    assert "50 % of the drives, if these are flash" in advice("flash.use", *array).verdict
    assert "50 % of the flash)" in advice("flash.use", *array, "array.drive=nvme-pcie4").verdict
