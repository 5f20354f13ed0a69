"""What licenses cost over their term, by prices with a date."""

from datetime import date
from pathlib import Path

import pytest

from sizeup import cli
from sizeup.sizing import rules
from sizeup.sizing.advise import size
from sizeup.sizing.keys import parse_settings
from sizeup.views.result.answer import answer_lines
from sizing.license_cases import OVERRIDE, RULES, XEON, found, sized


def test_costs_add_up_over_the_term_with_discount_and_increase() -> None:
    sizing = sized(
        "machine.cores=2", XEON, "license.discount_percent=50", "license.uplift_percent=10", "license.term_years=2"
    )
    net, support = 47500 * 0.5, 47500 * 0.5 * 0.22
    total = found(sizing, "license.cost.term").quantity

    assert total.value == pytest.approx(net + support + support * 1.1)


def test_an_overridden_price_is_the_users_wherever_it_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "rules.toml"
    mine.write_text(OVERRIDE)
    settings = ["machine.cores=2", XEON]

    assert cli.run(["size", "--machine", "none", "--rules", str(mine), "--show", "sources", "--set", *settings]) == 0
    text = capsys.readouterr().out
    assert "1 license x $21,000 = $21,000" in text
    assert "oracle.ee.price.processor = 21,000 USD (user, oracle.ee)" in text
    assert "overridden by the user on 2026-11-20: contract" in text


def test_a_rules_file_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["size", "--machine", "none", "--rules", str(tmp_path / "none.toml")]) == 2
    assert "none.toml: expected a file of rule overrides" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ((), "(list of 2026-08-03)"),
        (("license.list_usd=30000",), "(your price)"),
        (("license.pack=windows", "machine.sockets=1"), "(list of 2026-07)"),
    ],
)
def test_every_cost_shows_the_date_of_its_price(settings: tuple[str, ...], text: str) -> None:
    sizing = sized("machine.cores=8", XEON, *settings)

    assert found(sizing, "license.cost.list").verdict.endswith(text)
    assert text.removesuffix(")") in found(sizing, "license.cost.term").verdict


@pytest.mark.parametrize(
    ("settings", "today", "warned"),
    [
        ((), date(2027, 8, 3), ()),
        ((), date(2027, 8, 4), ("Oracle Database Enterprise Edition is of 2026-08-03",)),
        (
            ("license.options=partitioning",),
            date(2027, 8, 4),
            ("Oracle Database Enterprise Edition is of 2026-08-03", "Partitioning is of 2026-08-03"),
        ),
        (("license.list_usd=30000",), date(2027, 8, 4), ()),
        (("license.pack=mysql",), date(2027, 8, 4), ()),
        (("license.pack=sql-server", "machine.sockets=1"), date(2023, 12, 31), ()),
        (("license.pack=sql-server", "machine.sockets=1"), date(2024, 1, 1), ("SQL Server Enterprise is of 2022",)),
        (("license.pack=windows", "machine.sockets=1"), date(2027, 7, 31), ()),
        (("license.pack=windows", "machine.sockets=1"), date(2027, 8, 1), ("Windows Server Standard is of 2026-07",)),
    ],
)
def test_a_price_older_than_a_year_is_a_warning(
    settings: tuple[str, ...], today: date, warned: tuple[str, ...]
) -> None:
    sizing = size(parse_settings(["machine.cores=8", XEON, *settings]), RULES, today)

    prices = [
        warning for warning in sizing.warnings if warning.startswith("the list price of ") and " is of " in warning
    ]
    assert prices == [
        f"the list price of {text}, more than a year old: compare it with the vendor's list" for text in warned
    ]


def test_without_a_license_cost_no_price_is_too_old() -> None:
    assert [one for one in size({}, RULES, date(2027, 11, 1)).warnings if "price" in one] == []


def test_an_overridden_price_is_no_list_price() -> None:
    mine = rules.load(rules.shipped_texts(), ("mine.toml", OVERRIDE))
    sizing = size(parse_settings(["machine.cores=2", XEON]), mine, date(2027, 11, 1))

    assert found(sizing, "license.cost.list").title == "Price"
    assert found(sizing, "license.cost.list").verdict.endswith("(your price of 2026-11-20)")
    assert "price list" not in " ".join(source.title.lower() for source in found(sizing, "license.cost.term").sources)
    users = size(parse_settings(["machine.cores=2", XEON, "license.metric=nup", "license.options=rac"]), mine)
    assert found(users, "license.cost.term").verdict.endswith("(list of 2026-08-03)"), (
        "the price by users is the list's"
    )
    both = size(parse_settings(["machine.cores=2", XEON, "license.options=rac"]), mine)
    assert found(both, "license.cost.term").verdict.endswith("(your price of 2026-11-20 and list of 2026-08-03)")
    assert [one for one in sizing.warnings if "price" in one] == []


def test_rules_that_are_too_old_warn_beside_their_answers() -> None:
    sizing = size(parse_settings(["machine.cores=8", XEON]), RULES, date(2028, 1, 1))

    assert any("Oracle Database" in warning for warning in sizing.warnings)
    assert sizing.find("license.units") is not None


def test_without_a_public_price_the_cost_says_how_to_set_one() -> None:
    sizing = sized("license.pack=db2", "license.product=standard", "machine.cores=8")

    assert found(sizing, "license.cost.list").verdict == (
        "List price: Db2 11.5 Standard Edition has no public price. Use --set license.list_usd=N "
        "license.support_percent=N"
    )
    assert sizing.find("license.cost.term") is None


@pytest.mark.parametrize(("setting", "said"), [((), True), (("license.support_percent=20",), False)])
def test_a_price_without_support_says_that_none_is_counted(setting: tuple[str, ...], said: bool) -> None:
    term = found(sized("license.pack=db2", "machine.cores=8", "license.list_usd=1000", *setting), "license.cost.term")

    assert ("(your price; no support: --set license.support_percent=N)" in term.verdict) is said


def test_what_the_chosen_edition_leaves_unused_and_what_sets_a_price_stand_on_the_screen() -> None:
    lines = " ".join(
        " ".join(answer_lines(sized("license.pack=db2", "license.product=standard", "machine.cores=24"))).split()
    )

    assert "Unused Cores that Standard Edition uses: 16 cores of 24 cores" in lines
    assert "Cost Db2 11.5 Standard Edition has no public price. Use --set license.list_usd=N" in lines
