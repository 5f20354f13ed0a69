"""Which paths lead to storage, and which of them carry no data now."""

import pytest
from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount, Nic
from sizeup.model.storage import (
    BlockDevice,
    BlockKind,
    Hba,
    NvmeController,
    NvmeNamespace,
    NvmePath,
    TargetPort,
    Transport,
)
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.advise import described, size
from sizeup.sizing.storage_paths import PathBandwidth, down_devices, find_target, storage_path_bandwidths
from sizing.storage_machines import NVME, carried, fibre_channel, network, port


@pytest.mark.parametrize("state", ["Linkdown", "Offline", "Error", "Not Present"])
def test_a_fibre_channel_port_that_is_down_carries_nothing_and_is_named(state: str) -> None:
    machine = fibre_channel(port("host3"), port("host4", state))
    sizing = size(described(machine, {"machine.cores": Quantity(8, "1", Origin.USER, "--set")}))
    capacity = sizing.find("io.capacity")

    assert carried(machine) == 800e6
    assert f"down, so counted as 0: host4 ({state})" in capacity.caveats


def test_ports_that_are_all_down_leave_the_capacity_unknown_with_the_reason() -> None:
    machine = fibre_channel(port("host3", "Linkdown"), port("host4", "Linkdown"))
    capacity = size(described(machine, {"machine.cores": Quantity(8, "1", Origin.USER, "--set")})).find("io.capacity")

    assert storage_path_bandwidths(machine) == ()
    assert (capacity.decision, capacity.quantity) == ("unknown", None)
    assert "no path that is up reports its speed (down: host3 (Linkdown), host4 (Linkdown))" in capacity.verdict


@pytest.mark.parametrize("state", [None, "Online", "Unknown", "running"])
def test_a_port_that_says_nothing_of_a_fault_counts(state: str | None) -> None:
    assert carried(fibre_channel(port("host3", state))) == 800e6


@pytest.mark.parametrize(
    ("states", "carried_bytes"),
    [(("running", "running"), 1.6e9), (("running", "offline"), 8e8), (("offline", "transport-offline"), 0)],
)
def test_a_port_whose_paths_have_all_failed_carries_nothing(states: tuple[str, ...], carried_bytes: float) -> None:
    machine = fibre_channel(port("host3"), port("host4"), states=states)

    assert carried(machine) == carried_bytes
    assert carried(machine, "dm-0") == carried_bytes


def test_a_port_out_of_reach_of_every_target_carries_nothing() -> None:
    gone = port("host3", targets=(TargetPort("0x50", state="Blocked"), TargetPort("0x51", state="Not Present")))
    session = Hba("host5", Transport.ISCSI, state="running", targets=(TargetPort("iqn", state="FAILED"),))

    assert down_devices(Machine(hbas=(gone, session))) == {
        "host3": "no target port reachable: Blocked, Not Present",
        "host5": "no target port reachable: FAILED",
    }


def test_an_adapter_over_an_interface_without_link_carries_nothing() -> None:
    hba = Hba("host5", Transport.ISCSI, state="running", net_device="eth0")

    assert (
        down_devices(Machine(hbas=(hba,), nics=(Nic("eth0", "physical", carrier=False),)))["host5"] == "no link on eth0"
    )


def test_a_sas_adapter_with_nothing_attached_carries_nothing() -> None:
    assert down_devices(Machine(hbas=(Hba("host5", Transport.SAS, state="running", phys=8),))) == {
        "host5": "nothing attached"
    }


@pytest.mark.parametrize("state", ["connecting", "resetting", "dead"])
def test_a_controller_that_is_not_live_carries_nothing(state: str) -> None:
    controllers = (NVME.nvme_controllers[0], NvmeController("nvme1", "pcie", None, state=state))

    assert storage_path_bandwidths(replace(NVME, nvme_controllers=controllers)) == (
        PathBandwidth("NVMe", ("nvme0",), 2e9, "link nvme0", failure="nvme0"),
    )


def test_an_inaccessible_nvme_path_is_none_to_its_namespace() -> None:
    paths = (NvmePath("nvme0c0n1", "nvme0", "optimized"), NvmePath("nvme0c1n1", "nvme1", "inaccessible"))
    shared = NvmeNamespace("nvme0n1", None, 1, 10**12, ("nvme0", "nvme1"), paths)
    machine = replace(NVME, nvme_namespaces=(shared,))

    assert carried(machine, "nvme0n1") == 2e9


def test_a_bond_member_without_link_adds_nothing() -> None:
    members = (Nic("eth0", "physical", carrier=True), Nic("eth1", "physical", up=False))
    bond = Nic("bond0", "bond", carrier=True, lower=("eth0", "eth1"), bond_mode="802.3ad")

    assert carried(network(*members, bond)) == 1.25e9


def test_an_interface_that_is_not_up_is_not_taken_for_nfs() -> None:
    assert (
        storage_path_bandwidths(network(Nic("eth0", "physical", up=False), Nic("eth2", "physical", carrier=False)))
        == ()
    )


def test_a_path_lies_on_the_mount_that_is_closest_above_it() -> None:
    root = BlockDevice("sda", BlockKind.SCSI, 10**12, leaves=("sda",), mount_points=("/",), devno="8:0")
    data = replace(root, name="sdb", leaves=("sdb",), mount_points=("/u01",), devno="8:16")
    machine = Machine(block_devices=(root, data), nfs_mounts=(NfsMount("/backup", "filer:/vol", nic="eth0"),))

    def name(where: str, *, exact: bool = False) -> str | None:
        found = find_target(machine, where, exact=exact)
        return None if found is None else found.name

    assert [name(where) for where in ("/u01/data", "/u011", "/dev/sdb", "/backup/x")] == [
        "sdb",
        "sda",
        "sdb",
        "filer:/vol",
    ]
    assert [name(where) for where in ("/dev/sdc", "relative", "")] == [None, None, None]
    assert [name(where, exact=True) for where in ("/u01", "8:16", "/u01/data")] == ["sdb", "sdb", None]
