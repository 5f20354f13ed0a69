"""Figures of a user that are refused: what was expected, what was found, and what to do."""

import re

import pytest

from sizeup.errors import SizeupError, UsageError
from sizeup.sizing.advise import size
from sizeup.sizing.inputs.imported import parse_toml
from sizeup.sizing.inputs.typed import parse_settings

SHAPE = "NAME:LINK*PORTS, separated by commas, with @CARDS where ports share a card, such as hba:fc16*2,array:fc32*4@2"
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
