"""NFS servers that are healthy, cut off, full, or no longer export: in the lab's guest ``nfs`` only.

The server is the guest's own kernel: ``/srv/staged`` is exported here, ``/srv/filer`` is in another network
namespace, behind the interface ``to-filer``.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from plugins.direct_io.staging import assert_ended_well, command, unmount, watched

FILER = Path("/srv/filer")
EXPORTED = Path("/srv/staged")
NORMAL = "rw,async,no_root_squash,no_subtree_check,fsid=77"
pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(not os.path.ismount("/mnt/filer"), reason="needs the guest's servers"),
]


def export(options: str) -> None:
    command("exportfs", "-o", options, f"*:{EXPORTED}")
    command("exportfs", "-f")


def withdraw() -> None:
    command("exportfs", "-u", f"*:{EXPORTED}")
    command("exportfs", "-f")


@pytest.fixture(params=["3", "4.2"])
def share(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A mount of a folder that is exported for this test alone."""
    EXPORTED.mkdir(exist_ok=True)
    command("mount", "-t", "tmpfs", "-o", "size=200m", "tmpfs", str(EXPORTED))
    export(NORMAL)
    point = tmp_path / "share"
    point.mkdir()
    source = f"127.0.0.1:{EXPORTED}" if request.param == "3" else "127.0.0.1:/staged"
    command("mount", "-t", "nfs", "-o", f"retry=0,vers={request.param},nosharecache", source, str(point))
    yield point
    export(NORMAL)
    unmount(point)
    withdraw()
    command("umount", "--lazy", str(EXPORTED))  # the server lets go of a file of version 4 when its lease ends


def link(state: str) -> None:
    command("ip", "link", "set", "to-filer", state)


def server_is_empty(folder: Path, seconds: float = 90.0) -> bool:
    """Whether nothing but the profile's own file is on the server, at the latest after so long."""
    deadline = time.monotonic() + seconds
    while {path.name for path in folder.iterdir()} - {"probe"} and time.monotonic() < deadline:
        time.sleep(0.2)
    return {path.name for path in folder.iterdir()} <= {"probe"}


def test_a_healthy_server_is_direct_by_the_client_and_unknown_behind_it(share: Path, tmp_path: Path) -> None:
    told = watched(share, tmp_path / "session")

    print(told.said())
    assert told.status == 0
    # In an emulated guest no reading of the counters may come close; a caveat it is never.
    assert told.verdicts["direct"] == "pass" or "were read too late" in told.reasons()["direct"][1]
    assert told.verdicts["physical"] in {"unknown", "warn"}
    assert server_is_empty(EXPORTED)


def test_an_export_that_is_withdrawn(share: Path, tmp_path: Path) -> None:
    told = watched(share, tmp_path / "session", fault=withdraw, seconds=5)

    assert_ended_well(told, str(share), "ESTALE", "mount it again")
    print(f"on the server then: {os.listdir(EXPORTED)}")
    export(NORMAL)
    print(f"on the server a second after it was exported again: {time.sleep(1)} {os.listdir(EXPORTED)}")


def test_an_export_that_becomes_read_only(share: Path, tmp_path: Path) -> None:
    told = watched(share, tmp_path / "session", fault=lambda: export(NORMAL.replace("rw", "ro")), seconds=5)

    assert_ended_well(told, str(share), "EROFS", "read-only")


def test_a_server_whose_disk_runs_full(tmp_path: Path) -> None:
    eater = Path("/srv/ram/eater")
    eating = threading.Event()

    def eat() -> None:
        with eater.open("wb", buffering=0) as file:
            while not eating.wait(0.01):
                with suppress(OSError):
                    file.write(bytes(1 << 20))

    thread = threading.Thread(target=eat)
    try:
        told = watched(
            "/mnt/v42", tmp_path / "session", fault=thread.start, times=2, preset="load", size="160M", ramps=5
        )
    finally:
        eating.set()
        thread.join()
        eater.unlink()

    assert_ended_well(told, "/mnt/v42", "ENOSPC", "full")
    assert server_is_empty(Path("/srv/ram"))


def test_a_server_that_is_cut_off_from_a_hard_mount(tmp_path: Path) -> None:
    try:
        told = watched(
            "/mnt/filer", tmp_path / "session", fault=lambda: link("down"), stall=3, seconds=20
        )  # fmt: skip
    finally:
        link("up")

    assert told.status == 1
    assert "/mnt/filer: stalled: no request completed for" in told.words
    print(f"processes left: {told.left}")
    assert server_is_empty(FILER)


def test_a_server_that_is_cut_off_from_a_soft_mount(tmp_path: Path) -> None:
    point = tmp_path / "soft"
    point.mkdir()
    command(
        "mount", "-t", "nfs", "-o", "vers=4.2,soft,timeo=10,retrans=1,nosharecache,retry=0", "192.0.2.2:/", str(point)
    )
    try:
        told = watched(point, tmp_path / "session", fault=lambda: link("down"), stall=12, seconds=60)
    finally:
        link("up")
        unmount(point)

    assert_ended_well(told, str(point))
    # By how long the client tries: the first error comes before the limit, or not.
    assert "stalled: no request completed for 12" in told.words or "no request succeeded for 12" in told.words
    assert server_is_empty(FILER)


@pytest.mark.parametrize("whom", ["worker", "run"])
def test_a_kill_leaves_nothing_on_the_server(share: Path, tmp_path: Path, whom: str) -> None:
    def kill() -> None:
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                words = Path("/proc", name, "cmdline").read_bytes()
                if (b"probing.worker" in words) if whom == "worker" else (b"--batch" in words):
                    os.kill(int(name), signal.SIGKILL)

    told = watched(share, tmp_path / "session", fault=kill, seconds=20)

    assert told.left == []
    assert server_is_empty(EXPORTED)
