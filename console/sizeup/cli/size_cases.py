"""List published cases, show what is known about one, or compare two of them.

sizeup size cases                       list every case
sizeup size cases redo-10db             show the inputs of one; sizeup size --machine redo-10db works it out
sizeup size cases --compare A B         compare every figure that both have, in both directions
"""

from __future__ import annotations

import argparse
import json

from sizeup.cli.arguments import arg, refuse_combination, switch
from sizeup.errors import ExitStatus

SCHEMA = "sizeup.presets/1"
SCHEMA_COMPARE = "sizeup.presets-compare/1"
ARGUMENTS = (
    arg("name", nargs="?", metavar="NAME", help="show this case"),
    arg("--compare", nargs=2, metavar=("A", "B"), help="compare two cases"),
    switch("--json", help="print as JSON in base units"),
)


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
            data = {"schema": SCHEMA_COMPARE, "a": a, "b": b, "ratios": sizing_comparison_data(comparisons)}
            print(json.dumps(data, indent=1))
        else:
            print("\n".join(sizing_comparison_lines(comparisons)) or f"{a} and {b} have no figure in common")
        return ExitStatus.OK
    presets = list(shipped_presets().values()) if name is None else [find_preset(name)]
    if arguments.json:
        import msgspec

        print(json.dumps({"schema": SCHEMA, "presets": msgspec.to_builtins(presets)}, indent=1))
        return ExitStatus.OK
    for preset in presets:
        print(f"{preset.name:26} {preset.title}")
        if name is not None:
            print(f"  source: {preset.source}")
            print(*(f"  {key} = {value}" for key, value in preset.inputs.items()), sep="\n")
            print(f"  note: {preset.note}" if preset.note else f"  work it out: sizeup size --machine {preset.name}")
    return ExitStatus.OK
