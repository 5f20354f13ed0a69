"""Size a machine for a workload: the share of storage, CPU and memory it takes, licenses and their cost.

The verdict comes first, then one table: PASS up to 70% of the capacity, WARN up to 100%, FAIL above; an edition that
is not permitted is a FAIL. The exit status is 0 for every verdict. Without a workload there is no verdict;
--rules-of-thumb fills in what rules of 2006 expect of these cores.

    sizeup size --workload awr.txt --set workload.growth_percent=20 workload.horizon_years=3

Figures come from this machine, a capture, a session or a published case; --set replaces any of them.
machine.cores counts the cores of all sockets. Two sockets of four 2.66 GHz cores each:

    sizeup size --rules-of-thumb --set machine.sockets=2 machine.cores_per_socket=4 machine.ghz=2.66
    sizeup size --rules-of-thumb --set machine.sockets=2 machine.cores=8 machine.ghz=2.66
"""

from __future__ import annotations

import argparse
import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sizeup.cli.against import add_against
from sizeup.cli.conflicts import refuse_combination, refuse_without
from sizeup.cli.size_report import add_report_arguments, report_subject, wants_report, write_report
from sizeup.cli.sizing_inputs import PERCENTILE, TEXT_LIMIT, add_sizing_inputs, read_workload_files
from sizeup.errors import ExitStatus, UsageError
from sizeup.input_file import read_text
from sizeup.text import nearest

if TYPE_CHECKING:
    from datetime import date

    from sizeup.model.advice import Advice
    from sizeup.model.machine import Machine
    from sizeup.session.value import Session
    from sizeup.sizing.advise import Sizing
    from sizeup.sizing.input_value import Value
    from sizeup.sizing.licensing.editions import OtherContract
    from sizeup.sizing.rules import Rules
    from sizeup.sizing.sheet import Inputs
    from sizeup.sizing.sizing_comparison import SizingComparison

_MOST_CORES = 65536


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    _add_subject(parser)
    add_against(parser, "--compare-with", metavar="NAME", help="compare every figure with a published case")
    add_sizing_inputs(
        parser,
        settings="set a figure, such as machine.ghz=2.66 (list the keys with --keys)",
        workload="take the workload from",
    )
    parser.add_argument(
        "--percentile", type=float, help="percentile of the workload's intervals to size for (default: 95)"
    )
    parser.add_argument("--devices", metavar="A,B", help="count only these disks of the workload files")
    parser.add_argument(
        "--workload-cores",
        type=int,
        metavar="N",
        help="physical cores of the servers that the workload files are of: the CPU demand by sar, iostat or vmstat",
    )
    parser.add_argument(
        "--rules", metavar="FILE", help="overrides of rules (default: rules.toml in the configuration directory)"
    )
    parser.add_argument("--keys", action="store_true", help="list every key of --set with its meaning and range")
    parser.add_argument(
        "--rules-of-thumb", action="store_true", help="fill in what rules of thumb expect where no workload is given"
    )
    parser.add_argument("--working", action="store_true", help="print every answer with its working")
    parser.add_argument(
        "--explain",
        metavar="ID",
        help="print one answer with working and sources: storage, space, cpu, memory, license, or an id",
    )
    parser.add_argument("--sources", action="store_true", help="print every answer with working and sources")
    parser.add_argument(
        "--licenses", action="store_true", help="print only the license table: every product of every vendor"
    )
    parser.add_argument(
        "--sensitivity",
        action="store_true",
        help="print how answers react to each input, and at which values decisions change",
    )
    parser.add_argument("--json", action="store_true", help="print as JSON in base units, with working and sources")
    add_report_arguments(parser)


def _add_subject(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say what is sized."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--session",
        metavar="FILE",
        help="size the machine of a saved session, with its measurements; says how the result differs from the "
        "recorded advice",
    )
    what.add_argument(
        "--sysroot",
        metavar="DIR",
        default="/",
        help="size a capture (a directory or an archive) instead of this machine",
    )
    what.add_argument("--preset", metavar="NAME", help="size a published case (list them with sizeup size cases)")
    what.add_argument(
        "--candidates",
        metavar="FILE",
        nargs="+",
        help="size several servers for one workload and print them side by side, the best first: captures, sessions "
        "(.jsonl), or TOML files of servers that are offered",
    )
    what.add_argument("--blank", action="store_true", help="use only the figures given with --set")


def run(arguments: argparse.Namespace) -> int:
    """Size one machine or one published case."""
    from sizeup.sizing.advise import size
    from sizeup.sizing.inputs.typed import parse_settings
    from sizeup.sizing.keys import KEYS
    from sizeup.sizing.session_advice import recomputed_label

    _refuse_without_effect(arguments)
    in_report = wants_report(arguments)
    if arguments.keys:
        for key in KEYS.values():
            print(f"{key.name:32} {key.help}; {key.expectation}")
        return ExitStatus.OK
    pack = _rules(arguments.rules)
    today = datetime.now(UTC).date()
    thumb = ["workload.rules_of_thumb=yes"] if arguments.rules_of_thumb or arguments.compare_with else []
    settings = {**_workload(arguments), **parse_settings([*thumb, *arguments.settings])}
    if arguments.candidates:
        from sizeup.cli.candidates import candidates_text

        print(candidates_text(arguments.candidates, settings, pack, today, as_json=arguments.json))
        return ExitStatus.OK
    session = _session(arguments)
    machine = _machine(arguments, session)
    sizing = size(_inputs(arguments, settings, session, machine), pack, today)
    label = "" if session is None else recomputed_label(sizing, session.advice)
    if in_report:
        write_report(
            arguments, sizing, pack, today, report_subject(arguments, machine, session, _subject(arguments), label)
        )
    elif arguments.json:
        print(json.dumps(_data(arguments, sizing, pack, today, label), indent=1))
    else:
        print("\n".join(_lines(arguments, sizing, pack, label)))
    return ExitStatus.OK


def _data(arguments: argparse.Namespace, sizing: Sizing, pack: Rules, today: date, label: str) -> dict[str, Any]:
    """Return the answer as plain data, with what further options ask for."""
    from sizeup.sizing.sensitivity import flips, tornados
    from sizeup.views.inputs.advice import sizing_data
    from sizeup.views.inputs.sensitivity import sensitivity_data
    from sizeup.views.inputs.sizing_comparison import sizing_comparison_data
    from sizeup.views.result.licenses import license_data

    data = sizing_data(sizing, pack, today, _subject(arguments))
    if arguments.compare_with is not None:
        data["ratios"] = sizing_comparison_data(_compared(arguments, sizing, pack))
    if arguments.licenses:
        data["licenses"] = license_data(sizing, pack)
    if arguments.sensitivity:
        data["sensitivity"] = sensitivity_data(
            tornados(sizing.inputs, sizing.advice, pack),
            flips(sizing.inputs, sizing.advice, pack),
            _contracts(sizing, pack),
        )
    if label:
        data["recomputed"] = label
    return data


def _lines(arguments: argparse.Namespace, sizing: Sizing, pack: Rules, label: str) -> list[str]:
    """Return the answer as text, or the part of it that an option asks for."""
    from sizeup.report.table import table_lines, wrap
    from sizeup.views.inputs.advice import sizing_lines
    from sizeup.views.inputs.sizing_comparison import sizing_comparison_lines
    from sizeup.views.result.answer import LINES, answer_lines
    from sizeup.views.result.basis import basis_text

    origin = ["", *wrap(label, 80)] if label else []
    if arguments.licenses:
        from sizeup.views.result.licenses import license_table

        return [*table_lines(license_table(sizing, pack), 80), *origin]
    lines = []
    if arguments.explain is not None:
        lines += _explanation(arguments.explain, sizing, pack)
    elif arguments.working or arguments.sources:
        lines += sizing_lines(sizing, sources=arguments.sources)
    else:
        max_lines = LINES - len(origin)
        lines += answer_lines(sizing, most=max_lines, basis=basis_text(sizing.inputs), warnings=sizing.warnings)
    if arguments.sensitivity:
        lines += ["", *_sensitivity_lines(sizing, pack)]
    if arguments.compare_with is not None:
        compared = sizing_comparison_lines(_compared(arguments, sizing, pack))
        lines += ["", f"Compared with {arguments.compare_with}", *compared]
    return [*lines, *origin]


def _sensitivity_lines(sizing: Sizing, pack: Rules) -> list[str]:
    """Return how the main answers move with their inputs, what turns a decision, and what other contracts cost."""
    from sizeup.sizing.sensitivity import flips, tornados
    from sizeup.views.inputs.sensitivity import contract_lines, flip_table, sensitivity_lines

    turns = flip_table(flips(sizing.inputs, sizing.advice, pack), sizing, pack)
    swings = tornados(sizing.inputs, sizing.advice, pack)
    return [*sensitivity_lines(swings, turns), *contract_lines(_contracts(sizing, pack))]


def _compared(arguments: argparse.Namespace, sizing: Sizing, pack: Rules) -> tuple[SizingComparison, ...]:
    """Return every figure beside that of the published case."""
    from sizeup.sizing.advise import size
    from sizeup.sizing.inputs.presets import find_preset
    from sizeup.sizing.sizing_comparison import compare_sizings

    other = size(find_preset(arguments.compare_with).values(), pack)
    return compare_sizings(sizing, other, _subject(arguments), arguments.compare_with)


def _explanation(name: str, sizing: Sizing, pack: Rules) -> list[str]:
    """Return the answer of that name with its working, or that there is nothing to say about it."""
    from sizeup.sizing.advise import unanswered
    from sizeup.views.inputs.advice import advice_lines

    if sizing.find(name) is None and (nothing := unanswered(sizing.inputs, name, pack)):
        return nothing
    return advice_lines(_explained(name, sizing), sources=True)


def _explained(name: str, sizing: Sizing) -> Advice:
    """Return the answer of that id, or of the resource of that name."""
    from sizeup.sizing.advise import CALCULATIONS

    card = next((card for card in sizing.cards if card.resource == name), None)
    found = sizing.find(card.advice if card is not None and card.advice else _WITHOUT_DEMAND.get(name, name))
    if found is not None:
        return found
    if card is not None:
        what = "a license count" if name == "license" else "a demand"
        raise UsageError(f"--explain {name}: expected {what} to explain, found none; {_DEMAND_OF.get(name, '')}")
    known = next((one for one in CALCULATIONS if name.startswith(one.gives)), None)
    if known is not None:
        nothing = f"nothing about the {known.name} applies to these inputs"
        why = next((one.sentence() for one in sizing.questions if one.calculation == known.name), nothing)
        raise UsageError(
            f"--explain {name}: expected an answer, found none: {why}; list the ids with sizeup size --sources"
        )
    hint = nearest(name, [advice.id for advice in sizing.advice])
    raise UsageError(
        f"--explain: expected storage, space, cpu, memory, license or the id of an answer, found {name!r}{hint}; "
        "list the ids with sizeup size --sources"
    )


_WITHOUT_DEMAND = {"storage": "io.capacity"}
"""What explains a resource that has no demand."""
_DEMAND_OF = {
    "cpu": "use --set workload.cpu_cores=N",
    "memory": "use --set sga.mb=N or --set db.gb=N",
    "network": "it is judged where the paths to storage use it",
    "storage": "use --workload FILE or --set workload.iops=N",
    "license": "use --set machine.cores=N",
    "space": "use --set db.gb=N",
}


def _refuse_without_effect(arguments: argparse.Namespace) -> None:
    for flag in ("--percentile", "--devices", "--workload-cores"):
        refuse_without(arguments, flag, "--workload")
    rest = ("--against", "--sensitivity", "--sources", "--working", "--explain")
    refuse_combination(arguments, "--candidates", (*rest, "--licenses"))
    every = ("--session", "--candidates", "--preset", "--blank", "--set", "--workload", "--licenses", *rest, "--json")
    refuse_combination(arguments, "--keys", every)
    refuse_combination(arguments, "--explain", ("--working", "--sources", "--json"))
    if not (arguments.json or arguments.html or arguments.markdown):  # documents have room for all of them
        refuse_combination(arguments, "--licenses", rest)


def _contracts(sizing: Sizing, pack: Rules) -> tuple[OtherContract, ...]:
    """Return what other editions and metrics cost, where the chosen one has a cost."""
    from sizeup.sizing.licensing.editions import other_contracts

    return () if sizing.find("license.cost.term") is None else other_contracts(sizing.inputs, pack)


def _subject(arguments: argparse.Namespace) -> str:
    """What is sized, in a word or two."""
    if arguments.blank:
        return "the given machine"
    elsewhere = arguments.sysroot if arguments.sysroot != "/" else None
    return str(arguments.preset or arguments.session or elsewhere or "this machine")


def _session(arguments: argparse.Namespace) -> Session | None:
    """The saved session whose machine is sized; None where it is another subject."""
    if not arguments.session:
        return None
    from sizeup.session.reader import read_session
    from sizeup.session.store import find

    return read_session(find(arguments.session))


def _machine(arguments: argparse.Namespace, session: Session | None) -> Machine | None:
    """Return the machine that is sized; None where its figures are typed or published."""
    if arguments.blank or arguments.preset:
        return None
    if session is not None:
        return session.machine
    from sizeup.discovery.machine import discover

    return discover(arguments.sysroot)


def _inputs(
    arguments: argparse.Namespace, settings: dict[str, Value], session: Session | None, machine: Machine | None
) -> Inputs:
    """Return the inputs of the subject, with the user's settings in their place."""
    from sizeup.sizing.advise import described
    from sizeup.sizing.inputs.presets import find_preset

    if arguments.blank:
        return settings
    if arguments.preset:
        return {**find_preset(arguments.preset).values(), **settings}
    if session is None:
        assert machine is not None
        return described(machine, settings)
    from sizeup.sizing.recorded_inputs import sized_inputs

    return sized_inputs(session, arguments.session, settings)


def _workload(arguments: argparse.Namespace) -> dict[str, Value]:
    """Return the inputs from the workload files."""
    percentile = PERCENTILE if arguments.percentile is None else arguments.percentile
    if not 0 < percentile <= 100:
        raise UsageError(f"--percentile: expected a number above 0 and at most 100, found {percentile:g}")
    cores = arguments.workload_cores
    if cores is not None and not 1 <= cores <= _MOST_CORES:
        raise UsageError(f"--workload-cores: expected a whole number from 1 to {_MOST_CORES}, found {cores}")
    devices = tuple(name.strip() for name in (arguments.devices or "").split(",") if name.strip())
    return read_workload_files(arguments.workload, percentile, devices, cores)


def _rules(path: str | None) -> Rules:
    """Return the shipped rules with the user's overrides, from ``path`` or from the configuration directory."""
    import platformdirs

    from sizeup.sizing import rules

    where = path or os.path.join(platformdirs.user_config_dir("sizeup"), "rules.toml")
    if path is None and not os.path.exists(where):
        return rules.shipped()
    text = read_text(where, "a file of rule overrides", TEXT_LIMIT)
    return rules.load(rules.shipped_texts(), (where, text))
