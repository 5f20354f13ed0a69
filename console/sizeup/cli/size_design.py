"""``sizeup size --design``: what to buy for a workload."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sizeup.cli.arguments import refuse_combination
from sizeup.cli.results import write_document, write_json, write_text
from sizeup.cli.sizing_inputs import read_workload_files, sized_subject, sizing_rules, workload_inputs
from sizeup.errors import ExitStatus, MalformedError, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sizeup.sizing.design import Design


def write_design(arguments: argparse.Namespace) -> int:
    """Print the smallest machine for the workload; ``-o FILE`` keeps it as a candidate in TOML."""
    from sizeup.sizing.design import design
    from sizeup.views.result.design import candidate_text, design_data

    refuse_combination(arguments, "--design", ("--against", "--rules-of-thumb", "--profile"))
    if arguments.show:
        way = f"sizeup size --machine order.toml --workload order.toml --show {arguments.show[0]}"
        raise UsageError(f"--show cannot be combined with --design; keep the design with -o order.toml, then use {way}")
    if arguments.format not in (None, "text", "json"):
        raise UsageError(f"--format: expected text or json with --design, found {arguments.format}")
    if arguments.output != "-" and (not arguments.output.endswith(".toml") or arguments.format is not None):
        raise UsageError(f"-o: expected a name that ends in .toml and no --format, found {arguments.output}")
    if os.path.exists(arguments.output):
        raise UsageError(f"{arguments.output}: already exists; choose another name")
    given = workload_inputs(arguments)
    # This machine is what runs the command; another one is named for its kinds of parts.
    inputs = given if arguments.machine == "this" else sized_subject(arguments.machine, given).inputs
    found = design(inputs, sizing_rules(arguments.rules))
    if not found.parts and not found.alternatives[0].unmet:
        raise UsageError(
            "--design: expected a workload, found none; use --workload FILE, or --set workload.iops=N db.gb=N "
            "workload.cpu_cores=N sga.mb=N"
        )
    if arguments.format == "json":
        write_json(design_data(found))
        return ExitStatus.OK
    if arguments.output != "-":
        write_document(arguments.output, candidate_text(found))
    write_text("\n".join(_lines(found)) + "\n")
    return ExitStatus.OK


def _lines(found: Design) -> Iterator[str]:
    """Yield the workload, what to buy, what is open, and the alternatives, in 80 columns."""
    from sizeup.report.table import table_lines, wrapped
    from sizeup.views.result.basis import basis_text
    from sizeup.views.result.design import alternatives_table, design_notes, parts_table

    yield from (*wrapped(basis_text(found.inputs), 80, "Basis    ", " " * 9), "")
    yield from table_lines(parts_table(found), 80)
    for note in design_notes(found):
        yield from wrapped(note, 80, "! ", "  ")
    if found.alternatives[1:]:
        yield from ("", *table_lines(alternatives_table(found), 80))


def write_delivery(arguments: argparse.Namespace) -> int:
    """Print the parts of the machine beside those of the order in ``--against FILE``."""
    from collections import Counter
    from contextlib import suppress

    import msgspec

    from sizeup.report.table import table_lines, wrapped
    from sizeup.sizing.advise import size
    from sizeup.sizing.delivery import delivered_parts, delivered_sizing, not_compared
    from sizeup.sizing.inputs.imported import FILE_KEYS
    from sizeup.views.result.delivery import delivery_sentence, delivery_table

    refuse_combination(arguments, "--against", ("--show", "--profile", "--rules-of-thumb"))
    if arguments.format not in (None, "text", "json") or arguments.output != "-":
        raise UsageError("--against FILE: expected text or json on standard output; leave out -o and other formats")
    rules, given = sizing_rules(arguments.rules), workload_inputs(arguments)
    if arguments.against.endswith(".toml"):  # the workload that it was ordered for
        with suppress(MalformedError):
            given = {**read_workload_files([arguments.against]), **given}
    wanted = {key: value for key, value in given.items() if key.startswith(FILE_KEYS["workload"])}  # not what was found
    ordered, here = sized_subject(arguments.against, wanted, own_first=True), sized_subject(arguments.machine, given)
    found = delivered_sizing(here.inputs, here.machine, rules)
    parts = list(delivered_parts(size(ordered.inputs, rules), found, rules, here.machine))
    others = not_compared(ordered.inputs, parts)
    if arguments.format == "json":
        data = {"counts": Counter(one.status for one in parts), "parts": msgspec.to_builtins(parts)}
        write_json({"schema": "sizeup.delivery/1", **data, "not_compared": others})
    else:
        lines = [delivery_sentence(parts), "", *table_lines(delivery_table(parts), 80)]
        aside = ["", *wrapped(", ".join(others), 80, "Not compared: ", "  ")] if others else []
        write_text("\n".join([*lines, *aside]) + "\n")
    return ExitStatus.OK
