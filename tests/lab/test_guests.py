"""In virtual machines with hardware that no build host has: ours against the guest's own tools.

``$SIZEUP_LAB`` is a folder with ``run-guest`` and its ``profiles``; the profiles beside this file are
added to them. Run by hand: ``pytest -m lab tests/lab``; a guest takes 10 s to 2 min.
"""

import json
import re
import shutil
import xml.etree.ElementTree as ET
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lab.guest import LAB, fill_site, run_guest, skip_without_lab
from sizeup.discovery.machine import discover
from sizeup.sizing.advise import described, size

pytestmark = pytest.mark.lab

HERE = Path(__file__).parent
MEMORY_FINDINGS = {"memory.exhausted-node", "memory.one-sided-growth"}


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab with our profiles added, and a folder for the guest with the program in it."""
    skip_without_lab()
    root = tmp_path_factory.mktemp("lab")
    for name in ("run-guest", "guest-init.sh"):
        shutil.copy(LAB / name, root / name)
    shutil.copytree(LAB / "profiles", root / "profiles")
    for profile in (HERE / "profiles").iterdir():
        shutil.copy(profile, root / "profiles" / profile.name)
    fill_site(root / "in/site")
    shutil.copy(HERE / "look.sh", root / "in/look.sh")
    return root


@cache
def _looked(bench: Path, profile: str) -> Path:
    return run_guest(profile, bench / "in", bench / "out" / profile, "sh", "-eu", "look.sh", profile, lab=bench)


class Guest:
    """What came back from one guest."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.ours: dict[str, Any] = self.json("detect.json")

    def json(self, name: str) -> Any:
        return json.loads((self.out / name).read_text(encoding="utf-8"))

    def text(self, name: str) -> str:
        return (self.out / name).read_text(encoding="utf-8")

    def finding_ids(self, name: str = "detect.json") -> set[str]:
        return {finding["id"] for finding in self.json(name)["findings"]}


@pytest.fixture(params=["numa2", "numa4", "hba", "nfs", "pages", "cyclops"])
def guest(request: pytest.FixtureRequest, bench: Path) -> Guest:
    return Guest(_looked(bench, request.param))


def one(bench: Path, profile: str) -> Guest:
    return Guest(_looked(bench, profile))


def test_counts_equal_lstopo(guest: Guest) -> None:
    types = Counter(item.get("type") for item in ET.fromstring(guest.text("lstopo.xml")).iter("object"))

    counts = guest.ours["counts"]
    assert (counts["packages"], counts["cores"], counts["pus"]["allowed"]) == (
        types["Package"], types["Core"], types["PU"],
    )  # fmt: skip
    used = [node for node in guest.ours["numa"]["nodes"] if node["memory_bytes"] or node["pus"]]
    assert len(used) == types["NUMANode"]


def test_a_recording_of_the_guest_reads_back_to_it(guest: Guest) -> None:
    again = guest.json("again.json")

    for volatile in ("memory", "numa", "nfs_mounts", "hbas", "platform", "findings"):
        again.pop(volatile), guest.ours.pop(volatile)
    for device in (*again["block_devices"], *guest.ours["block_devices"]):
        device.pop("state")  # an array is active while it is written to, and clean a moment later
    assert again == guest.ours


def test_memory_findings_appear_nowhere_unasked(guest: Guest) -> None:
    assert not guest.finding_ids() & MEMORY_FINDINGS


def test_numa2_has_its_mirror_bond_and_shared_namespace(bench: Path) -> None:
    ours = one(bench, "numa2").ours

    (array,) = [device for device in ours["block_devices"] if device["kind"] == "md"]
    assert (array["raid_level"], len(array["leaves"]), array["write_spindles"]) == ("raid1", 2, 1)
    (bond,) = [nic for nic in ours["nics"] if nic["kind"] == "bond"]
    assert (bond["bond_mode"], len(bond["lower"])) == ("active-backup", 2)
    members = {nic["name"]: nic["node"] for nic in ours["nics"] if nic["name"] in bond["lower"]}
    assert set(members.values()) == {0, 1}
    (shared,) = [found for found in ours["maps"] if len(found["paths"]) == 2]
    assert {path["node"] for path in shared["paths"]} == {0, 1}
    assert [node["distances"] for node in ours["numa"]["nodes"]] == [[10, 21], [21, 10]]
    theirs = one(bench, "numa2").json("nvme.json")["Devices"]
    assert {n["name"] for n in ours["nvme_namespaces"]} == {d["DevicePath"].removeprefix("/dev/") for d in theirs}


def test_numa4_has_its_odd_nodes_and_offline_cpu(bench: Path) -> None:
    ours = one(bench, "numa4").ours
    nodes = {node["os_id"]: node for node in ours["numa"]["nodes"]}

    assert ours["counts"]["pus"]["online"] == ours["counts"]["pus"]["present"] - 1
    assert nodes[3]["memory_bytes"] == 0
    assert nodes[3]["kind"] == "none"
    assert nodes[4]["pus"] == []


def test_hba_traces_fibre_channel_and_iscsi_paths(bench: Path) -> None:
    ours = one(bench, "hba").ours

    paths = {
        tuple(sorted({path["transport"] for path in found["paths"]})): sorted(p["target"] for p in found["paths"])
        for found in ours["maps"]
        if len(found["paths"]) == 2
    }
    assert set(paths) == {("fcoe",), ("iscsi",)}
    assert paths["iscsi",] == ["127.0.0.1:3260", "127.0.0.2:3260"]
    assert paths["fcoe",] == ["200002000000fc10", "200002000000fc11"]
    transports = Counter(hba["transport"] for hba in ours["hbas"])
    assert transports["fcoe"] == 4
    assert {"raid", "sas", "spi", "virtio", "sata", "iscsi"} <= set(transports)


def test_nfs_mounts_equal_nfsstat(bench: Path) -> None:
    guest = one(bench, "nfs")
    ours = {mount["mount_point"]: mount for mount in guest.ours["nfs_mounts"]}

    theirs = dict(re.findall(r"^(\S+) from \S+\n Flags:\s*(\S+)", guest.text("nfsstat"), re.MULTILINE))
    assert set(ours) == set(theirs)
    for where, flags in theirs.items():
        options = dict(flag.partition("=")[::2] for flag in flags.split(","))
        assert ours[where]["version"] == options["vers"]
        assert ours[where]["read_size_bytes"] == int(options["rsize"])
        assert ours[where]["hard"] == ("hard" in options)
    assert {where: mount["transports"] for where, mount in ours.items()}["/mnt/v42"] == 4


def test_pages_has_its_pools_and_firmware_figures(bench: Path) -> None:
    guest = one(bench, "pages")
    nodes = guest.ours["numa"]["nodes"]

    pools = [{pool["page_bytes"]: pool["total"] for pool in node["huge_pages"]} for node in nodes]
    assert [pool[2 << 20] for pool in pools] == [64, 192, 0]
    assert [pool[1 << 30] for pool in pools] == [0, 1, 0]
    assert [node["access"]["read_latency_ns"] for node in nodes] == [80, 80, 250]
    assert nodes[2]["pus"] == []
    assert "memory.uneven-huge-pages" in guest.finding_ids()


@pytest.mark.parametrize(
    ("profile", "hypervisor"), [("numa2", "qemu"), ("numa4", "qemu"), ("pages", "qemu"), ("hba", "tcg")]
)
def test_a_guest_by_emulation_is_never_called_kvm_nor_licensed_by_its_own_cores(
    bench: Path, profile: str, hypervisor: str
) -> None:
    guest = one(bench, profile)
    platform = guest.ours["platform"]

    assert (platform["is_guest"], platform["hypervisor"]) == (True, hypervisor)
    assert platform["guest_evidence"] == "CPU flag: hypervisor"
    assert "guest under QEMU" in guest.text("detect.txt")
    licenses = size(described(discover(str(guest.out / "host.tar.gz")), {})).find("license.units")
    assert (licenses.quantity, licenses.decision) == (None, "host-unknown")


def test_cores_are_those_that_cpuinfo_alone_counts(guest: Guest) -> None:
    alone, whole = guest.json("by-cpuinfo.json")["counts"], guest.ours["counts"]

    assert guest.ours["contradictions"] == []
    assert (alone["packages"], alone["cores"]) == (whole["packages"], whole["cores"])


def test_fibre_channel_ports_without_a_link_are_told_apart_by_their_use(bench: Path) -> None:
    guest = one(bench, "hba")
    down = {finding["id"]: finding for finding in guest.json("down.json")["findings"] if finding["id"][:3] == "fc."}

    assert not any(name.startswith("fc.") for name in guest.finding_ids())
    assert set(down) == {"fc.port-down", "fc.port-unused"}
    assert len(down["fc.port-down"]["subjects"]) == 2  # both ends of the pair are ports of this guest
    assert down["fc.port-down"]["severity"] == "warning"
    assert len(down["fc.port-unused"]["subjects"]) == 1
    assert down["fc.port-unused"]["severity"] == "info"


def test_a_node_full_of_shared_memory_has_hardly_any_page_cache(bench: Path) -> None:
    document = one(bench, "pages").json("filled.json")
    (full,) = [finding for finding in document["findings"] if finding["id"] == "memory.exhausted-node"]
    node = document["numa"]["nodes"][0]

    assert full["subjects"] == ["node:0"]
    assert node["shmem_bytes"] > 2 << 30
    assert node["file_bytes"] - node["shmem_bytes"] < 64 << 20
    assert re.search(r"node 0: .* page cache [\d.]+ [KM]iB, shared memory 2\.\d+ GiB", full["evidence"][0])


def test_uneven_pools_of_two_sizes_are_two_findings(bench: Path) -> None:
    found = [item for item in one(bench, "pages").ours["findings"] if item["id"] == "memory.uneven-huge-pages"]

    assert [item["subjects"][0] for item in found] == ["pool:0:2048kB", "pool:0:1048576kB"]


def test_a_node_filled_below_five_percent_and_growth_on_one_node_are_found(bench: Path) -> None:
    guest = one(bench, "cyclops")

    assert guest.finding_ids("filled.json") & MEMORY_FINDINGS == {"memory.exhausted-node"}
    assert guest.finding_ids("since.json") == {"memory.one-sided-growth"}
    assert not guest.finding_ids("emptied.json") & MEMORY_FINDINGS
    (growth,) = guest.json("grown.json")["findings"]
    assert growth["subjects"] == ["node:1"]
