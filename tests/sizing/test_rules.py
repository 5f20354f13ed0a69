"""A pack is right as a whole, or refused with its place."""

import subprocess
import sys
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizeup.errors import MalformedError
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.rules import Rules, load, shipped, shipped_texts

PACK = """
schema = "sizeup.rules/1"
pack = "example"
title = "An example"
checked = 2026-11-20

[[source]]
id = "paper"
title = "A paper"
confidence = "H"
doc_date = "2007-01-02"

[[figure]]
id = "io.example"
title = "An anchor"
value = 200
unit = "MB/s"
low = 100
high = 300
source = "paper"
"""

OVERRIDE = """
schema = "sizeup.rules/1"

[[override]]
target = "figure.io.example.value"
value = 250
reason = "measured here"
date = 2026-11-01
"""


def packs(text: str = PACK, user: str | None = None) -> Rules:
    return load({"rules/example.toml": text}, None if user is None else ("mine.toml", user))


def test_a_figure_is_a_quantity_in_base_units_with_its_range_and_its_rule() -> None:
    assert packs().figure("io.example") == Quantity(200e6, "bytes/s", Origin.RULE, "io.example", low=100e6, high=300e6)


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ('source = "paper"', 'source = "memory"', r"io.example: expected the id of a \[\[source\]\]"),
        ('source = "paper"', "", "missing required field `source`"),
        ("low = 100", "least = 100", "unknown field `least`"),
        ("value = 200", 'value = "200"', "Expected `float`"),
        ('confidence = "H"', 'confidence = "sure"', "Invalid enum value 'sure'"),
        ("value = 200", "value = nan", "io.example: expected low <= value <= high, all finite"),
        ("low = 100", "low = 250", "io.example: expected low <= value <= high"),
        (
            "[[figure]]",
            '[[default]]\nkey = "machine.core"\nvalue = 4\nsource = "paper"\n[[figure]]',
            r"default: paper: unknown key 'machine.core' \(did you mean machine.cores",
        ),
        ("sizeup.rules/1", "sizeup.rules/2", "Invalid enum value 'sizeup.rules/2'"),
        ("[[figure]]", "[[figure", "expected TOML"),
        ("[[source]]", '[[source]]\nid = "paper"\ntitle = "Twice"\nconfidence = "L"\n[[source]]', "is there twice"),
    ],
)
def test_a_wrong_pack_is_refused_with_its_file_and_what_was_expected(before: str, after: str, what: str) -> None:
    with pytest.raises(MalformedError, match=f"rules/example.toml: .*{what}"):
        packs(PACK.replace(before, after))


def test_an_override_replaces_one_field_and_stays_visible() -> None:
    quantity = packs(user=OVERRIDE).figure("io.example")

    assert quantity == Quantity(
        250e6,
        "bytes/s",
        Origin.USER,
        "io.example",
        low=100e6,
        high=300e6,
        caveats=("overridden by the user on 2026-11-01: measured here",),
    )


def test_an_override_of_nothing_is_refused() -> None:
    with pytest.raises(MalformedError, match=r"mine.toml: override of 'figure.io.exampel.value': expected KIND.ID"):
        packs(user=OVERRIDE.replace("io.example", "io.exampel"))
    for target, said in (
        ("product.sql-server.standard.price.packs", r"\(did you mean product.sql.standard.price.packs\?\)"),
        (
            "product.sql.standard.price.processor",
            "such as product.sql.standard.price.packs, product.sql.standard.price.",
        ),
        ("pack.example", "such as figure.io.ghz-rule.exact.value$"),
    ):
        with pytest.raises(MalformedError, match=said):
            load(shipped_texts(), ("mine.toml", OVERRIDE.replace("figure.io.example.value", target)))


def test_rules_older_than_a_year_warn_and_still_work() -> None:
    rules = packs()

    assert rules.warnings(date(2027, 11, 20)) == ()
    (warning,) = rules.warnings(date(2027, 11, 21))
    assert warning.startswith("rules of 'An example' were last checked 366 days ago (2026-11-20)")


def test_packs_of_one_day_are_one_warning() -> None:
    days: dict[date, list[str]] = {}
    for pack in shipped().packs:
        days.setdefault(pack.checked, []).append(repr(pack.title))
    warnings = shipped().warnings(date(2028, 1, 1))

    assert len(warnings) == len(days)
    for warning, titles in zip(warnings, days.values(), strict=True):
        assert all(title in warning for title in titles)


def test_every_shipped_pack_passes_all_checks() -> None:
    assert load(shipped_texts()).packs == shipped().packs


def test_every_source_has_an_address_and_a_date_or_says_that_none_is_known() -> None:
    bare = [source.id for source in shipped().sources.values() if source.url is None or source.doc_date is None]

    assert bare == []


def test_every_price_has_a_date() -> None:
    rules = shipped()
    priced = [
        product for pack in rules.packs for product in pack.product if any(product.price.values()) or product.tier
    ]

    assert len(priced) > 20
    assert [product.id for product in priced if rules.sources[product.source].date is None] == []


@pytest.mark.parametrize(
    ("before", "after"),
    [('doc_date = "2007-01-02"', 'doc_date = "today"'), ('doc_date = "2007-01-02"', 'url = "kept in a drawer"')],
)
def test_an_address_or_a_date_that_is_neither_is_refused(before: str, after: str) -> None:
    with pytest.raises(MalformedError, match="Expected `str` matching regex"):
        packs(PACK.replace(before, after))


def test_a_source_that_says_no_public_url_and_undated_has_none() -> None:
    source = packs(PACK.replace('doc_date = "2007-01-02"', 'doc_date = "undated"\nurl = "no public URL"')).source(
        "paper"
    )
    assert (source.date, source.url) == (None, None)


def test_a_start_leaves_the_checks_of_shipped_packs_to_the_tests() -> None:
    code = (
        "import sys; from sizeup.sizing.advise import size; size({}); print('sizeup.sizing.pack_check' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


def test_an_override_that_no_rule_can_work_with_is_refused() -> None:
    pattern = OVERRIDE.replace("figure.io.example.value", "factor.oracle.factor.xeon.model").replace("250", '"("')

    with pytest.raises(MalformedError, match=r"rules/oracle.toml: factor oracle.factor.xeon: expected a regular"):
        load(shipped_texts(), ("mine.toml", pattern))


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(sorted(shipped_texts())), data=st.data())
def test_a_damaged_pack_is_read_or_refused_with_its_place(name: str, data: st.DataObject) -> None:
    lines = shipped_texts()[name].splitlines()
    where = data.draw(st.integers(0, len(lines) - 1))
    lines[where] = data.draw(st.sampled_from(["", lines[where] * 2, lines[where][::-1], "value = nan", "id = 'x'"]))
    try:
        load({name: "\n".join(lines)})
    except MalformedError as error:
        assert str(error).startswith(name)  # noqa: PT017  either outcome is right


def test_every_price_above_nothing_has_an_address() -> None:
    priced = [
        (product.id, source.address)
        for pack in shipped().license_packs()
        for product in pack.product
        for source in pack.source
        if source.id == product.source and any(product.price.values())
    ]
    assert priced
    assert [product for product, address in priced if address is None] == []
