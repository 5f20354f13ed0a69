"""What a reader can do about an answer is said with a flag that can be typed."""

import re
from collections.abc import Iterator

import pytest

from sizeup.model.machine import Machine, Platform
from sizeup.model.topology import Core, Package
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.advise import Sizing, described, size
from sizeup.sizing.input_value import UnusedMeasurement
from sizeup.sizing.inputs.presets import shipped_presets
from sizeup.sizing.keys import KEYS, InputKind, parse_settings
from sizeup.sizing.rules import shipped
from sizeup.sizing.sheet import open_question
from sizeup.views.result.licenses import license_table
from tiers import one_in

CASES = {
    "nothing": [],
    "soft": ["machine.cores=8", "license.scope=soft"],
    "paths": ["machine.cores=8", "machine.ghz=3", "path.stages=hba:fc8*2", "capacity.mb_s=5000", "workload.iops=9000"],
    "redo": ["redo.mb_s=5", "redo.databases=2", "redo.cache_gb=4", "machine.cores=4"],
    "table": ["machine.cores=8", "license.pack=db2", "machine.cpu_model=unheard of"],
}
NAMES = re.compile("|".join(re.escape(key) for key in sorted(KEYS, key=len, reverse=True)))


def machine(guest: bool | None) -> Machine:
    return Machine(
        packages=(Package((0, 1), 0),),
        cores=(Core((0,), 0, 0, 0), Core((1,), 0, 0, 1)),
        platform=Platform(is_guest=guest),
        cpu_model="Intel(R) Xeon(R) Gold 6338",
    )


def sizings() -> Iterator[Sizing]:
    for preset in shipped_presets().values():
        yield size(preset.values())
    for settings in CASES.values():
        for guest in (True, False, None):
            yield size(described(machine(guest), parse_settings(settings)))
        yield size(parse_settings(settings))


def texts(sizing: Sizing) -> Iterator[str]:
    for advice in sizing.advice:
        yield advice.verdict
        yield from advice.caveats
    yield from (question.sentence() for question in sizing.questions)


@pytest.mark.ci
def test_a_text_that_names_a_key_offers_the_flag_that_sets_it() -> None:
    named = {text: found.start() for sizing in sizings() for text in texts(sizing) if (found := NAMES.search(text))}

    assert len(named) > 5
    assert [text for text, start in named.items() if "--set " not in text[:start]] == []


@pytest.mark.parametrize("name", one_in(4, KEYS))
def test_a_missing_input_is_reported_with_its_meaning_and_its_flag(name: str) -> None:
    declared = KEYS[name]
    sentence = open_question(declared.name, "a figure").sentence()

    assert sentence.startswith("A figure: unknown, because")
    assert declared.help in sentence
    assert sentence.endswith(f"Use {declared.flag}")
    assert (declared.kind is InputKind.CHOICE) == ("|" in declared.flag)


def test_an_unused_measurement_is_reported_with_the_reason_and_both_remedies() -> None:
    unused = UnusedMeasurement(
        Quantity(4e4, "1/s", Origin.MEASURED, "a probe"), "it may come from a cache", "run it larger"
    )

    assert open_question("capacity.iops", "IOPS balance", unused).sentence() == (
        "IOPS balance: unknown. 40,000 IOPS was measured but is not used, because it may come from a "
        "cache. Run it larger, or use --set capacity.iops=N"
    )


def test_the_license_table_offers_the_flags_of_unknown_counts_and_names_no_key_in_its_cells() -> None:
    rest = parse_settings(["machine.vcpus=2", "machine.memory_gib=8"])
    unknown = license_table(size(described(machine(guest=True), rest)), shipped())
    known = license_table(size(described(machine(guest=False), rest)), shipped())

    assert [cell for row in (*unknown.rows, *known.rows) for cell in row if NAMES.search(cell)] == []
    assert "unknown" in {row[2] for row in unknown.rows}
    assert "use --set license.host_cores=N, --set license.host_sockets=N." in unknown.note
    assert "unknown" not in {row[2] for row in known.rows}
    assert "oracle 2026-08-03." in known.note
