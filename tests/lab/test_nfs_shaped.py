"""libnfs and nfs-ganesha in two network namespaces: two links of one rate each, then a link of one rate per connection.

Run by hand: ``pytest -m lab tests/lab/test_nfs_shaped.py``; takes 5 min. Needs root, iproute2, nfs-ganesha and libnfs
(Debian: nfs-ganesha nfs-ganesha-vfs libnfs13).
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sizeup.errors import RefusedError
from sizeup_nfs.libnfs import find_library

pytestmark = pytest.mark.lab
NEAR, FAR = f"sizeup-{os.getpid()}-a", f"sizeup-{os.getpid()}-b"
ADDRESSES = ("10.98.0.2", "10.98.1.2")
RATE_BYTES = 100e6 / 8
SIZE_BYTES = 32 << 20
_GANESHA = """
NFS_CORE_PARAM {{ Protocols = 4; NFS_Port = 12049; Enable_NLM = false; Enable_RQUOTA = false; Enable_UDP = false; }}
NFSV4 {{ Graceless = true; RecoveryBackend = fs; RecoveryRoot = {folder}/run; }}
NFS_KRB5 {{ Active_krb5 = false; }}
EXPORT {{ Export_Id = 1; Path = {folder}/export; Pseudo = /export; Access_Type = RO; Squash = no_root_squash;
  Protocols = 4; SecType = sys; Transports = TCP; FSAL {{ Name = VFS; }} }}
"""


def command(*words: str) -> None:
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"{' '.join(words)}: {done.stderr.strip()}")


def make_links() -> None:
    for name in (NEAR, FAR):
        command("ip", "netns", "add", name)
        command("ip", "-n", name, "link", "set", "lo", "up")
    for number in range(len(ADDRESSES)):
        command(
            "ip", "-n", NEAR, "link", "add", f"b{number}", "type", "veth", "peer", "name", f"a{number}", "netns", FAR
        )
        for name, link, last in ((NEAR, f"b{number}", 1), (FAR, f"a{number}", 2)):
            command("ip", "-n", name, "address", "add", f"10.98.{number}.{last}/24", "dev", link)
            command("ip", "-n", name, "link", "set", link, "up")
        shape = ("tbf", "rate", "100mbit", "burst", "64k", "latency", "400ms")
        command("ip", "netns", "exec", FAR, "tc", "qdisc", "add", "dev", f"a{number}", "root", *shape)


def shape_connections() -> None:
    """Give each connection over the first link a rate of its own, by the last bits of the client's port."""
    tc = ("ip", "netns", "exec", FAR, "tc")
    command(*tc, "qdisc", "replace", "dev", "a0", "root", "handle", "1:", "htb", "default", "10")
    for number in range(8):
        shape = ("htb", "rate", "40mbit", "burst", "64k", "cburst", "64k")
        command(*tc, "class", "add", "dev", "a0", "parent", "1:", "classid", f"1:1{number}", *shape)
        match = ("match", "ip", "dport", str(number), "0x0007", "flowid", f"1:1{number}")
        command(*tc, "filter", "add", "dev", "a0", "parent", "1:", "protocol", "ip", "prio", "1", "u32", *match)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    if os.geteuid() or not all(map(shutil.which, ("ip", "tc", "ganesha.nfsd"))):
        pytest.skip("needs root, ip, tc and ganesha.nfsd")
    try:
        find_library()
    except RefusedError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("ganesha")
    (folder / "export").mkdir()
    (folder / "run").mkdir()
    content = os.urandom(SIZE_BYTES)
    (folder / "export" / "data.dbf").write_bytes(content)
    (folder / "ganesha.conf").write_text(_GANESHA.format(folder=folder))
    options = ("-F", "-f", str(folder / "ganesha.conf"), "-L", str(folder / "log"), "-p", str(folder / "pid"))
    server = None
    try:
        make_links()
        server = subprocess.Popen(["ip", "netns", "exec", FAR, "ganesha.nfsd", *options])
        wait_for_server(folder / "log")
        links = measure(folder, *ADDRESSES)
        shape_connections()
        connections = measure(folder, ADDRESSES[0])
        yield {**links, "shaped": connections, "expected": hashlib.sha256(content).hexdigest()}
    finally:
        if server is not None:
            server.terminate()
            server.wait()
        for name in (NEAR, FAR):
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def measure(folder: Path, *addresses: str) -> dict[str, Any]:
    inside = Path(__file__).with_name("nfs_shaped_inside.py")
    done = subprocess.run(
        ["ip", "netns", "exec", NEAR, sys.executable, str(inside), str(folder / "export" / "data.dbf"), *addresses],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(inside.parents[1])},
    )
    assert done.returncode == 0, done.stderr
    (folder / f"found-{len(addresses)}.json").write_text(done.stdout)
    return json.loads(done.stdout)


def wait_for_server(log: Path) -> None:
    for _ in range(600):
        if log.exists() and "NFS SERVER INITIALIZED" in log.read_text():
            return
        time.sleep(0.1)
    pytest.skip(f"nfs-ganesha does not start here: {log.read_text()[-500:] if log.exists() else 'no log'}")


def gains(found: dict[str, Any], series: str) -> dict[tuple[str, int], float]:
    """Those of libnfs over the first path, by workload and number of connections."""
    return {
        (one["workload"], one["connections"]): one["value"]
        for one in found["found"]
        if (one["series"], one["client"], one.get("over_path")) == (series, "libnfs", ADDRESSES[0])
    }


def test_libnfs_reads_the_bytes_that_the_server_has(found: dict[str, Any]) -> None:
    assert found["hash"] == found["expected"]


def test_one_connection_reads_as_fast_as_the_shaped_link(found: dict[str, Any]) -> None:
    rates = [
        one["value"]
        for one in found["found"]
        if (one["series"], one["client"], one["connections"], one["path"]) == ("rate", "libnfs", 1, ADDRESSES[0])
    ]

    assert len(rates) == 2
    assert all(0.75 * RATE_BYTES < rate <= RATE_BYTES for rate in rates)


def test_more_connections_gain_nothing_on_one_link_and_all_of_the_second_one(found: dict[str, Any]) -> None:
    on_one, on_both = gains(found, "connection-gain"), gains(found, "path-gain")

    assert set(on_one) == set(on_both) == {("random 8 KiB", 4), ("random 1 MiB", 4)}
    assert all(0.8 < gain < 1.25 for gain in on_one.values())
    assert all(1.6 < gain < 2.3 for gain in on_both.values())


def test_connections_that_each_have_a_rate_of_their_own_add_up(found: dict[str, Any]) -> None:
    assert found["shaped"]["hash"] == found["expected"]
    on_one = gains(found["shaped"], "connection-gain")

    assert set(on_one) == {("random 8 KiB", 4), ("random 1 MiB", 4)}
    assert all(3.0 < gain < 4.6 for gain in on_one.values())
