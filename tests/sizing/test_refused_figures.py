"""Figures of a user that are refused: what was expected, what was found, and what to do."""

import re

import pytest

from sizeup.errors import SizeupError, UsageError
from sizeup.sizing.advise import size
from sizeup.sizing.inputs.imported import parse_toml
from sizeup.sizing.keys import parse_settings

SHAPE = "NAME:LINK*PORTS, separated by commas, with @CARDS where ports share a card, such as hba:fc16*2,array:fc32*4@2"
OCCUPIED = (
    "--set: machine.socket_capacity: expected at least {key} = 4, found 2; occupied sockets are among those that the "
    "server is built for"
)
SECTOR = (
    "--set: workload.mb_s: expected at least {least}, a sector for each of {key}, found 1 MB/s; leave out one of them"
)
SUM = (
    "--set: workload.iops: expected the sum of workload.read_iops and workload.write_iops = {known}, found {found}; "
    "leave out one of them"
)
OF_SHARE = (
    "--set: workload.{part}_iops: expected {expected}, as workload.iops = 40000 and workload.read_percent = 60, "
    "found {found}; leave out one of them"
)
LINKS = "fc1 to fc64, eth1 to eth200-jumbo, gbe-nfs, pcie1-x1 to pcie6-x16, sata3, sas1 to sas4"


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("path.stages=fc16*2", f"path.stages: expected {SHAPE}; found 'fc16*2'"),
        (
            "path.stages=hba:fc164*2",
            f"path.stages: expected a link, one of {LINKS}; found 'fc164' (did you mean fc64?)",
        ),
        ("redo.link=ib", f"redo.link: expected a link, one of {LINKS}; found 'ib'"),
    ],
)
def test_a_link_that_is_unknown_is_refused_in_one_sentence(setting: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(sentence)}$"):
        size(parse_settings([setting, "workload.mb_s=1", "redo.mb_s=1"]))


def test_a_kind_of_drive_that_is_unknown_says_how_to_state_any_other() -> None:
    with pytest.raises(UsageError, match=r"found 'ssd' \(.*for others use --set array\.drive_iops=N"):
        parse_settings(["array.drive=ssd"])


def test_a_key_without_quotes_in_a_workload_file_says_to_put_it_in_quotes() -> None:
    text = 'schema = "sizeup.workload/1"\n[inputs]\nworkload.iops = 100\n'
    with pytest.raises(SizeupError, match=r'w\.toml: inputs: expected keys in quotes, such as "workload\.iops" = 1'):
        parse_toml(text, "w.toml")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("array.disks=2 array.raid=6", "--set: array.disks: expected 4 or more with array.raid=6, found 2"),
        ("array.disks=1 array.raid=10", "--set: array.disks: expected 2 or more with array.raid=10, found 1"),
        (
            "machine.sockets=4 machine.cores=2",
            "--set: machine.sockets: expected at most machine.cores = 2, found 4; a socket has a core at least",
        ),
        (
            "machine.guest=no machine.sockets=4 machine.cores=64 machine.socket_capacity=2",
            OCCUPIED.format(key="machine.sockets"),
        ),
        (
            "machine.guest=yes license.host_sockets=4 license.host_cores=64 machine.socket_capacity=2",
            OCCUPIED.format(key="license.host_sockets"),
        ),
        (
            "machine.sockets=1 machine.cores=97 machine.cpu_model=EPYC-96-Core",
            "--set: machine.cores: expected at most 96, which are 1 of 96-Core processors (machine.sockets), found 97",
        ),
        (
            "workload.mb_s=100 workload.sequential_mb_s=500",
            (
                "--set: workload.sequential_mb_s: expected at most workload.mb_s = 100 MB/s, of which it is a part, "
                "found 500 MB/s"
            ),
        ),
        ("workload.iops=10000 workload.mb_s=1", SECTOR.format(least="5.12 MB/s", key="workload.iops = 10000")),
        (
            "workload.write_iops=3000 workload.mb_s=1",
            SECTOR.format(least="1.536 MB/s", key="workload.write_iops = 3000"),
        ),
        (
            "workload.iops=100 workload.read_iops=500",
            SUM.format(known=500, found=100),
        ),
        (
            "workload.iops=900 workload.read_iops=500 workload.write_iops=100",
            SUM.format(known=600, found=900),
        ),
        (
            "workload.iops=40000 workload.read_percent=60 workload.read_iops=30000",
            OF_SHARE.format(part="read", expected=24000, found=30000),
        ),
        (
            "workload.iops=40000 workload.read_percent=60 workload.write_iops=10000",
            OF_SHARE.format(part="write", expected=16000, found=10000),
        ),
    ],
)
def test_figures_that_cannot_be_true_together_are_refused(settings: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(sentence)}$"):
        size(parse_settings(settings.split()))


@pytest.mark.parametrize(
    "settings",
    [
        "array.disks=4 array.raid=6",
        "machine.sockets=2 machine.cores=2",
        "workload.iops=600 workload.read_iops=500 workload.write_iops=100",
        "workload.iops=900 workload.read_iops=500",
        "workload.mb_s=500 workload.sequential_mb_s=500",
        "workload.mb_s=5.12 workload.iops=10000",
        "workload.iops=900 workload.read_iops=450 workload.read_percent=50",
    ],
)
def test_figures_that_agree_are_taken(settings: str) -> None:
    assert size(parse_settings(settings.split())).inputs
