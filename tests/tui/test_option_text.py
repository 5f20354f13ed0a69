"""Options of the command line on the screen: the key and the field of the console stand in their place."""

import pytest

from sizeup.sizing.keys import KEYS
from sizeup.tui.option_text import by_fields, by_keys


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("CPU: unknown. Use --set machine.cores=N", "CPU: unknown. Enter Cores (4, then a)"),
        ("a guest. Set it with --set machine.guest=yes|no", "a guest. Enter Virtual machine (4, then a)"),
        (
            "enter the memory for sizing: sizeup size --set machine.memory_gib=N.",
            "enter the memory for sizing: enter Memory (4, then a).",
        ),
        ("are unknown (--set workload.iops=N)", "are unknown (enter Random IOPS: 4, then a)"),
        (
            "use --set path.policy=active-passive",
            "set Path policy to active-passive (4, then a)",
        ),
        (
            "or use --set capacity.mb_s=N, path.stages=hba:fc16*2 or array.disks=N",
            "or enter Storage throughput (4, then a), Storage path, such as hba:fc16*2 or Drives",
        ),
        (
            "Set yours with --set license.list_usd=N and its support with --set license.support_percent=N",
            "Enter List price of a license (4, then a) and enter Support per year (4, then a)",
        ),
        ("Enter it as machine.ghz", "Enter Base clock (4, then a)"),
        ("on the command line, --set x stays", "on the command line, --set x stays"),
    ],
)
def test_an_option_is_a_key_and_a_field(text: str, shown: str) -> None:
    assert by_keys(text, {}) == shown


def test_in_sizing_one_key_is_enough() -> None:
    assert by_keys("Use --set machine.cores=N", {}, in_sizing=True) == "Enter Cores (a)"


def test_a_key_of_the_configuration_is_named() -> None:
    keys = {"mode.sizing": "f4", "sizing.add": "ctrl+a"}

    assert by_keys("Use --set machine.cores=N", keys) == "Enter Cores (f4, then ^a)"


@pytest.mark.parametrize("key", sorted(KEYS))
def test_no_flag_of_an_input_is_left(key: str) -> None:
    assert "--set" not in by_keys(f"unknown. Use {KEYS[key].flag}. It counts.", {})


def test_a_setting_of_a_probe_is_a_field_of_its_form() -> None:
    reason = "needs a value that only you can give: --set io.direct.path=... (the directory)"

    assert by_fields(reason) == "needs a value that only you can give: enter path (the directory)"
