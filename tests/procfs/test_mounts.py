"""Mount tables: octal escapes are undone, optional fields passed over, and lines that are none left out."""

import pytest

from sizeup.procfs.mounts import MountEntry, parse_mount_id, parse_mountinfo, parse_mounts

MOUNTINFO = """\
29 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
40 29 0:50 / /mnt/my\\040disk rw - nfs4 server:/x rw,vers=4.2
41 29 0:51 / /run rw shared:2 master:1 - tmpfs  rw
"""


def test_mountinfo_names_number_and_id_of_each_mount() -> None:
    assert parse_mountinfo(MOUNTINFO) == (
        MountEntry("/dev/vda", "/", "ext4", ("rw", "relatime", "discard"), "254:0", 29),
        MountEntry("server:/x", "/mnt/my disk", "nfs4", ("rw", "vers=4.2"), "0:50", 40),
        MountEntry("", "/run", "tmpfs", ("rw",), "0:51", 41),
    )


def test_the_older_table_has_neither_number_nor_id() -> None:
    assert parse_mounts("server:/x /mnt/my\\040disk nfs4 ro,vers=3 0 0\n") == (
        MountEntry("server:/x", "/mnt/my disk", "nfs4", ("ro", "vers=3")),
    )


@pytest.mark.parametrize("line", ["", "x", "29 1 254:0 / / rw ext4 /dev/vda rw", "29 1 254:0 / - ext4 /dev/vda rw"])
def test_lines_that_are_no_mounts_are_left_out(line: str) -> None:
    assert parse_mountinfo(f"{line}\n{MOUNTINFO}") == parse_mountinfo(MOUNTINFO)


@pytest.mark.parametrize(
    ("kind", "network", "local"),
    [("ext4", False, True), ("nfs4", True, False), ("fuse.sshfs", False, False), ("glusterfs", True, False)],
)
def test_a_file_system_may_leave_the_host_or_wait_for_a_process(kind: str, network: bool, local: bool) -> None:
    mount = MountEntry("source", "/mnt", kind, ())

    assert (mount.network, mount.local) == (network, local)


def test_a_descriptor_names_its_mount() -> None:
    assert parse_mount_id("pos:\t0\nflags:\t0100000\nmnt_id:\t29\nino:\t2\n") == 29
    assert parse_mount_id("pos:\t0\n") is None
