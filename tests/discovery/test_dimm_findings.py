"""Findings about memory modules claim what was read of them, and nothing of a guest's."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from finding_checks import GIB, ids, only
from sizeup.model.finding import Severity
from sizeup.model.machine import DimmSlot, EdacController, EdacDimm, Machine, Platform
from sizeup.procfs.smbios import NON_VOLATILE
from trees import discovered


def slot(channel: str | None, number: int, gigabytes: int | None = 32, *, rated: int = 3200, configured: int = 3200,
         kind: str = "DDR4") -> DimmSlot:  # fmt: skip
    return DimmSlot(
        f"DIMM_{number}", channel, None if gigabytes is None else gigabytes * GIB, kind if gigabytes else None,
        rated * 10**6 if gigabytes else None, configured * 10**6 if gigabytes else None, channel=channel,
    )  # fmt: skip


def channels(*gigabytes: int | None, prefix: str = "P0 CHANNEL ") -> tuple[DimmSlot, ...]:
    return tuple(slot(f"{prefix}{'ABCDEFGH'[number]}", number, size) for number, size in enumerate(gigabytes))


def edac(*gigabytes: int, kind: str = "channel {} slot 0") -> tuple[EdacController, ...]:
    modules = [
        EdacDimm(f"dimm{number}", None, kind.format(number), "Registered-DDR4", size * GIB, 0, 0)
        for number, size in enumerate(gigabytes)
    ]
    return (EdacController("mc0", dimms=tuple(modules)),)


@pytest.mark.parametrize(
    ("machine", "lines"),
    [
        (Machine(dimm_slots=channels(32, 32, 32, 32)), None),
        (Machine(dimm_slots=channels(32, 32, 32, 0)), "P0 CHANNEL D: empty"),
        (Machine(dimm_slots=(*channels(32, 32), slot("P0 CHANNEL A", 9))), "P0 CHANNEL A: 64 GiB"),
        (Machine(dimm_slots=(*channels(32, 32), *channels(16, 16, prefix="P1 CHANNEL "))), None),
        (Machine(dimm_slots=(*channels(32, 16), slot(None, 9))), None),
        (Machine(dimm_slots=(*channels(32, 16), slot("P0 CHANNEL A", 9, None))), None),
        (Machine(dimm_slots=(*channels(32, 32), slot("P0 CHANNEL A", 9, 128, kind=NON_VOLATILE))), None),
        (Machine(memory_controllers=edac(32, 32)), None),
        (Machine(memory_controllers=edac(32, 16)), "mc0 channel 1: 16 GiB"),
        (Machine(memory_controllers=edac(32, 16, kind="slot {}")), None),
        (Machine(dimm_slots=channels(32, 16), platform=Platform(is_guest=True)), None),
        (Machine(), None),
    ],
)
def test_channels_are_compared_where_every_slot_names_its_own(machine: Machine, lines: str | None) -> None:
    assert ("memory.unbalanced-channels" in ids(machine)) is (lines is not None)
    if lines is not None:
        found = only(machine, "memory.unbalanced-channels")
        assert lines in found.evidence
        assert found.severity is Severity.WARNING


def test_persistent_memory_of_edac_is_no_peer_of_the_modules_beside_it() -> None:
    (controller,) = edac(32, 32)
    persistent = EdacDimm("dimm9", None, "channel 0 slot 1", "Non-volatile-RAM", 128 * GIB, 0, 0)
    machine = Machine(memory_controllers=(replace(controller, dimms=(*controller.dimms, persistent)),))

    assert ids(machine) == []


def test_many_channels_are_cut() -> None:
    slots = tuple(slot(f"P0 CHANNEL {number}", number, number) for number in range(1, 25))

    assert only(Machine(dimm_slots=slots), "memory.unbalanced-channels").evidence[-1] == "and 14 more"


@pytest.mark.parametrize(
    ("rated", "configured", "found"), [(3200, 2933, True), (3200, 3200, False), (2933, 3200, False)]
)
def test_a_speed_below_the_rated_one_is_a_finding(rated: int, configured: int, found: bool) -> None:
    machine = Machine(dimm_slots=(slot("A", 1, rated=rated, configured=configured), slot("B", 2, 0)))

    assert ("memory.reduced-speed" in ids(machine)) is found
    if found:
        reduced = only(machine, "memory.reduced-speed")
        assert reduced.title == "Memory runs at 2,933 MT/s, its modules are rated for 3,200 MT/s"
        assert reduced.evidence == ("1 module at 2,933 MT/s of 3,200 MT/s: DIMM_1",)
        assert "92 %" in reduced.consequence


def test_a_speed_that_one_side_does_not_state_is_no_finding() -> None:
    known = slot("A", 1, rated=3200, configured=2400)

    assert ids(Machine(dimm_slots=(replace(known, rated_transfers_per_second=None),))) == []
    assert ids(Machine(dimm_slots=(replace(known, configured_transfers_per_second=None),))) == []
    assert ids(Machine(dimm_slots=(known,), platform=Platform(is_guest=True))) == []


def test_modules_of_several_sizes_are_counted() -> None:
    mixed = (slot(None, 1, 32), slot(None, 2, 32), slot(None, 3, 16), slot(None, 4, 0), slot(None, 5, None))

    assert only(Machine(dimm_slots=mixed), "memory.mixed-modules").evidence == ("modules: 1 × 16 GiB, 2 × 32 GiB",)
    assert ids(Machine(dimm_slots=mixed[:2])) == []
    assert ids(Machine(dimm_slots=(mixed[0], slot(None, 9, 128, kind=NON_VOLATILE)))) == []
    assert ids(Machine(memory_controllers=edac(32, 16, kind="slot {}"))) == ["memory.mixed-modules"]


def test_errors_are_counted_with_their_modules_and_their_time() -> None:
    modules = (EdacDimm("dimm0", "P0_A1", correctable_errors=7), EdacDimm("dimm1", correctable_errors=0))
    controller = EdacController("mc0", None, 7, 0, 86400 * 3, modules)

    found = only(Machine(memory_controllers=(controller,)), "memory.correctable-errors")

    assert found.title == "Memory had 7 correctable errors"
    assert found.evidence == ("mc0: 7 in 3 days", "mc0 dimm0 (P0_A1): 7")


def test_lost_data_is_critical_and_unknown_counts_are_nothing() -> None:
    lost = Machine(memory_controllers=(EdacController("mc0", uncorrectable_errors=1),))

    assert only(lost, "memory.uncorrectable-errors").severity is Severity.CRITICAL
    assert ids(Machine(memory_controllers=(EdacController("mc0"),))) == []


def test_the_counts_are_those_of_the_files(tmp_path: Path) -> None:
    edac_files = "/sys/devices/system/edac/mc/mc0/ce_count = 3\n/sys/devices/system/edac/mc/mc0/dimm0/dimm_ce_count = 3"

    assert ids(discovered(tmp_path, edac_files)) == ["memory.correctable-errors"]
