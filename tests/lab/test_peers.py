"""In virtual machines: what sizeup reads, against the tools that people compare it with.

By hand: ``pytest -m lab tests/lab/test_peers.py``; a guest takes 30 s to 2 min.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lab.guest import fill_site, run_guest, skip_without_lab
from lab.peer_readings import (
    LSBLK,
    Readings,
    block_devices,
    flat,
    groups,
    links,
    maps,
    nested,
    number_of,
    records,
    script,
    smbios,
)

pytestmark = pytest.mark.lab


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the guests, with the program and the script."""
    skip_without_lab()
    root = tmp_path_factory.mktemp("peers")
    fill_site(root / "in/site")
    (root / "in/peers.sh").write_text(script(), encoding="utf-8")
    return root


@cache
def _asked(root: Path, profile: str) -> Readings:
    return Readings(run_guest(profile, root / "in", root / "out" / profile, "sh", "peers.sh"))


@pytest.fixture(params=["numa2", "numa4", "hba", "nfs", "pages"])
def guest(request: pytest.FixtureRequest, program: Path) -> Readings:
    return _asked(program, request.param)


def test_cores_sockets_nodes_and_caches_are_those_of_lscpu(guest: Readings) -> None:
    rows = [
        line.split(",")
        for line in guest.text("lscpu -p=CPU,CORE,SOCKET,NODE,CACHE").splitlines()
        if line and not line.startswith("#")
    ]
    ours = guest.ours
    online = {pu["cpu"] for pu in ours["pus"] if pu["online"]}

    assert {int(row[0]) for row in rows} == online
    for column, part in ((1, ours["cores"]), (2, ours["packages"])):
        assert {tuple(sorted(set(one["pus"]) & online)) for one in part} == groups(
            (int(row[0]), row[column]) for row in rows
        )
    assert {cpu: node["os_id"] for node in ours["numa"]["nodes"] for cpu in node["pus"]} == {
        int(row[0]): int(row[3]) for row in rows
    }


def test_names_memory_and_vulnerabilities_are_those_of_lscpu_and_free(guest: Readings) -> None:
    theirs, ours = flat(guest.json("lscpu -J")["lscpu"]), guest.ours

    assert ours["counts"]["pus"]["present"] == int(theirs["CPU(s)"])
    assert ours["processor"]["model"] == theirs["Model name"]
    assert ours["processor"]["vendor"] == theirs["Vendor ID"]
    assert ours["platform"]["architecture"] == theirs["Architecture"]
    found = {one["name"].replace("_", " "): one["status"] for one in ours["settings"]["vulnerabilities"]}
    # lscpu writes the first colon of a mitigation as a semicolon.
    assert {name: re.sub("^Mitigation:", "Mitigation;", status) for name, status in found.items()} == {
        name.removeprefix("Vulnerability ").lower(): text
        for name, text in theirs.items()
        if name.startswith("Vulnerability ")
    }
    total = re.search(r"^Mem:\s+(\d+)", guest.text("free -b"), re.MULTILINE)
    assert ours["memory"]["total_bytes"] == int(total[1])
    assert ours["platform"]["kernel"] == guest.text("uname -r").strip()


def test_caches_are_those_of_lscpu(guest: Readings) -> None:
    letters = {"data": "d", "instruction": "i", "unified": ""}
    sizes: dict[str, set[int]] = {}
    shared: dict[str, set[tuple[int, ...]]] = {}
    for found in guest.ours["caches"]:
        name = f"L{found['level']}{letters[found['kind']]}"
        sizes.setdefault(name, set()).add(found["size_bytes"])
        shared.setdefault(name, set()).add(tuple(found["shared_by"]))

    # Not all-size, which lscpu counts by the id of a cache: QEMU gives each CPU another for a cache that they share.
    said = (guest.json("lscpu -C -B -J") or {"caches": []})["caches"]
    assert sizes == {row["name"]: {int(row["one-size"])} for row in said}
    lines = guest.text("lscpu -p=CPU,CORE,SOCKET,NODE,CACHE").splitlines()
    (names,) = (line.rpartition(",,")[2].split(",") for line in lines if line.startswith("# CPU,"))
    rows = [(line.split(",")[0], line.split(",")[-len(names) :]) for line in lines if line and line[0] != "#"]
    assert shared == {name: groups((int(cpu), ids[at]) for cpu, ids in rows) for at, name in enumerate(names)}


def test_nodes_and_distances_are_those_of_numactl(guest: Readings) -> None:
    text, nodes = guest.text("numactl -H"), guest.ours["numa"]["nodes"]
    cpus = {
        int(n): tuple(map(int, words.split())) for n, words in re.findall(r"^node (\d+) cpus:(.*)$", text, re.MULTILINE)
    }
    sizes = {int(n): int(size) for n, size in re.findall(r"^node (\d+) size: (\d+) MB$", text, re.MULTILINE)}
    rows = re.findall(r"^\s+\d+:((?:\s+\d+)+)\s*$", text, re.MULTILINE)

    assert {node["os_id"]: tuple(node["pus"]) for node in nodes} == cpus
    assert {node["os_id"]: (node["memory_bytes"] or 0) >> 20 for node in nodes} == sizes
    assert [list(node["distances"]) for node in nodes] == [list(map(int, row.split())) for row in rows]


def _of_lsblk(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "size_bytes": int(row["size"]), "devno": row["maj:min"], "rotational": row["rota"], "read_only": row["ro"],
        "scheduler": row["sched"], "queue_depth_limit": row["rq-size"], "read_ahead_bytes": int(row["ra"]) << 10,
        "logical_block_bytes": row["log-sec"], "physical_block_bytes": row["phy-sec"],
        "mount_points": sorted(point for point in row["mountpoints"] if point and point != "[SWAP]"),
    }  # fmt: skip


def test_disks_are_those_of_lsblk(guest: Readings) -> None:
    theirs = {row["kname"]: row for row in block_devices(guest.json(LSBLK)["blockdevices"])}
    ours = {device["name"]: device for device in guest.ours["block_devices"] if device["name"] in theirs}
    # Partitions have the queue of their disk.
    queue = {"scheduler", "queue_depth_limit", "read_ahead_bytes"}

    assert set(ours) == set(theirs)
    for name, device in ours.items():
        said = _of_lsblk(theirs[name])
        mine = {key: device[key] for key in said}
        mine["mount_points"] = sorted(mine["mount_points"])
        for key in queue if device["parent"] else ():
            del said[key], mine[key]
        if said.get("scheduler", "") is None:  # lsblk knows only one in brackets, the kernel writes "none" without
            said["scheduler"] = "none" if mine["scheduler"] == "none" else None
        assert (name, mine) == (name, said)
        if theirs[name]["hctl"]:
            assert device["hctl"] == theirs[name]["hctl"]
        if device["parent"]:
            assert theirs[name]["parent"] == device["parent"]


def test_local_mounts_are_those_of_findmnt(guest: Readings) -> None:
    theirs = {
        row["target"]: (row["source"], row["fstype"], set(row["options"].split(",")))
        for row in nested(guest.json("findmnt -J --real")["filesystems"])
        if row["source"].startswith("/dev/")
    }

    assert {
        mount["mount_point"]: (mount["source"], mount["kind"], set(mount["options"]))
        for mount in guest.ours["local_mounts"]
    } == theirs


def test_nvme_is_what_nvme_cli_says(guest: Readings) -> None:
    controllers = {one["name"]: one for one in guest.ours["nvme_controllers"]}
    spaces = {one["name"]: one for one in guest.ours["nvme_namespaces"]}

    asked = guest.devices("nvme id-ctrl -o json")
    assert set(asked) == set(controllers)
    for name in asked:
        said, mine = guest.json(f"nvme id-ctrl -o json {name}"), controllers[name]
        assert (mine["model"], mine["serial"], mine["firmware"]) == tuple(said[k].strip() for k in ("mn", "sn", "fr"))
        assert (mine["controller_id"], mine["subsystem_nqn"]) == (said["cntlid"], said["subnqn"])
    asked = guest.devices("nvme id-ns -o json")
    assert set(asked) == set(spaces)
    for name in asked:
        said = guest.json(f"nvme id-ns -o json {name}")
        form = said["lbafs"][said["flbas"] & 0xF]
        assert spaces[name]["logical_block_bytes"] == 1 << form["ds"]
        assert spaces[name]["size_bytes"] == said["nsze"] << form["ds"]
        assert spaces[name]["metadata_bytes"] in (None, form["ms"])


def test_the_health_log_is_that_of_nvme_cli(guest: Readings) -> None:
    local = {one["name"]: one["health"] for one in guest.ours["nvme_controllers"] if one["transport"] == "pcie"}

    assert None not in local.values()
    for name, mine in local.items():
        said = guest.json(f"nvme smart-log -o json {name}")
        # nvme-cli writes large counters as text.
        figures = {key: int(value) for key, value in said.items()}
        assert mine["temperature_celsius"] == figures["temperature"] - 273
        assert {
            "critical_warning": mine["critical_warning"], "avail_spare": mine["spare_percent"],
            "spare_thresh": mine["spare_threshold_percent"], "percent_used": mine["used_percent"],
            "unsafe_shutdowns": mine["unsafe_shutdowns"], "media_errors": mine["media_errors"],
            "power_on_hours": mine["power_on_hours"],
        }.items() <= figures.items()  # fmt: skip
        # Others read and write in between.
        for ours, theirs in (("read_bytes", "data_units_read"), ("written_bytes", "data_units_written")):
            assert mine[ours] <= figures[theirs] * 512_000


def test_rings_and_offloads_are_those_of_ethtool(guest: Readings) -> None:
    asked = [nic for nic in guest.ours["nics"] if nic["kind"] in ("physical", "ipoib", "virtio", "bond")]

    for mine in asked:
        said = guest.of("ethtool -g", mine["name"])
        now = [re.search(rf"^{name}:\s+(\d+)", said.partition("Current")[2], re.MULTILINE) for name in ("RX", "TX")]
        theirs = [int(found[1]) for found in now if found is not None]
        assert ([mine["rings"]["receive"], mine["rings"]["send"]] if mine["rings"] else []) == theirs
        lines = dict(re.findall(r"^([a-z-]+): (on|off)", guest.of("ethtool -k", mine["name"]), re.MULTILINE))
        assert mine["offloads"]
        assert {name: "on" if on else "off" for name, on in mine["offloads"]} == {
            name: lines[name] for name, _ in mine["offloads"]
        }


def test_interfaces_are_what_ethtool_and_ip_say(guest: Readings) -> None:
    ours = {nic["name"]: nic for nic in guest.ours["nics"]}
    rows = {row["ifname"]: row for row in guest.json("ip -j -d link")}

    assert set(ours) == set(rows)
    for name, row in rows.items():
        mine = ours[name]
        assert (mine["mtu"], mine["master"]) == (row["mtu"], row.get("master"))
        assert mine["mac"] in (None, row["address"])
        if row["operstate"] in ("UP", "DOWN", "LOWERLAYERDOWN"):
            assert mine["up"] is (row["operstate"] == "UP")
    for name in guest.devices("ethtool -i"):
        said = dict(line.partition(": ")[::2] for line in guest.of("ethtool -i", name).splitlines())
        mine = ours[name]
        if mine["driver"] is not None:
            assert mine["driver"] == said["driver"]
        if mine["pci_address"] is not None and mine["kind"] == "physical":
            assert mine["pci_address"] == said["bus-info"]
        speed = re.search(r"Speed: (\d+)Mb/s", guest.of("ethtool", name))
        if mine["speed_bits_per_second"] is not None:
            assert mine["speed_bits_per_second"] == int(speed[1]) * 1_000_000
        now = guest.of("ethtool -l", name).partition("Current hardware settings:")[2]
        combined = re.search(r"Combined:\s+(\d+)", now)
        if combined is not None and int(combined[1]):
            assert (mine["receive_queues"], mine["transmit_queues"]) == (int(combined[1]),) * 2


def test_pci_is_what_lspci_says(guest: Readings) -> None:
    theirs = {record["Slot"]: record for record in records(guest.text("lspci -D -vmm -nn -k"))}
    ours = {function["address"]: function for function in guest.ours["pci"]}

    assert set(ours) == set(theirs)
    for address, record in theirs.items():
        mine = ours[address]
        assert (mine["class_code"] >> 8, mine["vendor"], mine["device"]) == tuple(
            number_of(record[key]) for key in ("Class", "Vendor", "Device")
        )
        assert mine["driver"] == record.get("Driver")
        if mine["node_origin"] == "firmware":
            assert mine["node"] == int(record["NUMANode"])
    trained = links(guest.text("lspci -D -vv"))
    mine = {
        address: (function["link"]["gigatransfers"], function["link"]["width"])
        for address, function in ours.items()
        if function["link"] is not None
    }
    assert {address: link for address, link in trained.items() if address in mine} == mine


def test_firmware_and_sockets_are_what_dmidecode_says(guest: Readings) -> None:
    text, platform = guest.text("dmidecode"), guest.ours["platform"]
    (bios,), (system,) = smbios(text, "BIOS Information"), smbios(text, "System Information")
    sockets = [one for one in smbios(text, "Processor Information") if one["Status"].startswith("Populated")]

    assert platform["firmware"] == bios["Version"]
    assert (platform["vendor"], platform["model"]) == (system["Manufacturer"], system["Product Name"])
    assert len(sockets) == guest.ours["counts"]["packages"]


def test_paths_are_those_of_multipath(guest: Readings) -> None:
    ours = {
        found["name"]: {(path["hctl"], path["device"]) for path in found["paths"]}
        for found in guest.ours["maps"]
        if found["device"].startswith("dm-")
    }

    assert ours == maps(guest.text("multipath -ll"))


def test_scsi_hosts_and_targets_are_those_of_lsscsi(guest: Readings) -> None:
    hosts = dict(re.findall(r"^\[(\d+)\]\s+(\S+)", guest.text("lsscsi -H"), re.MULTILINE))
    units = {
        hctl: (None if device == "-" else device.removeprefix("/dev/"))
        for hctl, device in re.findall(r"^\[(\d+:\d+:\d+:\d+)\].*\s(\S+)\s*$", guest.text("lsscsi -t"), re.MULTILINE)
    }

    assert {hba["name"]: hba["driver"] for hba in guest.ours["hbas"]} == {
        f"host{number}": None if driver == "<NULL>" else driver for number, driver in hosts.items()
    }
    mine = {device["hctl"]: device["block_device"] for device in guest.ours["scsi_devices"]}
    assert set(mine) == set(units)
    assert {hctl: disk for hctl, disk in mine.items() if disk} == {
        hctl: disk for hctl, disk in units.items() if mine[hctl]
    }


SYSCTLS = {
    "vm.swappiness": "swappiness", "vm.dirty_ratio": "dirty_ratio",
    "vm.dirty_background_ratio": "dirty_background_ratio", "vm.zone_reclaim_mode": "zone_reclaim_mode",
    "vm.overcommit_memory": "overcommit_memory", "vm.max_map_count": "max_map_count",
}  # fmt: skip


def test_settings_are_those_of_sysctl(guest: Readings) -> None:
    values = dict(line.split(" = ", 1) for line in guest.text("sysctl -a").splitlines() if " = " in line)

    assert {name: guest.ours["settings"][field] for name, field in SYSCTLS.items()} == {
        name: int(values[name]) for name in SYSCTLS
    }
    assert guest.ours["platform"]["numa_balancing"] is (values["kernel.numa_balancing"] != "0")
