"""Sharing: what names an owner leaves in no field, the same thing keeps the same pseudonym, the rest stays."""

import gzip
import io
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from report.sessions import machine, records, written
from sizeup.masking import Masker
from sizeup.model.advice import Advice, AdviceSet, Source
from sizeup.model.machine import Machine
from sizeup.model.network import DirectNfsServer, OracleHome
from sizeup.session.reader import read_session
from sizeup.session.records import ENCODER, AdviceRecord, EnvironmentRecord, MachineRecord, schema_text
from sizeup.session.share import share

SECRETS = {
    "serial": "S3RIAL-9X7",
    "mac": "0a:0b:0c:0d:0e:0f",
    "wwn": "naa.5000c500a1b2c3d4",
    "host": "db01.acme.example",
    "address": "10.20.30.40",
    "address 6": "fd00:1:2::17",
    "export": "filer7:/vol/oracle_prod",
    "path": "/u01/oradata/PRD",
}
PLANTED = "; ".join(SECRETS.values())
PIECES = ("S3RIAL", "9X7", "5000c500a1b2c3d4", "acme", "db01", "10.20.30", "filer7", "oracle_prod", "oradata", "u01")


def telling_machine() -> MachineRecord:
    """Where discovery writes down what nobody could recognize by its looks."""
    found = machine("")
    return MachineRecord(
        1,
        replace(
            found,
            platform=replace(found.platform, hostname=SECRETS["host"]),
            block_devices=(replace(found.block_devices[0], serial=SECRETS["serial"], wwn=SECRETS["wwn"]),),
        ),
    )


def shared(path: str, key: bytes = b"k" * 32, public: frozenset[str] = frozenset()) -> tuple[bytes, Masker]:
    masker = Masker(key)
    masker.public = public
    packed = io.BytesIO()
    share(path, packed, masker)
    return packed.getvalue(), masker


def filled(schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    """A value with every field that the schema knows, and every secret in each text."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rsplit("/", 1)[1]]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:  # null, where it is one, is the last choice
        return filled(max(schema["anyOf"], key=lambda choice: choice.get("type") != "null"), definitions)
    match schema.get("type"):
        case "object":
            fields = {name: filled(field, definitions) for name, field in schema.get("properties", {}).items()}
            rest = schema.get("additionalProperties")
            return fields | ({PLANTED: filled(rest, definitions)} if isinstance(rest, dict) else {})
        case "array":
            every = schema.get("prefixItems") or [schema["items"]]
            return [filled(item, definitions) for item in every]
        case "string":
            return PLANTED
        case "boolean":
            return True
        case _:
            return schema.get("minimum", 1)


def test_a_secret_in_every_field_that_the_schema_knows_is_in_none_of_the_shared_file(tmp_path: Path) -> None:
    schema = msgspec.json.decode(schema_text())
    made = [filled(choice, schema["$defs"]) for choice in schema["anyOf"]]
    header = next(record for record in made if record["kind"] == "session")
    others = [msgspec.json.decode(ENCODER.encode(telling_machine())), *(record for record in made if record != header)]
    path = tmp_path / "every.sizeup.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in (header, *others)))
    assert read_session(str(path)).damage.sentences() == ()

    packed, masker = shared(str(path))
    text = gzip.decompress(packed).decode()

    assert text.count("\n") == len(made) + 1
    assert set(SECRETS.values()) - set(masker.masked) == {SECRETS["export"], SECRETS["path"]}  # masked part by part
    assert [secret for secret in (*SECRETS.values(), *PIECES) if secret.lower() in text.lower()] == []


def test_public_links_are_shared_and_those_of_others_are_not(tmp_path: Path) -> None:
    links = ("https://fibrechannel.org/", "https://wiki.acme.example/rules")
    sources = tuple(Source("io.x", "A rule", None, "H", link) for link in links)
    item = AdviceRecord(1, AdviceSet((Advice("io.x", "Need", "1 is enough", None, (), (), sources),)))
    packed, _ = shared(written(tmp_path / "one.sizeup.jsonl", records()[0], item), public=frozenset({links[0]}))
    text = gzip.decompress(packed).decode()

    assert links[0] in text
    assert "acme" not in text


def test_the_shared_file_opens_and_says_the_same_about_the_machine(tmp_path: Path) -> None:
    path = written(tmp_path / "one.sizeup.jsonl", *records())
    packed, _ = shared(path)
    out = tmp_path / "share.sizeup.jsonl.gz"
    out.write_bytes(packed)

    before, after = read_session(path), read_session(str(out))

    assert after.damage.sentences() == ()
    assert after.header.host.startswith("host-")
    assert after.machine.cpu_model == before.machine.cpu_model
    assert after.machine.caches == before.machine.caches
    assert after.machine.nics[0].mac == "mac-" + (after.machine.nics[0].mac or "")[4:]
    assert {id_: run.points.keys() for id_, run in after.steps.items()} == {
        id_: run.points.keys() for id_, run in before.steps.items()
    }
    assert [list(point.values) for point in after.steps["memory.latency"].points.values()] == [
        list(point.values) for point in before.steps["memory.latency"].points.values()
    ]
    assert after.advice == before.advice


def test_one_thing_has_one_pseudonym_in_all_files_of_an_installation_and_another_in_those_of_others(
    tmp_path: Path,
) -> None:
    path = written(tmp_path / "one.sizeup.jsonl", *records())

    (first, _), (second, _), (strange, _) = shared(path), shared(path), shared(path, b"x" * 32)

    assert first == second
    assert first != strange
    hosts = [set(re.findall(r"host-[0-9a-f]{8}", gzip.decompress(packed).decode())) for packed in (first, strange)]
    assert hosts[0].isdisjoint(hosts[1])


def test_the_gzip_header_names_neither_file_nor_time(tmp_path: Path) -> None:
    packed, _ = shared(written(tmp_path / "db01-secret.sizeup.jsonl", *records()))

    assert packed[3] == 0  # no flags: no name, no comment
    assert packed[4:8] == b"\0\0\0\0"


def test_records_of_unknown_kinds_are_not_shared(tmp_path: Path) -> None:
    path = tmp_path / "newer.sizeup.jsonl"
    written(path, *records())
    with path.open("a") as file:
        file.write('{"kind":"badge","owner":"Jane Roe, room 12"}\n')

    packed, _ = shared(str(path))

    assert b"Jane" not in gzip.decompress(packed)


@pytest.mark.parametrize("host", ["vm", "a", "ok"])
def test_a_host_with_a_name_too_short_to_search_for_is_masked_in_its_own_fields(tmp_path: Path, host: str) -> None:
    items = [replace(records()[0], host=host), *records()[1:]]
    packed, _ = shared(written(tmp_path / "short.sizeup.jsonl", *items))
    out = tmp_path / "share.sizeup.jsonl.gz"
    out.write_bytes(packed)

    assert read_session(str(out)).header.host.startswith("host-")


def test_of_the_kernels_command_line_only_known_settings_are_shared(tmp_path: Path) -> None:
    found = machine()
    platform = replace(
        found.platform,
        command_line="root=LABEL=payroll rd.token=hunter2 numa=off nfsroot=filer7:/vol/root",
        kernel_settings=("numa=off",),
    )
    item = MachineRecord(1, replace(found, platform=platform))
    packed, _ = shared(written(tmp_path / "one.sizeup.jsonl", records()[0], item))
    text = gzip.decompress(packed).decode()

    assert '"command_line":"numa=off"' in text
    assert [word for word in ("payroll", "hunter2", "filer7") if word in text] == []


@pytest.mark.parametrize(
    "busy", ["oracle_payroll 45 %, java -jar x 3 %", "oracle_payroll", "oracle_payroll 12 %, more"]
)
def test_names_of_other_processes_are_not_shared(tmp_path: Path, busy: str) -> None:
    item = EnvironmentRecord(1, {"others_busy": busy, "load_1min": 0.5})
    packed, _ = shared(written(tmp_path / "one.sizeup.jsonl", records()[0], item))
    text = gzip.decompress(packed).decode()

    assert "payroll" not in text
    assert "java" not in text
    assert "load_1min" in text


def test_of_direct_nfs_no_name_and_address_is_shared_and_what_is_absent_still_is(tmp_path: Path) -> None:
    home = OracleHome("/u01/acme/db", True, None, "/u01/acme/db/dbs/oranfstab")
    server = DirectNfsServer(
        "LedgerFiler", ("192.0.2.11", "storage-lan"), ("fd00::1",), (("/vol/acme", "/acme/u02"),),
        missing_mount_points=("/acme/u02",), oranfstab=home.oranfstab or "",
    )  # fmt: skip
    item = MachineRecord(1, Machine(oracle_homes=(home,), direct_nfs_servers=(server,)))
    packed, _ = shared(written(tmp_path / "one.sizeup.jsonl", records()[0], item))
    out = tmp_path / "share.sizeup.jsonl.gz"
    out.write_bytes(packed)

    text = gzip.decompress(packed).decode()
    assert [name for name in ("acme", "LedgerFiler", "192.0.2.11", "storage-lan", "fd00::1") if name in text] == []
    (found,) = read_session(str(out)).machine.direct_nfs_servers
    assert found.missing_mount_points == (found.exports[0][1],)
    assert found.oranfstab == read_session(str(out)).machine.oracle_homes[0].oranfstab
