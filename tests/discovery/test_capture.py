"""A recording reads back to the machine it was made of, and a masked one names nobody."""

import gzip
import io
import re
import sys
import tarfile
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from recordings import expectations, recorded
from sizeup.cli import run
from sizeup.discovery import sysroot
from sizeup.discovery.anonymizer import Anonymizer
from sizeup.discovery.capture import capture
from sizeup.discovery.machine import discover
from sizeup.discovery.sysroot import ArchiveSysroot
from sizeup.errors import UsageError
from tiers import one_in
from trees import MACHINES, grow

SECRETS = (
    "S3RIAL99", "CHASSIS7", "02:00:5e:aa:bb:01", "1000000000000001", "5000000000000001", "naa.600a0b80000f1234",
    "600a0b80000f1234", "rackhost7", "filer.example", "192.0.2.7", "ledger", "hunter2", "070200C0",
)  # fmt: skip

TREE = """
/sys/class/net/eth0/address2 = 1
/sys/class/dmi/id/product_serial = CHASSIS7
/sys/class/dmi/id/product_name = Model 2S
/proc/sys/kernel/hostname = rackhost7
/proc/cmdline = root=filer.example:/boot mitigations=off token=hunter2
/proc/self/mountinfo = 36 35 0:42 / /mnt/ledger rw - nfs4 filer.example:/ledger rw,vers=4.1,addr=192.0.2.7
/proc/net/route = Iface Destination Gateway Flags RefCnt Use Metric Mask\\neth0 070200C0 00000000 1 0 0 0 FFFFFFFF 0 0 0
/sys/class/net/enx02005eaabb01/address = 02:00:5e:aa:bb:01
/sys/class/net/enx02005eaabb01/operstate = up
/sys/devices/pci0000:00/0000:00:06.0/nvme/nvme0/nvme0n1/device/serial = S3RIAL99
/sys/devices/pci0000:00/0000:00:06.0/nvme/nvme0/nvme0n1/wwid = naa.600a0b80000f1234
/sys/devices/virtual/block/dm-0/dm/uuid2 = 1
"""


def full_tree(root: Path) -> str:
    trees = ((MACHINES / f"{name}.tree").read_text() for name in ("paths-and-disks", "networks"))
    made = grow(root, "\n".join((*trees, TREE)))
    stats = (MACHINES / "mountstats.txt").read_text()
    stats = stats.replace("/mnt/with\\040blank", "/mnt/ledger").replace("filer:/data", "filer.example:/ledger")
    (root / "proc/self/mountstats").write_text(stats)
    return made


@pytest.mark.parametrize("salt", [None, b"one"], ids=["unmasked", "masked"])
@pytest.mark.parametrize("ending", one_in(3, ["tar", "tar.gz", "tar.xz"]))
def test_a_recording_reads_back_to_an_equal_machine(tmp_path: Path, salt: bytes | None, ending: str) -> None:
    file = str(tmp_path / f"host.{ending}")

    machine, count = capture(full_tree(tmp_path / "root"), file, tool="test", salt=salt)

    assert discover(file) == machine
    assert count > 20
    if salt is None:
        assert discover(str(tmp_path / "root")) == machine


def test_a_python_without_a_compression_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(tmp_path / "host.tar.xz")
    capture(full_tree(tmp_path / "root"), file, tool="test", salt=None)
    monkeypatch.setitem(sys.modules, "lzma", None)

    with pytest.raises(UsageError, match=r"has no lzma; unpack the capture to a \.tar first"):
        discover(file)
    with pytest.raises(UsageError, match=r"lzma module is not available in this Python; choose a name that ends"):
        capture("/", file, tool="test", salt=None)


@pytest.mark.parametrize("salt", one_in(2, [None, b"one"]), ids=["unmasked", "masked"])
def test_the_live_machine_reads_back_to_an_equal_machine(tmp_path: Path, salt: bytes | None) -> None:
    file = str(tmp_path / "live.tar.gz")

    machine, *_ = capture("/", file, tool="test", salt=salt)

    assert discover(file) == machine


@pytest.mark.parametrize("salt", [None, b"one"], ids=["unmasked", "masked"])
def test_what_names_the_host_is_in_an_unmasked_recording_alone(tmp_path: Path, salt: bytes | None) -> None:
    file = tmp_path / "host.tar"

    capture(full_tree(tmp_path / "root"), str(file), tool="test", salt=salt)

    content = file.read_bytes()
    assert [secret for secret in SECRETS if (secret.encode() in content) is (salt is not None)] == []
    assert b"Model 2S" in content
    assert b"mitigations=off" in content


def test_a_name_that_is_no_identity_is_masked_on_request(tmp_path: Path) -> None:
    file = tmp_path / "host.tar"
    root = full_tree(tmp_path / "root")

    told: list[tuple[Mapping[str, str], tuple[str, ...]]] = []

    def announce(masked: Mapping[str, str], lacking: tuple[str, ...]) -> None:
        assert not file.exists()
        told.append((masked, lacking))

    machine, _ = capture(
        root, str(file), tool="test", salt=b"one", also_masked=("model 2s", "not there"), announce=announce
    )

    ((masked, lacking),) = told
    assert lacking == ("not there",)
    assert {"Model 2S", "S3RIAL99"} <= set(masked.values())
    packed = file.read_bytes()
    assert masked.keys() & set(SECRETS) == set()
    assert next(new for new, old in masked.items() if old == "Model 2S").encode() in packed
    assert b"Model 2S" not in file.read_bytes()
    assert discover(str(file)) == machine


def test_the_topology_still_links_up_behind_the_mask(tmp_path: Path) -> None:
    machine, *_ = capture(full_tree(tmp_path / "root"), str(tmp_path / "host.tar"), tool="test", salt=b"one")

    (found,) = machine.maps
    ports = {hba.name: hba.port_name for hba in machine.hbas}
    assert [path.initiator for path in found.paths] == [ports["host1"], ports["host2"]]
    assert machine.nfs_mounts[0].nic == "eth0"


def test_stand_ins_keep_their_shape_and_depend_on_the_salt() -> None:
    one, other = Anonymizer(b"one"), Anonymizer(b"other")

    for value, shape in (
        ("S3RIAL99", r"[A-Z]\d[A-Z]{4}\d\d"),
        ("02:00:5e:aa:bb:01", r"02(:[0-9a-f]{2}){5}"),
        ("5000c50000000003", r"5[0-9a-f]{15}"),
        ("192.0.2.7", r"198\.1[89]\.\d+\.\d+"),
    ):
        masked = one.replacement(value)
        assert masked != value
        assert re.fullmatch(shape, masked), masked
        assert one.replacement(value) == masked
        assert other.replacement(value) != masked
    assert one.text("127.0.0.1 and ::1", mounts=True) == "127.0.0.1 and ::1"


def test_what_could_not_be_read_is_refused_again(tmp_path: Path) -> None:
    file = tmp_path / "host.tar"
    with tarfile.open(file, "w") as archive:
        for name, text in (
            ("sizeup-capture.json", '{"refused": {"/sys/class/dmi/id/product_serial": 13}}'),
            ("sys/class/dmi/id/product_serial", ""),
        ):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))

    gaps = {gap.subject: gap.reason for gap in discover(str(file)).gaps}

    assert gaps["/sys/class/dmi/id/product_serial"] == "permission denied"


def test_an_archive_of_something_else_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no archive")
    with tarfile.open(tmp_path / "other.tar", "w"):
        pass

    for name in ("notes.txt", "other.tar"):
        with pytest.raises(UsageError, match="expected"):
            ArchiveSysroot(str(tmp_path / name))


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE, b"?"])
def test_an_archive_that_unpacks_to_more_than_a_capture_is_refused_at_the_limit(
    kind: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file, a header or a member that is passed over: 3 MB took 17 s, or a gigabyte of memory."""
    monkeypatch.setattr(sysroot, "_ARCHIVE_BYTES_LIMIT", 1 << 20)
    file = tmp_path / "host.tar.gz"
    info = tarfile.TarInfo("sys/large")
    info.type, info.size = kind, 1 << 40
    with gzip.open(file, "wb") as packed:
        packed.write(info.tobuf(tarfile.GNU_FORMAT) + bytes(2 << 20))

    with pytest.raises(UsageError, match="expected a capture of at most 1 MiB unpacked, found more"):
        ArchiveSysroot(str(file))


def test_the_command_writes_once_and_says_how_to_read_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root, file = full_tree(tmp_path / "root"), str(tmp_path / "host.tar.gz")

    assert run(["capture", file, "--sysroot", root]) == 0
    assert f"sizeup detect --sysroot {file}" in capsys.readouterr().err
    assert run(["capture", file, "--sysroot", root]) == 2
    assert "already exists" in capsys.readouterr().err


@pytest.mark.ci
@pytest.mark.parametrize("name", list(expectations()) or [pytest.param("", marks=pytest.mark.skip("no recordings"))])
def test_recorded_machines_survive_being_captured_again(name: str, tmp_path: Path) -> None:
    for salt in (None, b"one"):
        file = str(tmp_path / f"again{salt}.tar")
        machine, *_ = capture(recorded(name), file, tool="test", salt=salt)
        assert discover(file) == machine


def test_a_serial_number_of_a_mebibyte_is_masked_in_seconds() -> None:
    """It took minutes: each 32 characters of the stand-in hashed the whole again."""
    anonymizer, serial, began = Anonymizer(b"salt"), "S3RIAL1 " * (1 << 17) + "END", time.process_time()

    anonymizer.learn(serial)
    masked = anonymizer.text(serial + "\n")

    assert (len(masked), masked[-1]) == (len(serial) + 1, "\n")
    assert "S3RIAL1" not in masked
    assert anonymizer.text("of another file") == "of another file"
    assert time.process_time() - began < 20
