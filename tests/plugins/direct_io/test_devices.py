"""A device is written to only when nobody holds it and its name was typed."""

import os
from pathlib import Path

import pytest

from sizeup.errors import RefusedError
from sizeup.probing.devices import names_that_allow
from sizeup_direct_io.target import refuse_if_used


def fake_device(sysfs: Path, *, holders: tuple[str, ...] = (), partition: str = "") -> None:
    folder = sysfs / "devices" / "sdx"
    (folder / "holders").mkdir(parents=True)
    (folder / "dev").write_text("8:16\n")
    (folder / "ro").write_text("0\n")
    for holder in holders:
        (folder / "holders" / holder).touch()
    if partition:
        (folder / "sdx1" / "holders").mkdir(parents=True)
        (folder / "sdx1" / "partition").write_text("1\n")
        (folder / "sdx1" / "dev").write_text(partition)
    (sysfs / "dev" / "block").mkdir(parents=True)
    os.symlink(folder, sysfs / "dev" / "block" / "8:16")


def fake_proc(proc: Path, mountinfo: str = "29 1 254:0 / / rw - ext4 /dev/vda rw\n") -> None:
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "mountinfo").write_text(mountinfo)
    (proc / "swaps").write_text("Filename Type Size Used Priority\n")


def check(folder: Path) -> None:
    """Refuse the device if it is used."""
    refuse_if_used(os.makedev(8, 16), sysfs=str(folder / "sys"), proc=str(folder / "proc"))


def test_a_free_device_is_not_refused(tmp_path: Path) -> None:
    fake_device(tmp_path / "sys")
    fake_proc(tmp_path / "proc")

    check(tmp_path)


@pytest.mark.parametrize(
    ("partition", "mountinfo", "words"),
    [
        ("8:17\n", "40 1 8:17 / /data rw - ext4 /dev/sdx1 rw\n", "sdx1 is mounted on /data"),
        ("", "40 1 8:16 / /my\\040data\\012x rw - ext4 /dev/sdx rw\n", "sdx is mounted on /my data"),
    ],
    ids=["the disk under a partition", "a name cannot break the line of a refusal"],
)
def test_a_mounted_device_is_refused(partition: str, mountinfo: str, words: str, tmp_path: Path) -> None:
    fake_device(tmp_path / "sys", partition=partition)
    fake_proc(tmp_path / "proc", mountinfo)

    with pytest.raises(RefusedError, match=words) as refused:
        check(tmp_path)
    assert "\n" not in str(refused.value)


def test_a_held_device_is_refused_by_its_holders_name(tmp_path: Path) -> None:
    fake_device(tmp_path / "sys", holders=("md0",))
    fake_proc(tmp_path / "proc")

    with pytest.raises(RefusedError, match="sdx is held by md0"):
        check(tmp_path)


@pytest.mark.parametrize(
    ("spoiled", "words"),
    [
        ("proc/self/mountinfo", "unknown whether it is mounted"),
        ("proc/swaps", "unknown whether it is in use as swap"),
        ("sys/dev/block/8:16", "unknown whether it is held"),
        ("sys/devices/sdx/sdx1/dev", "sdx1 is not written to, because its device number cannot be read"),
    ],
)
def test_a_device_of_which_the_kernel_does_not_tell_whether_it_is_free_is_refused(
    spoiled: str, words: str, tmp_path: Path
) -> None:
    fake_device(tmp_path / "sys", partition="8:17\n")
    fake_proc(tmp_path / "proc")
    (tmp_path / spoiled).unlink()
    if spoiled == "proc/swaps":  # a kernel without swap has no such file
        (tmp_path / spoiled).mkdir()

    with pytest.raises(RefusedError, match=words):
        check(tmp_path)


def test_a_device_without_names_is_allowed_by_its_number_and_after_its_serial(tmp_path: Path) -> None:
    fake_device(tmp_path / "sys")

    assert names_that_allow(os.makedev(8, 16), by_id="/nowhere", sysfs=str(tmp_path / "sys")) == ("8:16",)
    (tmp_path / "sys" / "devices" / "sdx" / "serial").write_text("S3RIAL\n")
    assert names_that_allow(os.makedev(8, 16), by_id="/nowhere", sysfs=str(tmp_path / "sys")) == ("S3RIAL",)
