"""Oracle homes with Direct NFS or without, and the paths of their ``oranfstab``; nothing is asked of a server."""

from pathlib import Path

import pytest

from sizeup.cli import run
from sizeup.discovery.capture import capture
from sizeup.discovery.direct_nfs import TABLE, parse_inventory, parse_oranfstab, parse_oratab, reduced
from sizeup.discovery.machine import discover
from sizeup.discovery.sysroot import Sysroot
from sizeup.errors import MalformedError
from sizeup.model.machine import Machine
from sizeup.model.network import DirectNfsServer, OracleHome
from sizeup.views.machine.machine import machine_sections
from trees import grow

ORANFSTAB = """
# two paths to the first server
server: LedgerFiler
local: 192.0.2.11  path: 192.0.2.1
local: 192.0.3.12
path: 192.0.3.1
nfs_version: nfsv4.1
community: topsecret
dontroute
export: /vol/data1 mount: /u02/ledger security: sys
export: /vol/data2 mount: /u03/ledger/

server:second-filer.example
path:fd00:2::1
local: storage-lan
"""
TREE = """
/proc/self/mountinfo = 36 35 0:42 / /u02/ledger rw - nfs4 filer:/vol/data1 rw,addr=192.0.2.1\\n37 35 0:43 / /nfs rw - nfs filer:/homes rw
/etc/oratab = # by dbca\\nLEDG:/u01/app/oracle/19/db:Y\\n+ASM1:/u01/app/grid/:N # grid\\nOLD:/u01/app/oracle/11/db:N\\n*:/nfs/shared/home:N\\nLNK:/u01/link:Y\\nGONE:/u01/gone/by/hand:N
/etc/oraInst.loc = inventory_loc=/u01/app/oraInventory\\ninst_group=oinstall
/u01/app/oraInventory/ContentsXML/inventory.xml = <?xml version="1.0"?>\\n<HOME NAME="DB" LOC="/u01/app/oracle/19/db" TYPE="O" IDX="1">\\n<NODE_LIST><NODE NAME="secretnode"/></NODE_LIST></HOME>\\n<HOME NAME="GONE" LOC="/u01/gone" REMOVED="T"/>\\n<HOME NAME="C" LOC="/u01/client"/>
/u01/app/oracle/19/db/rdbms/lib/odm/libnfsodm19.so = elf
/u01/app/grid/rdbms/lib/odm/libopcodm19.so = object storage
/u01/app/oracle/11/db/rdbms/lib/ins_rdbms.mk = x
/u01/app/oracle/11/db/lib/libodm11.so = copied
/u01/link -> /nfs/elsewhere
"""  # noqa: E501
DB = "/u01/app/oracle/19/db"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    grow(tmp_path / "root", TREE)
    table = tmp_path / "root" / DB.lstrip("/") / "dbs/oranfstab"
    table.parent.mkdir()
    table.write_text(ORANFSTAB)
    return tmp_path / "root"


def test_homes_say_whether_direct_nfs_is_linked_and_why_not(root: Path) -> None:
    assert discover(str(root)).oracle_homes == (
        OracleHome(DB, True, None, f"{DB}/dbs/oranfstab"),
        OracleHome("/u01/app/grid", False),
        OracleHome("/u01/app/oracle/11/db", None, "copied"),
        OracleHome("/nfs/shared/home", None, "remote"),
        OracleHome("/u01/link", None, "remote"),
        OracleHome("/u01/gone/by/hand", None, "missing"),
    )


@pytest.mark.parametrize(("target", "linked"), [("libnfsodm11.so", True), ("libodm11.so_stub", False)])
def test_11g_links_the_library_in_the_place_of_the_stub(tmp_path: Path, target: str, linked: bool) -> None:
    text = f"/proc/x = 1\n/etc/oratab = A:/o:Y\n/o/rdbms/lib/x = 1\n/o/lib/{target} = 1\n/o/lib/libodm11.so -> {target}"

    assert discover(grow(tmp_path, text)).oracle_homes == (OracleHome("/o", linked),)


def test_a_directory_that_may_not_be_read_does_not_say_that_nothing_is_linked(root: Path) -> None:
    class Denied(Sysroot):
        def names(self, path: str) -> tuple[str, ...]:
            if path == "/u01/app/grid/rdbms/lib/odm":
                self.note(path, "permission denied")
                return ()
            return super().names(path)

    homes = {home.path: home for home in discover(Denied(str(root))).oracle_homes}
    assert homes["/u01/app/grid"] == OracleHome("/u01/app/grid", None, "missing")
    assert homes[DB].direct_nfs is True


def test_a_table_names_what_this_machine_has_of_it(root: Path) -> None:
    file = f"{DB}/dbs/oranfstab"
    assert discover(str(root)).direct_nfs_servers == (
        DirectNfsServer(
            "LedgerFiler",
            ("192.0.2.11", "192.0.3.12"),
            ("192.0.2.1", "192.0.3.1"),
            (("/vol/data1", "/u02/ledger"), ("/vol/data2", "/u03/ledger/")),
            missing_mount_points=("/u03/ledger/",),
            oranfstab=file,
        ),
        DirectNfsServer("second-filer.example", ("storage-lan",), ("fd00:2::1",), oranfstab=file),
    )


def test_the_table_of_the_machine_serves_homes_without_one(root: Path) -> None:
    (root / "etc/oranfstab").write_text("server: common\nlocal: fd00::5\n")
    machine = discover(str(root))

    assert {home.path: home.oranfstab for home in machine.oracle_homes if home.direct_nfs is not None} == {
        DB: f"{DB}/dbs/oranfstab",
        "/u01/app/grid": "/etc/oranfstab",
    }
    assert machine.direct_nfs_servers[0].local_addresses == ("fd00::5",)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("local: 192.0.2.1", r"line 1: expected server:, found local:"),
        ("server: a\nmount: /u02", r"line 2: expected export:, found mount:"),
        ("server: a\nexport: /v\npath: b", r"line 3: expected mount: after export:, found path:"),
        ("server: a\nexport: /v", r"expected mount: after the last export:, found the end of the file"),
        ("server: a\nserver: b\nexport: /v server: c", r"line 3: expected mount: after export:, found server:"),
        ("server: a\n\npth: 192.0.2.1", r"line 3: expected server:, local:, .* found pth:"),
        ("server: a\nLedgerFiler", r"line 2: expected .* found another word"),
        ("server: a\npath:", r"line 2: expected a value after path:, found none"),
        ("server: a\npath: local: b", r"line 2: expected a value after path:, found none"),
    ],
)
def test_a_bad_table_is_one_gap_with_its_line_in_a_masked_capture_too(
    root: Path, tmp_path: Path, text: str, found: str
) -> None:
    with pytest.raises(MalformedError, match=f"^{found}"):
        parse_oranfstab(text)
    with pytest.raises(MalformedError, match=f"^{found}"):
        parse_oranfstab(reduced(TABLE, text))
    (root / DB.lstrip("/") / "dbs/oranfstab").write_text(text)
    machine = discover(str(root))
    assert [gap.reason.partition(":")[0] for gap in machine.gaps if gap.subject.endswith("oranfstab")] == ["malformed"]
    assert machine.direct_nfs_servers == ()

    masked, *_ = capture(str(root), str(tmp_path / "host.tar"), tool="test", salt=b"one")
    assert discover(str(tmp_path / "host.tar")) == masked
    assert b"LedgerFiler" not in (tmp_path / "host.tar").read_bytes()


def test_four_paths_and_no_export_are_a_table() -> None:
    (server,) = parse_oranfstab("SERVER: a\nDontRoute\n" + "path: b\n" * 4 + "mnt_timeout: 60 # s")

    assert (server.server, len(server.server_addresses), server.exports) == ("a", 4, ())


@pytest.mark.parametrize("salt", [None, b"one"], ids=["unmasked", "masked"])
def test_a_capture_reads_back_to_an_equal_machine_and_a_masked_one_names_nobody(
    root: Path, tmp_path: Path, salt: bytes | None
) -> None:
    file = tmp_path / "host.tar"
    machine, *_ = capture(str(root), str(file), tool="test", salt=salt)

    assert discover(str(file)) == machine
    assert len(machine.oracle_homes) == 6
    first, _ = machine.direct_nfs_servers
    assert first.missing_mount_points == (first.exports[1][1],)
    content = file.read_bytes()
    secrets = (
        b"LedgerFiler", b"192.0.2.11", b"192.0.3.12", b"second-filer", b"fd00:2::1", b"storage-lan", b"ledger",
        b"/vol/data2", b"topsecret", b"secretnode", b"LEDG", b"two paths",
    )  # fmt: skip
    assert [secret for secret in secrets if (secret in content) is (salt is not None)] == []


def test_detect_shows_homes_and_paths(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["detect", "nfs", "--sysroot", str(root)]) == 0
    text = " ".join(capsys.readouterr().out.split())

    assert f"{DB}: Direct NFS linked; {DB}/dbs/oranfstab" in text
    assert "/u01/app/grid: Direct NFS not linked Oracle home" in text
    assert "192.0.2.11, 192.0.3.12 to 192.0.2.1, 192.0.3.1" in text
    assert "/u03/ledger/ (not mounted)" in text
    assert [section.title for section in machine_sections(Machine(), "nfs")] == []


def test_the_lists_of_homes_are_read_by_their_forms() -> None:
    assert parse_oratab("# A:/a:Y\n\nB:/b:N\nC:D:Y\n*:/c\n E:/e:Y # x") == ("/b", "/c", "/e")
    assert parse_inventory('<HOME_LIST><HOME NAME="A" LOC="/a"/><HOME LOC="C:\\b"/></HOME_LIST>') == ("/a",)
