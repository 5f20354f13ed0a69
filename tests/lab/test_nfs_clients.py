"""nfs.clients in a guest with the kernel's NFS client and server: bytes, counters and words, never times.

Run by hand: ``pytest -m lab tests/lab/test_nfs_clients.py``; takes 3 to 15 min. Needs libnfs on this host too (Debian:
libnfs13), which the guest borrows.
"""

import ctypes.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lab.guest import fill_guest, run_guest, skip_without_lab

pytestmark = pytest.mark.lab
SIZE_BYTES = 32 << 20


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    skip_without_lab()
    libraries = [path for folder in ("/usr/lib", "/usr/lib64") for path in Path(folder).glob("**/libnfs.so.1[3467]")]
    if not libraries:
        pytest.skip(f"libnfs is not installed here ({ctypes.util.find_library('nfs')})")
    given = tmp_path_factory.mktemp("guest") / "in"
    fill_guest(given)
    (given / "lib").mkdir()
    shutil.copy(libraries[0], given / "lib" / libraries[0].name)
    inside = (
        "cd /tmp; LD_LIBRARY_PATH=/guest/in/lib PYTHONPATH=/guest/in/site:/guest/in/tests "
        "python3 -m lab.nfs_clients_inside >$OUT/said 2>&1; cat $OUT/said"
    )
    out = run_guest("nfs", given, tmp_path_factory.mktemp("out"), inside, minutes=25)
    return json.loads((out / "found.json").read_text())


@pytest.mark.parametrize("mount", ["v3", "v42"])
def test_both_clients_read_the_same_bytes_and_every_counter_agrees(found: dict[str, Any], mount: str) -> None:
    kernel, libnfs = found[f"{mount} kernel"], found[f"{mount} libnfs"]

    assert kernel["hash"] == libnfs["hash"] == found["expected"]
    assert (kernel["server"], libnfs["server"]) == (SIZE_BYTES, SIZE_BYTES)
    assert (kernel["mount"], libnfs["mount"]) == (SIZE_BYTES, 0)
    assert found[f"{mount} connections"] == {"v3": 1, "v42": 4}[mount]


@pytest.mark.parametrize("name", ["one", "two"])
def test_a_run_has_every_arm_and_the_mount_counts_what_the_kernels_client_asked_for(
    found: dict[str, Any], name: str
) -> None:
    run = found[f"run {name}"]
    assert run["status"] == 0, run["error"]
    estimates = json.loads(run["out"])["steps"][0]["results"]
    rates = [one for one in estimates if one["metric"] == "nfs.clients.rate"]

    assert {one["at"]["client"] for one in rates} == {"kernel", "libnfs"}
    assert all(one["value"] > 0 for one in rates)
    shares = [one["extra"]["mount_counter_share"] for one in rates if "mount_counter_share" in one["extra"]]
    assert shares
    assert all(0.9 < share < 1.1 for share in shares)
    wanted = {"connection-gain", "client-gain"} | ({"path-gain"} if name == "two" else set())
    assert {one["metric"].removeprefix("nfs.clients.") for one in estimates} >= wanted
    assert "Direct NFS is neither" in run["out"]


@pytest.mark.parametrize("name", ["local", "folder"])
def test_what_is_no_file_on_nfs_is_refused_with_its_reason(found: dict[str, Any], name: str) -> None:
    run = found[f"run {name}"]

    assert run["status"] == 3
    assert "expected a file on an NFS mount" in run["error"]
