"""Two machines as one tree."""

from typing import Any

import pytest
from msgspec.structs import replace

from consoles import GIB, machine
from sizeup.compare.drift import drift
from sizeup.model.machine import Machine
from sizeup.model.network import Nic
from sizeup.model.numa import HugePages
from sizeup.model.storage import BlockDevice, BlockKind, Hba, Transport
from sizeup.views.machine.difference import compared, parts_data
from sizeup.views.machine.topology_item import ItemChange, TopologyItem, find
from trees import large_machine


def disk(name: str, serial: str | None, **more: Any) -> BlockDevice:
    return BlockDevice(name, BlockKind.SCSI, 10**12, serial=serial, node=0, **more)


def told(now: Machine, before: Machine) -> dict[str, str]:
    """Key and label of what differs, the machine as a whole left out."""
    return {part.key: part.marked_label for part in compared(now, before).parts if part.key != "machine"}


def part(now: Machine, before: Machine, key: str) -> TopologyItem:
    return find(compared(now, before).root, key)[-1]


def test_a_machine_against_itself_has_no_difference() -> None:
    large = large_machine()

    for found in (machine(), large):
        comparison = compared(found, found)
        assert comparison.parts == ()
        assert comparison.counts == "no difference"


def test_memory_that_filled_up_is_shown_but_is_no_difference() -> None:
    def with_free(gibibytes: int, pages: int) -> Machine:
        pools = (HugePages(2 << 20, 512, pages),)
        nodes = tuple(replace(node, free_bytes=gibibytes * GIB, huge_pages=pools) for node in machine().nodes)
        return machine(nodes=nodes)

    now, before = with_free(3, 0), with_free(60, 512)

    assert told(now, before) == {}
    facts = dict(part(now, before, "node:0").facts)
    assert facts["Free"] == "60 GiB (94 %) -> 3 GiB (5 %)"
    assert facts["Huge pages free"] == "512 of 2 MiB -> 0 of 2 MiB"


def test_what_came_what_went_and_what_changed_are_told_by_sign_and_word() -> None:
    before = machine(
        nics=(Nic("eth0", "physical", speed_bits_per_second=10**9, node=0), Nic("eth1", "physical", node=1))
    )
    now = machine(nics=(Nic("eth0", "physical", speed_bits_per_second=10**10, node=0), Nic("eth2", "physical", node=1)))

    assert told(now, before) == {
        "nic:eth0": "~ changed eth0: physical, 10 Gb/s",
        "nic:eth2": "+ added eth2: physical",
        "removed/nic:eth1": "- removed eth1: physical",
    }
    assert part(now, before, "nic:eth0").facts[0] == ("~ Speed", "1 Gb/s -> 10 Gb/s")
    assert compared(now, before).counts == "4 differences: +1 -1 ~2"


def test_a_disk_is_the_same_by_its_serial_number_whatever_it_is_called_today() -> None:
    before = machine(block_devices=(disk("sda", "S1"), disk("sdb", "S2")))
    now = machine(block_devices=(disk("sda", "S2"), disk("sdb", "S1"), disk("sdc", "S3")))

    assert told(now, before) == {
        "disk:sda": "~ changed sda: scsi, 1 TB",
        "disk:sdb": "~ changed sdb: scsi, 1 TB",
        "disk:sdc": "+ added sdc: scsi, 1 TB",
    }
    assert part(now, before, "disk:sda").facts[0] == ("~ Name", "sdb -> sda")


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (machine(block_devices=(disk("sda", "S1"),)), machine(block_devices=(disk("sdb", "S1"),))),
        (
            machine(hbas=(Hba("host0", Transport.FC, pci_address="0000:01:00.0"),)),
            machine(hbas=(Hba("host7", Transport.FC, pci_address="0000:01:00.0"),)),
        ),
        (
            machine(nics=(Nic("eth0", "virtio", mac="52:54:00:00:00:01"),)),
            machine(nics=(Nic("ens3", "virtio", mac="52:54:00:00:00:01"),)),
        ),
    ],
)
def test_the_tree_and_drift_know_the_same_parts_under_new_names(before: Machine, now: Machine) -> None:
    (renamed,) = (one for one in compared(now, before).parts if one.key != "machine")

    assert [one.what for one in renamed.changed] == ["Name"]
    assert drift(before, now).drifted == ()


def test_paths_to_one_unit_share_its_serial_number_and_go_by_their_names() -> None:
    two = machine(block_devices=(disk("sda", "S1"), disk("sdb", "S1")))

    assert told(two, machine(block_devices=(disk("sda", "S1"),))) == {"disk:sdb": "+ added sdb: scsi, 1 TB"}
    assert told(two, two) == {}


def test_a_device_that_moved_to_another_node_says_from_where() -> None:
    before, now = (
        machine(block_devices=(disk("sda", "S1"),)),
        machine(block_devices=(replace(disk("sda", "S1"), node=1),)),
    )

    assert part(now, before, "disk:sda").facts[0] == (
        "~ Inside", "Node 0: 4 cores, 64 GiB -> Node 1: 4 cores, 64 GiB",
    )  # fmt: skip


def test_values_of_the_document_are_whole_whatever_they_contain() -> None:
    before, now = (machine(block_devices=(disk("sda", "S1", model=model),)) for model in ("A -> B", "C"))

    (part,) = parts_data(compared(now, before))
    assert part["facts"] == [{"name": "Model", "before": "A -> B", "after": "C"}]


def test_a_part_that_came_whole_counts_once_and_marks_what_is_inside() -> None:
    now, before = machine(3, 4, 1), machine(2, 4, 1)
    added = [one for one in compared(now, before).parts if one.change is ItemChange.ADDED]

    assert [one.key for one in added] == ["package:2"]
    assert find(added[0], "core:8")[-1].marked_label == "+ added Core 8: CPU 8"


def test_the_machine_as_a_whole_lists_what_a_buyer_asks_first() -> None:
    now = machine(platform=replace(machine().platform, kernel="6.12.0"))

    facts = compared(now, machine()).root.facts
    assert facts[0] == ("~ kernel", "6.1.0 -> 6.12.0")
    assert ("Sockets", "2") in facts
    assert not any(name == "Kernel" for name, _ in facts)


def test_branches_open_where_something_differs_and_nowhere_else() -> None:
    now = machine(nics=(Nic("eth0", "physical", "ixgbe", carrier=True, node=1),))
    root = compared(now, machine()).root

    assert [child.expanded for child in root.children] == [False, True]
    same = compared(machine(), machine()).root
    assert [child.expanded for child in same.children] == [False, False]
