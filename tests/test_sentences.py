"""No program searches a sentence: words are made of values, and what needs the value is given the value.

Words are what a name says that it is: a title, a note, a text. Looking into them is allowed where they are not ours,
such as the file of a kernel or the answer of a user, where an id has a documented form, and to cut a line to a width.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WORDS = re.compile(
    "(about|brief|caveat|clause|detail|fix|headline|heading|label|line|message|note|problem|reason|remedy|rule|"
    "sentence|statement|summary|text|title|verdict|why|word)s?"
)
SEARCHES = re.compile(r"r?partition|r?split|startswith|endswith|removeprefix|removesuffix|replace|find|index")
PATTERNS = re.compile("match|fullmatch|search|sub|split|findall|finditer")
FOREIGN = {
    "discovery/": "files of the kernel and of the firmware",
    "importers/": "files of other programs",
    "procfs/": "files of the kernel",
}
"""Packages that read what others wrote, and make no sentence of their own."""
ALLOWED = {
    "a choice or an id": {
        "charts/axes.py": "fit",
        "fleet/catalog.py": "short_cpu",
        "sizing/editions.py": "_cloud",
        "sizing/flash.py": "_bookkeeping",
        "sizing/io/capacity.py": "_found_links",
        "sizing/licensing/contract.py": "count_basis",
        "sizing/licensing/count.py": "counted_hosts FormulaNames.__call__ _refuse_more_than_there_are",
        "sizing/licensing/limits.py": "pinned_cores",
        "sizing/licensing/required.py": "_units",
        "sizing/workload.py": "covers_one_instance fills_in",
        "views/run/step_badge.py": "short_axis",
    },
    "the width of a line": {
        "charts/drawing.py": "shortened",
        "text.py": "clipped",
        "tui/screens/sizing_text.py": "working_line",
        "tui/widgets/chart.py": "ChartView.action_cursor_row",
        "tui/widgets/lists.py": "hanging",
        "views/cards/table.py": "_shortened",
        "views/result/band.py": "band_sentence",
        "views/run/live_figures.py": "_name",
    },
    "characters that a format or a terminal cannot have": {
        "charts/markup.py": "style_sheet",
        "masking.py": "Masker.text Masker._recognized",
        "report/markdown.py": "_text",
        "report/openmetrics.py": "_escaped _word",
        "text.py": "clean decode capitalized",
    },
    "what a user typed": {
        "cli/__init__.py": "split_path",
        "cli/renamed.py": "modern _renamed _values_first _renamed_options",
        "cli/start.py": "spec_of _gentle",
        "compare/conditions.py": "parse_condition",
        "probing/manifest.py": "_convert",
        "sizing/design.py": "_base",
        "sizing/keys.py": "InputKey._number InputKey._bare",
        "sizing/io/capacity.py": "_parse_stages",
        "sizing/licensing/contract.py": "chosen_options",
        "tui/dialogs.py": "CommandDialog.fill PickDialog.fill",
        "tui/screens/probe_forms.py": "TargetDialog.fill",
        "tui/screens/topology.py": "TopologyScreen._search",
        "tui/screens/write_confirmation.py": "targets",
        "views/inputs/whatif.py": "parse_typed shortened",
        "views/result/candidates.py": "price_table",
        "sizeup_memory/memhammer.py": "_count _cpus",
    },
    "a page of the documentation": {
        "cli/help.py": "run _verbatim InstalledPage.title find_page linked_pages",
        "cli/page_text.py": "print_page",
    },
    "the output of another process": {
        "live/cost.py": "parse_cost",
        "remote/measurement.py": "HostMeasurement",
        "tui/screens/export_dialog.py": "-",
        "tui/runs.py": "Runs._ended",
        "sizeup_net/link.py": "PeerLink.listening",
    },
    "the title of a series, in the form that a manifest has it in": {
        "charts/line_cells.py": "_is_named_by_its_frame",
        "model/plan.py": "Series.title_parts Series.plain_title Series.short_title",
        "views/run/step_badge.py": "rate_text",
    },
    "a file of the user or of a plug-in": {
        "probing/kit/plugin_files.py": "_line_of_point line_of",
        "probing/kit/template.py": "template_files",
        "probing/manifest_file.py": "_key",
        "sizing/inputs/imported.py": "read_workload _intervals",
        "sizing/licensing/cost.py": "last_day",
    },
    "a title, in the form that the records of a session have it in": {
        "views/inputs/advice.py": "confidence_text answer_title",
        "views/result/summary.py": "worded",
    },
    "the records of a session file": {
        "session/builder.py": "SessionBuilder.add decode",
        "session/store.py": "_is_empty _end",
        "session/validity.py": "check_reasons",
        "views/run/latency.py": "recorded_counts",
    },
    "a number and its unit": {
        "tui/run_form.py": "format_setting",
        "units.py": "_three_digits number_and_unit format_in",
    },
    "the cells of a drawing": {
        "tui/screens/topology.py": "_drawn",
        "views/map/cores.py": "_group_rows",
    },
    "the path before an error": {
        "tui/screens/sessions.py": "SessionsScreen._lines",
    },
    "the reason of the kernel": {
        "views/machine/hardware_sections.py": "nvme_section",
    },
    "the texts of probes, which differ in figures alone": {
        "views/run/results.py": "without_figures",
    },
    "a file of the kernel": {
        "sizeup_direct_io/disks.py": "rotating_disks",
        "sizeup_direct_io/point_verdict.py": "read_limits",
        "sizeup_direct_io/target.py": "refuse_if_used",
    },
}
"""Why a function may look into words, and by module which do; ``-`` is the module itself."""
OPEN = {"the text of an option, which is shown as a key": {"views/inputs/option_text.py": "by_names"}}
"""What still searches words of ours: only to be emptied."""


def tail(node: ast.expr) -> str:
    """What a value is called, or the function that made it."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=ast.Attribute(attr="lower" | "casefold" | "strip" | "rstrip" | "lstrip", value=inner)):
            return tail(inner)
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return tail(inner)
    return ""


def is_words(node: ast.expr) -> bool:
    """Whether a value is called words, in the singular or the plural; a formatted figure is words, too."""
    name = tail(node)
    last = name.strip("_").lower().rpartition("_")[2]
    return name.startswith("format_") or WORDS.fullmatch(last) is not None


def is_sentence(node: ast.expr) -> bool:
    """Whether this is a text that stands in the program, or several of them."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(is_sentence, node.elts))
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and bool(node.value) and isinstance(node.value, str)
    )


def is_search(node: ast.AST) -> bool:
    """Whether this looks into words, or compares them with others."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name, value=found)) if SEARCHES.fullmatch(name) and is_words(found):
            return True
        case ast.Call(func=ast.Attribute(attr=name), args=[*_, found]) if PATTERNS.fullmatch(name) and is_words(found):
            return True
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[right]):
            return (is_words(right) and is_sentence(left)) or (is_words(left) and is_sentence(right))
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
            return is_words(left) and is_sentence(right)
    return False


def searches(source: str) -> Iterator[tuple[str, int]]:
    """Yield the function and the line of each search, ``Class.method`` for a method."""

    def walk(node: ast.AST, inside: tuple[str, ...]) -> Iterator[tuple[str, int]]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inside = (*inside, node.name)
        elif is_search(node):
            yield ".".join(inside) or "-", getattr(node, "lineno", 0)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, inside)

    return walk(ast.parse(source), ())


def listed(*lists: Mapping[str, Mapping[str, str]]) -> set[tuple[str, str]]:
    return {
        (module, function)
        for groups in lists
        for group in groups.values()
        for module, functions in group.items()
        for function in functions.split()
    }


def in_the_product() -> Mapping[tuple[str, str], int]:
    """The first line of each function that searches, outside of the packages that read foreign files."""
    found: dict[tuple[str, str], int] = {}
    for top in ("console/sizeup", "plugins"):
        for file in sorted((ROOT / top).rglob("*.py")):
            name = file.relative_to(ROOT / top).as_posix()
            if not name.startswith(tuple(FOREIGN)):
                for function, line in searches(file.read_text(encoding="utf-8")):
                    found.setdefault((name, function), line)
    return found


@pytest.mark.ci
def test_no_program_searches_a_sentence_and_what_is_listed_is_still_there() -> None:
    known, found = listed(ALLOWED, OPEN), in_the_product()
    wrong = [f"{name}:{line} {where}" for (name, where), line in found.items() if (name, where) not in known]
    assert not wrong, "pass the value from which these words were made, or list the place with its reason"
    assert not known - set(found)
    assert not listed(ALLOWED) & listed(OPEN)


@pytest.mark.parametrize(
    "line",
    [
        'first = card.statement.partition(". ")[0]',
        'late = [note for note in card.notes if note.startswith("Assumed")]',
        'rest = finding.title.removeprefix("Storage: ")',
        'text = worst.text.replace(" demand", " demand by rule of thumb", 1)',
        'valid = not headline_text(run).endswith(", not valid")',
        'number = format_value(value, unit).partition(" ")[0]',
        'known = verdict == "No workload"',
        'known = "assumed" in note.lower()',
        'open_ = caveat in ("did not converge", "no estimate yet")',
        "found = _OPTION.search(self._remedy)",
    ],
)
def test_a_planted_search_is_noticed(line: str) -> None:
    assert list(searches(f"class Card:\n    def told(self):\n        {line}\n")) == [("Card.told", 3)]


@pytest.mark.parametrize(
    "line", ["at = names.index(title)", 'found = given.find("license.cost")', 'key, _, value = option.partition("=")']
)
def test_what_is_no_search_of_words_is_let_through(line: str) -> None:
    assert not list(searches(line))
