"""Pseudonyms: recognized by looks or told, stable, and nothing that is everybody's."""

import re

import pytest

from sizeup.masking import Masker, Secret


@pytest.fixture
def masker() -> Masker:
    return Masker(b"k" * 32)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("link of 0A:0b:0c:0d:0e:0f is up", "0A:0b:0c:0d:0e:0f"),
        ("infiniband 0002:c903:00a1:b2c3", "c903"),
        ("target 50:06:01:60:3b:a0:12:34", "50:06:01:60"),
        ("disk 0x5000c500a1b2c3d4 failed", "5000c500a1b2c3d4"),
        ("/dev/disk/by-id/wwn-0x5000c500a1b2c3d4", "5000c500a1b2c3d4"),
        ("nqn.2014-08.org.nvmexpress:uuid:6f0c7a53-1111-2222-3333-444455556666", "6f0c7a53"),
        ("iqn.1994-05.com.redhat:ab12cd34", "ab12cd34"),
        ("root=UUID=6f0c7a53-1111-2222-3333-444455556666", "6f0c7a53"),
        ("mounted from 192.168.7.9, hard", "192.168.7.9"),
        ("addr=192.168.7.9", "192.168.7.9"),
        ("[fe80::17]:/vol", "fe80::17"),
        ("2001:db8::a:1 answered", "2001:db8"),
        ("filer7.acme.example:/vol/prod on /u01", "filer7"),
        ("filer7:/vol/prod", "prod"),
        ("cannot open /home/jane/cards.txt: denied", "jane"),
        ("target=/u01/oradata/x.dbf.", "oradata"),
        ("wrote ./payroll/x.bin and ../payroll", "payroll"),
        ("~/payroll/x", "payroll"),
        ("Imported from payroll_7_summary.txt, q4.json", "payroll"),
        ("https://wiki.acme.example/hosts/db01", "acme"),
        ("ask jane.roe@acme.example", "jane"),
        ("/dev/mapper/vg_payroll-lv_data", "payroll"),
        ("nic 0a0b0c0d0e0f is down", "0a0b0c0d0e0f"),
        ("port 0a0b.0c0d.0e0f, or 0A0B-0C0D-0E0F", "0d"),
        ("enx0a0b0c0d0e0f is up", "0a0b0c0d0e0f"),
        ("by-id/ata-ACME_S5Y1NX0R-part1", "S5Y1NX0R"),
        ("disk/by-id/nvme-eui.0025385b01", "5385b01"),
        ("root=PARTUUID=1234abcd-02 ro", "1234abcd"),
        ("PARTLABEL='pay roll'", "roll"),
        ("LABEL=payroll", "payroll"),
        ("/u01/My Payroll/x", "Payroll"),
        ("to '/u01/old payroll/x y', read", "payroll"),
        ("/u01/old payroll/x.dbf: denied", "payroll"),
        (r"/u01/old\ payroll/x", "payroll"),
        (r"C:\Users\jane\x", "jane"),
        (r"C:\Users\jane roe\My Files\x.txt", "roe"),
        (r"\\filer7\payroll\x", "payroll"),
    ],
)
def test_what_can_be_recognized_is_masked_without_being_told(masker: Masker, text: str, secret: str) -> None:
    assert secret.lower() in text.lower()
    assert secret.lower() not in masker.text(text).lower()


@pytest.mark.parametrize(
    "text",
    [
        "8 cores x 2.66 GHz x 12 MB/s/GHz = 255.36 MB/s",
        "62.5 k/s and 500 /s",
        "/sys/devices/system/node/node1/distance: expected 2 numbers",
        "/proc/cpuinfo",
        "/dev/sda1, /dev/nvme0n1p2, /dev/dm-3, /dev/md0 and /dev/shm",
        "0000:3b:00.0",
        "2:0:1:14",
        "memory.latency.dram-thp~2",
        "127.0.0.1 and ::1",
        "2026-01-31T09:30:00Z",
        "sizeup 0.1.0",
        "mounted on /, /boot and /var",
        "12:30:45",
        "std::vector",
        "Intel(R) Xeon(R) CPU E5320 @ 1.86GHz",
        "read/write",
        "0.5 .. 0.7 ./. and 3 of 4.",
        "412316860416 bytes, 0x7ffe12ab34cd and 0.123456789012",
        "6.1.0-ge27b68113abc and 0.2.0+e27b68113abc",
        "3a7bd3e2360a3a7bd3e2360a3a7bd3e2360a3a7b",
        "BIOS 1234.5678.9012",
        "/dev/sda at 100 MB/s, with 70/30 I/O and RAID/LVM",
    ],
)
def test_what_is_everybodys_stays(masker: Masker, text: str) -> None:
    assert masker.text(text) == text


def test_what_was_told_is_found_in_any_case_with_or_without_separators(masker: Masker) -> None:
    masker.add_secrets(Secret.HOST, ["db01.acme.example"])
    masker.add_secrets(Secret.MAC, ["0a:0b:0c:0d:0e:0f"])

    text = masker.text("DB01 (db01.acme.example) beside db02.acme.example; 0A0B0C0D0E0F")

    for secret in ("db01", "db02", "acme", "0a0b0c0d0e0f"):
        assert secret not in text.lower()


def test_two_spellings_of_one_name_have_one_pseudonym(masker: Masker) -> None:
    spellings = ("0x5000c500a1b2c3d4", "naa.5000c500a1b2c3d4", "50:00:c5:00:a1:b2:c3:d4", "5000C500A1B2C3D4")

    assert len({masker.pseudonym(Secret.WWN, spelling) for spelling in spellings}) == 1


@pytest.mark.parametrize(
    "notations",
    [
        ("0a:0b:0c:0d:0e:0f", "0A-0B-0C-0D-0E-0F", "0a0b0c0d0e0f", "0A0B.0C0D.0E0F"),
        ("PARTUUID=1234abcd-02", "/dev/disk/by-partuuid/1234abcd-02"),
        ("wwn-0x5000c500a1b2c3d4", "/dev/disk/by-id/wwn-0x5000c500a1b2c3d4"),
        ("/u01/old files", "'/u01/old files'", r"/u01/old\040files", "in /u01/old files there"),
    ],
)
def test_one_thing_has_one_pseudonym_in_every_notation(masker: Masker, notations: tuple[str, ...]) -> None:
    masker.add_secrets(Secret.PATH, ["/u01/old files"])

    masked = [masker.text(text) for text in notations]
    assert len({re.findall(r"\w+-[0-9a-f]{8}", text)[-1] for text in masked}) == 1
    assert masker.text(masked[-1]) == masked[-1]


def test_a_field_and_a_text_give_a_path_the_same_pseudonyms(masker: Masker) -> None:
    for path in ("/u01/My Data/x", "/dev/disk/by-id/wwn-0x5000c500a1b2c3d4", "/u01/10.1.2.3/x", "/u01/b:/x"):
        assert masker.mask_field(Secret.PATH, path) == masker.text(path)


def test_a_host_named_as_an_address_looks_stays_a_host(masker: Masker) -> None:
    masker.add_secrets(Secret.HOST, ["0a1b2c3d4e5f"])

    assert masker.text("on 0a1b2c3d4e5f") == f"on {masker.pseudonym(Secret.HOST, '0a1b2c3d4e5f')}"


def test_what_lies_in_one_folder_still_does(masker: Masker) -> None:
    first, second = masker.path("/u01/oradata/a.dbf"), masker.path("/u01/oradata/b.dbf")

    assert first.rsplit("/", 1)[0] == second.rsplit("/", 1)[0]
    assert first != second


def test_a_name_inside_a_longer_word_is_left_alone(masker: Masker) -> None:
    masker.add_secrets(Secret.HOST, ["data"])

    assert masker.text("database and data") == f"database and {masker.pseudonym(Secret.HOST, 'data')}"


def test_a_short_name_is_masked_where_it_is_a_word_of_a_sentence(masker: Masker) -> None:
    masker.add_secrets(Secret.HOST, ["vm", "db.acme.example", "a", "X1"])
    masker.add_secrets(Secret.PERSON, ["al", "sizeup session import"])
    masker.add_secrets(Secret.SERIAL, ["is"])
    vm, db, al = (masker.pseudonym(*one) for one in ((Secret.HOST, "vm"), (Secret.HOST, "db"), (Secret.PERSON, "al")))

    assert masker.text("it is measured on vm by al for db.") == f"it is measured on {vm} by {al} for {db}."
    assert masker.text("as X1 was") == f"as {masker.pseudonym(Secret.HOST, 'X1')} was"
    for kept in ("vm", "set vm.nr_hugepages to 3", "of a VM and vms", "by sizeup session import"):
        assert masker.text(kept) == kept


def test_the_slot_of_a_card_is_no_network_address(masker: Masker) -> None:
    masker.add_secrets(Secret.ADDRESS, ["0000:3b:00.0"])

    assert masker.mask_field(Secret.ADDRESS, "0000:3b:00.0") == "0000:3b:00.0"
    assert masker.text("the card in 0000:3b:00.0") == "the card in 0000:3b:00.0"


def test_what_is_public_stays_as_it_stands_and_its_neighbors_do_not() -> None:
    masker = Masker(b"k" * 32, public=frozenset({"https://fibrechannel.org/"}))

    assert masker.text("https://fibrechannel.org/") == "https://fibrechannel.org/"
    assert "members" not in masker.text("https://fibrechannel.org/members")
