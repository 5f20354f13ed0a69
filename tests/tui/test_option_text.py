"""Options of the command line on the screen: the key and the field of the console stand in their place."""

from pathlib import Path

import pytest

from sizeup.model.plan import Plan, Refusal
from sizeup.sizing import rules
from sizeup.sizing.keys import KEYS
from sizeup.tui.actions import by_keys
from sizeup.tui.screens.write_confirmation import why_no_plan


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("CPU: unknown. Use --set machine.cores=N", "CPU: unknown. Enter Cores (4, then a)"),
        ("a guest. Use --set machine.guest=yes|no", "a guest. Enter Virtual machine (4, then a)"),
        (
            "enter the memory for sizing: sizeup size --set machine.memory_gib=N.",
            "enter the memory for sizing: enter Memory (4, then a).",
        ),
        ("Measure it, or enter capacity.iops.", "Measure it, or enter IOPS available."),
        ("are unknown (--set workload.iops=N)", "are unknown (enter IOPS wanted: 4, then a)"),
        ("use --set path.policy=active-passive", "set Path policy to active-passive (4, then a)"),
        (
            "or use --set capacity.mb_s=N, path.stages=hba:fc16*2 or array.disks=N",
            "or enter Storage throughput (4, then a), Storage path, such as hba:fc16*2 or Drives",
        ),
        (
            "Use --set license.list_usd=N license.support_percent=N",
            "Enter List price of a license and enter Support per year (4, then a)",
        ),
        ("Oracle SE2 (needs --set machine.sockets=N)", "Oracle SE2 (needs Sockets)"),
        ("is a range (--show license.units)", "is a range"),
        ("of all nodes: --set numa.node_mb=N,N", "of all nodes: enter Memory of each node (4, then a)"),
        ("such as --set probe.setting=3.", "such as --set probe.setting=3."),
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


def test_no_option_of_the_rule_packs_is_left() -> None:
    packs = Path(rules.__file__).parent.glob("**/*.toml")
    lines = [line for pack in packs for line in pack.read_text().splitlines() if not line.startswith("#")]
    texts = [line for line in lines if "--set" in line]

    assert texts
    assert [text for text in texts if "--set" in by_keys(text.strip('"'), {})] == []


def test_a_setting_of_a_probe_is_a_field_of_its_form() -> None:
    plan = Plan("quick", refusals=(Refusal("io.direct", "io.direct", "no value: --set io.direct.path=...", "path"),))

    assert why_no_plan(plan) == "enter path, which has no default"
