"""Size a machine for a workload: the share of storage, CPU and memory it takes, licenses and their cost.

The verdict comes first, then one table: PASS up to 70 % of the capacity, WARN up to 100 %, FAIL above; an edition that
is not permitted is a FAIL. The exit status is 0 for every verdict. Without a workload there is no verdict: --profile
judges by published requirements, and --rules-of-thumb fills in what rules of 2006 expect of these cores.

    sizeup size --workload awr.txt --set workload.growth_percent=20 workload.horizon_years=3
    sizeup size --profile etcd

Figures come from this machine, a capture, a session or a published case; --set replaces any of them.
machine.cores counts the cores of all sockets. Two sockets of four 2.66 GHz cores each:

    sizeup size --rules-of-thumb --set machine.sockets=2 machine.cores_per_socket=4 machine.ghz=2.66
    sizeup size --rules-of-thumb --set machine.sockets=2 machine.cores=8 machine.ghz=2.66

--show working        every answer with its working
--show sources        also where each figure is from
--show licenses       every product of every vendor
--show sensitivity    how answers react to each input, and at which values decisions change
"""

from __future__ import annotations

import argparse
import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sizeup.cli.arguments import allow_undecided, arg, refuse_combination, refuse_without, switch
from sizeup.cli.results import chosen_format, document_text, format_arguments, write_document, write_text
from sizeup.cli.size_emit import FILES
from sizeup.cli.sizing_inputs import SIZING, SizedSubject, sized_subject, sizing_rules, workload_inputs
from sizeup.errors import ExitStatus, UsageError
from sizeup.portability import host_name
from sizeup.text import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from sizeup.model.advice import Advice
    from sizeup.sizing.advise import Sizing
    from sizeup.sizing.editions import OtherContract
    from sizeup.sizing.rules import Rules
    from sizeup.sizing.sensitivity import Flip, Swing
    from sizeup.sizing.sizing_comparison import SizingComparison
    from sizeup.views.document.blocks import DocumentPart

CASES_SCHEMA = "sizeup.presets/1"
CASES_COMPARE_SCHEMA = "sizeup.presets-compare/1"
_FORMATS = ("text", "json", "html", "markdown")
_PARTS = ("working", "sources", "licenses", "sensitivity")
"""What ``--show`` takes beside the id of an answer; other formats than text have the first two anyway."""
ARGUMENTS = (
    arg(
        "--machine", metavar="MACHINE", default="this",
        help="what to size: this, a capture, a session with its measurements, a server in TOML, a published case "
        "(sizeup size cases lists them), or none, for the figures of --set alone (default: this)",
    ),
    arg(
        "--against", metavar="NAME|FILE.toml",
        help="compare every figure with a published case, or each part with an order",
    ),
    arg(
        "--profile", metavar="NAME|FILE",
        help="judge by published requirements instead of a workload: etcd, cockroachdb or another of sizeup help "
        "profiles, or limits in TOML; exit status 5 if one is missed, 6 if at least one is undecided",
    ),
    switch(
        "--design",
        help="print the fewest drives, ports, cores and memory that carry the workload today, after a failure and in "
        "the last year; -o FILE.toml keeps them as a server for --machine and size compare",
    ),
    arg(
        "--emit", metavar="NAME", action="extend", nargs="+", choices=FILES,
        help=f"print the settings that the verdict rests on as files: {', '.join(FILES)}; -o DIR writes them",
    ),
    allow_undecided("a requirement of the profile is undecided"),
    *SIZING,
    arg(
        "--show", metavar="PART", action="extend", nargs="+", default=[],
        help="what to print: working, sources, licenses, sensitivity, or one answer by its id or as storage, space, "
        "cpu, memory or license",
    ),
    *format_arguments(_FORMATS),
)  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Size one machine or one published case."""
    from sizeup.sizing.advise import size
    from sizeup.sizing.session_advice import recomputed_label

    if arguments.emit:
        from sizeup.cli.size_emit import write_settings

        return write_settings(arguments)
    if arguments.design:
        from sizeup.cli.size_design import write_design

        return write_design(arguments)
    if arguments.against is not None and arguments.against.endswith(".toml"):
        from sizeup.cli.size_design import write_delivery

        return write_delivery(arguments)
    inputs = (*arguments.workload, arguments.machine, arguments.rules)
    refuse_without(arguments, "--allow-undecided", "--profile")
    refuse_combination(arguments, "--profile", ("--against", "--show", "--rules-of-thumb"))
    effects = {"--against": ("text", "json"), "--profile": ("text", "json")}
    chosen = chosen_format(arguments, _FORMATS, inputs, effects)
    answers = [name for name in arguments.show if name not in _PARTS]
    if answers and chosen != "text":
        raise UsageError(
            f"--show {answers[0]} has no effect on the format {chosen}, which has every answer; leave out one of them"
        )
    arguments.rules_of_thumb |= arguments.against is not None
    pack, today = sizing_rules(arguments.rules), datetime.now(UTC).date()
    subject = sized_subject(arguments.machine, workload_inputs(arguments))
    sizing = size(subject.inputs, pack, today)
    if arguments.profile is not None:
        from sizeup.cli.size_profile import write_profile

        return write_profile(arguments, subject._replace(inputs=sizing.inputs), chosen)
    label = "" if subject.session is None else recomputed_label(sizing, subject.session.advice)
    if chosen in ("html", "markdown"):
        from sizeup.views.document.sizing_document import Subject, sizing_document

        # A machine goes by its host name.
        title = host_name() if subject.name == "this machine" else os.path.basename(os.path.abspath(subject.name))
        if subject.session is not None:
            title = subject.session.title or subject.session.header.host
        elif subject.machine is None:
            title = subject.name
        else:
            title = subject.machine.platform.hostname or title
        about = Subject(title, subject.machine if subject.session is None else None, subject.session, label)
        chapters = tuple(_chapters(arguments.show, sizing, pack))
        written = sizing_document(sizing, pack, today, about, chapters)
        write_document(arguments.output, document_text(written, chosen))
    elif chosen == "json":
        write_text(json.dumps(_data(arguments, sizing, pack, today, subject, label), indent=1) + "\n", arguments.output)
    else:
        write_text("\n".join(_lines(arguments, sizing, pack, subject, label)) + "\n", arguments.output)
    return ExitStatus.OK


def _chapters(show: Sequence[str], sizing: Sizing, rules: Rules) -> Iterator[DocumentPart]:
    """Yield the chapters that were asked for by further options."""
    from sizeup.views.document.blocks import DocumentPart
    from sizeup.views.result.licenses import license_table

    if "licenses" in show:
        yield DocumentPart("Licenses of every vendor", (license_table(sizing, rules),), open=True)
    if "sensitivity" in show:
        from sizeup.views.inputs.sensitivity import flip_table, tornado_chart

        swings, flips = _sensitivity(sizing, rules)
        turns = flip_table(flips, sizing, rules)
        charts = (tornado_chart(target, swing) for target, swing in swings if swing)
        if blocks := (*charts, *((turns,) if turns.rows else ())):
            yield DocumentPart("What would change the answer", blocks, open=True)


def _data(
    arguments: argparse.Namespace, sizing: Sizing, pack: Rules, today: date, subject: SizedSubject, label: str
) -> dict[str, Any]:
    """Return the answer as plain data, with what further options ask for."""
    import msgspec

    from sizeup.sizing.licensing.table import rows
    from sizeup.views.inputs.advice import sizing_data
    from sizeup.views.inputs.sensitivity import sensitivity_data
    from sizeup.views.inputs.sizing_comparison import sizing_comparison_data

    data = sizing_data(sizing, pack, today, subject.name)
    if arguments.against is not None:
        data["ratios"] = sizing_comparison_data(_compared(arguments.against, sizing, pack, subject))
    if "licenses" in arguments.show:
        data["licenses"] = [msgspec.to_builtins(row) for row in rows(sizing.inputs, pack)]
    if "sensitivity" in arguments.show:
        data["sensitivity"] = sensitivity_data(*_sensitivity(sizing, pack), _contracts(sizing, pack))
    if label:
        data["recomputed"] = label
    return data


def _lines(arguments: argparse.Namespace, sizing: Sizing, pack: Rules, subject: SizedSubject, label: str) -> list[str]:
    """Return the answer as text, or the parts of it that are asked for."""
    from sizeup.report.table import table_lines
    from sizeup.sizing.advise import unanswered
    from sizeup.text import wrap
    from sizeup.views.inputs.advice import advice_lines, sizing_lines
    from sizeup.views.inputs.sizing_comparison import sizing_comparison_lines
    from sizeup.views.result.answer import LINES, answer_lines
    from sizeup.views.result.basis import basis_text
    from sizeup.views.result.licenses import license_table

    origin = ["", *wrap(label, 80)] if label else []
    parts: list[list[str]] = []
    for part in dict.fromkeys(arguments.show):
        if part == "licenses":
            parts.append(table_lines(license_table(sizing, pack), 80))
        elif part in ("working", "sources"):
            parts.append(sizing_lines(sizing, sources=part == "sources"))
        elif part != "sensitivity":
            nothing = unanswered(sizing.inputs, part, pack) if sizing.find(part) is None else ()
            explained = [*nothing] or advice_lines(_explained(part, sizing), sources=True)
            parts += [explained] if explained not in parts else []
    if not parts:
        most = LINES - len(origin)
        findings = () if subject.machine is None else subject.machine.findings
        parts.append(answer_lines(sizing, most=most, basis=basis_text(sizing.inputs), findings=findings))
    if "sensitivity" in arguments.show:
        from sizeup.views.inputs.sensitivity import contract_lines, flip_table, sensitivity_lines

        swings, flips = _sensitivity(sizing, pack)
        turns = flip_table(flips, sizing, pack)
        parts.append([*sensitivity_lines(swings, turns), *contract_lines(_contracts(sizing, pack))])
    if arguments.against is not None:
        compared = sizing_comparison_lines(_compared(arguments.against, sizing, pack, subject))
        parts.append([f"Compared with {arguments.against}", *compared])
    lines = [line for part in parts for line in ("", *part)]
    return [*lines[1:], *origin]


def _compared(case: str, sizing: Sizing, pack: Rules, subject: SizedSubject) -> tuple[SizingComparison, ...]:
    """Return every figure beside that of the published case."""
    from sizeup.sizing.advise import size
    from sizeup.sizing.inputs.presets import find_preset
    from sizeup.sizing.sizing_comparison import compare_sizings

    return compare_sizings(sizing, size(find_preset(case).values(), pack), subject.name, case)


def _explained(name: str, sizing: Sizing) -> Advice:
    """Return the answer of that id, or of the resource of that name."""
    from sizeup.sizing.advise import CALCULATIONS

    card = next((card for card in sizing.cards if card.resource == name), None)
    found = sizing.find(
        card.advice if card is not None and card.advice else "io.capacity" if name == "storage" else name
    )
    if found is not None:
        return found
    if card is not None:
        what = "a license count" if name == "license" else "a demand"
        raise UsageError(f"--show {name}: expected {what} to explain, found none; {_DEMAND_OF.get(name, '')}")
    known = next((one for one in CALCULATIONS if name.startswith(one.gives)), None)
    if known is not None and name.startswith("license."):  # no count and no cost: why not
        why_not = next(card.advice for card in sizing.cards if card.resource == "license" and card.advice)
        if (found := sizing.find(why_not)) is not None and found.quantity is None:
            return found
    if known is not None:
        nothing = f"nothing about the {known.name} applies to these inputs"
        why = next((one.sentence() for one in sizing.questions if one.calculation == known.name), nothing)
        raise UsageError(
            f"--show {name}: expected an answer, found none: {why}; list the ids with sizeup size --show sources"
        )
    hint = nearest(name, [*_PARTS, *(card.resource for card in sizing.cards), *(advice.id for advice in sizing.advice)])
    raise UsageError(
        f"--show: expected {', '.join(_PARTS)}, storage, space, cpu, memory, license or the id of an answer, found "
        f"{name!r}{hint}; list the ids with sizeup size --show sources"
    )


_DEMAND_OF = {
    "cpu": "use --set workload.cpu_cores=N",
    "memory": "use --set sga.mb=N or --set db.gb=N",
    "network": "it is judged where the paths to storage use it",
    "storage": "use --workload FILE or --set workload.iops=N",
    "license": "use --set machine.cores=N",
    "space": "use --set db.gb=N",
}


def _sensitivity(sizing: Sizing, pack: Rules) -> tuple[tuple[tuple[Advice, tuple[Swing, ...]], ...], tuple[Flip, ...]]:
    """Return how answers react to each input, and at which values decisions change."""
    from sizeup.sizing.sensitivity import flips, tornados

    return tornados(sizing.inputs, sizing.advice, pack), flips(sizing.inputs, sizing.advice, pack)


def _contracts(sizing: Sizing, pack: Rules) -> tuple[OtherContract, ...]:
    """Return what other editions and metrics cost, where the chosen one has a cost."""
    from sizeup.sizing.editions import other_contracts

    return () if sizing.find("license.cost.term") is None else other_contracts(sizing.inputs, pack)


class Cases:
    """List published cases, show what is known about one, or compare two of them.

    sizeup size cases                       list every case
    sizeup size cases redo-10db             show the inputs of one; sizeup size --machine redo-10db works it out
    sizeup size cases --compare A B         compare every figure that both have, in both directions
    """

    ARGUMENTS = (
        arg("name", nargs="?", metavar="NAME", help="show this case"),
        arg("--compare", nargs=2, metavar=("A", "B"), help="compare two cases"),
        switch("--json", help="print as JSON in base units"),
    )

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """List, show or compare."""
        refuse_combination(arguments, "--compare", ("NAME",))
        from sizeup.sizing.inputs.presets import find_preset, shipped_presets

        name = arguments.name
        if arguments.compare is not None:
            from sizeup.sizing.advise import size
            from sizeup.sizing.sizing_comparison import compare_sizings
            from sizeup.views.inputs.sizing_comparison import sizing_comparison_data, sizing_comparison_lines

            a, b = arguments.compare
            comparisons = compare_sizings(size(find_preset(a).values()), size(find_preset(b).values()), a, b)
            if arguments.json:
                data = {"schema": CASES_COMPARE_SCHEMA, "a": a, "b": b, "ratios": sizing_comparison_data(comparisons)}
                print(json.dumps(data, indent=1))
            else:
                print("\n".join(sizing_comparison_lines(comparisons)) or f"{a} and {b} have no figure in common")
            return ExitStatus.OK
        presets = list(shipped_presets().values()) if name is None else [find_preset(name)]
        if arguments.json:
            import msgspec

            print(json.dumps({"schema": CASES_SCHEMA, "presets": msgspec.to_builtins(presets)}, indent=1))
            return ExitStatus.OK
        for preset in presets:
            print(f"{preset.name:26} {preset.title}")
            if name is not None:
                print(f"  source: {preset.source}")
                print(*(f"  {key} = {value}" for key, value in preset.inputs.items()), sep="\n")
                print(
                    f"  note: {preset.note}" if preset.note else f"  work it out: sizeup size --machine {preset.name}"
                )
        return ExitStatus.OK


class Keys:
    """List every key that sizeup size --set takes, with its meaning and its range."""

    ARGUMENTS = ()

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Print the keys."""
        del arguments
        from sizeup.sizing.keys import KEYS

        for key in KEYS.values():
            print(f"{key.name:32} {key.help}; {key.expectation}")
        return ExitStatus.OK
