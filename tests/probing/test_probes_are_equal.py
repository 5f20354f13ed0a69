"""A probe of somebody else counts like one of sizeup's: what its manifest declares matters, and not its name.

Each built-in probe is copied under another name into a distribution of its own. Everything that the console makes
of its results is the same, name for name.
"""

import ast
import io
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

import copied_probes as copies
from sizeup import cli
from sizeup.batch.standard_output import comparison_lines, session_lines
from sizeup.cli.probes import _data
from sizeup.compare.compare import compare
from sizeup.compare.digest import digest
from sizeup.compare.published_results import _headlines, published_digest
from sizeup.engine.run import probe_findings
from sizeup.model.machine import Machine
from sizeup.model.quantities import UNITS
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import RegisteredProbe, Registry, load_registry
from sizeup.report.data import results_json, write_csv
from sizeup.report.html import page
from sizeup.report.markdown import markdown
from sizeup.report.text import text
from sizeup.session.reader import read_session
from sizeup.session.value import Session
from sizeup.session.writer import Writer
from sizeup.sizing.advise import described, size
from sizeup.sizing.inputs.measured import headlines, measured
from sizeup.sizing.session_advice import AdviceOrigin, ShownAdvice
from sizeup.views.comparison.compared_charts import compared_curves
from sizeup.views.comparison.comparison import comparison_data
from sizeup.views.document.document import document
from sizeup.views.result.summary import summary
from sizeup.views.run.chart_list import chart_list, underlying_charts
from sizeup.views.run.finished import headline
from sizeup.views.run.results import results_data
from sizeup.views.run.step import point_value
from tiers import in_gate

ROOT = Path(__file__).parents[2]
View = Callable[[Session], object]


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """The built-in probes and their copies, as an installation has both."""
    folder = tmp_path_factory.mktemp("vendor")
    copies.install(folder)
    sys.path.insert(0, str(folder))
    try:
        yield load_registry()
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == copies.PACKAGE]:
            del sys.modules[name]


def session_of(probe: RegisteredProbe, folder: Path, factor: float = 1.0, id_: str = "1") -> Session:
    """A session of a probe, through a file, and so with nothing that a machine without the probe would lack."""
    path = folder / f"{probe.name}-{id_}.sizeup.jsonl"
    with Writer.create(str(path)) as writer:
        writer.write(*copies.records(probe, factor, id_))
    return read_session(str(path))


def _compared(session: Session, others: tuple[Session, ...]) -> dict[str, object]:
    def side(names: str, found: tuple[Session, ...]) -> list[Any]:
        return [digest(one, names) for one in found]

    comparison = compare(side("new", (session, *others[:4])), side("baseline", others[4:]))
    own = digest(session, "new")
    own = msgspec.structs.replace(own, values=(*own.values, *_headlines(own, session)))
    published = [compare([own], [published_digest(name)]) for name in ("slb-e5320", "clock-rdtsc")]
    return {
        "comparison": (comparison_data(comparison), comparison_lines(comparison, points=True)),
        "comparison with published cases": [comparison_data(one) for one in published],
        "compared charts": compared_curves(session, others[-1], ("baseline", "new")),
    }


def views_of(session: Session, others: tuple[Session, ...]) -> dict[str, object]:
    """Everything that is shown or written of a session, by what it is called."""
    assert session.machine is not None
    (run,) = session.steps.values()
    inputs = measured(session)
    sizing = size(described(session.machine, inputs))
    written = document(session)
    table = io.StringIO()
    write_csv(session, table)
    charts = [(entry.name, entry.draw()) for entry in chart_list(run, session.machine)]
    underlying = [[(entry.name, entry.draw()) for entry in underlying_charts(run, key)] for key in list(run.points)[:3]]
    shown = summary(session.machine, session, ShownAdvice(AdviceOrigin.CURRENT, sizing))
    return {
        "summary": shown,
        "lines": session_lines(session),
        "sizing inputs": (inputs, headlines(session), sizing.inputs),
        "sizing": sizing.advice,
        "findings": probe_findings(session),
        "charts": (charts, headline(run, session.machine)),
        "charts of the samples": underlying,
        "figure of the step": point_value(run),
        "results": results_data(session),
        "text": text(written),
        "markdown": markdown(written),
        "html": page(written),
        "json": results_json(session),
        "csv": table.getvalue(),
        **_compared(session, others),
    }


def written(views: Mapping[str, object]) -> dict[str, str]:
    """Each view as text."""
    return {name: json.dumps(msgspec.to_builtins(view), indent=1, sort_keys=False) for name, view in views.items()}


def sides(probe: RegisteredProbe, folder: Path) -> tuple[Session, tuple[Session, ...]]:
    """A session, four that are like it and five that are a tenth above."""
    factors = [*(1.0 + number / 1e3 for number in range(5)), *(1.1 + number / 1e3 for number in range(5))]
    first, *others = (session_of(probe, folder, factor, str(number)) for number, factor in enumerate(factors))
    return first, tuple(others)


def differing(
    own: RegisteredProbe, copied: RegisteredProbe, folder: Path, more: Mapping[str, View] | None = None
) -> list[str]:
    """The views in which a copy is not what the probe is; ``more`` are further views."""
    found = []
    for probe in (own, copied):
        session, others = sides(probe, folder)
        views = views_of(session, others)
        found.append(written(views | {name: view(session) for name, view in (more or {}).items()}))
    ours, theirs = found
    return [name for name in ours if copies.renamed(theirs[name], own.name) != ours[name]]


@pytest.mark.parametrize("name", in_gate("^(?!clock)", copies.NAMES))
def test_a_copy_under_another_name_appears_alike_everywhere(name: str, registry: Registry, tmp_path: Path) -> None:
    own, copied = registry.get(name), registry.get(copies.NAMES[name])

    assert (own.builtin, copied.builtin) == (True, False)
    assert differing(own, copied, tmp_path) == []


def test_a_view_that_goes_by_the_name_is_noticed(registry: Registry, tmp_path: Path) -> None:
    own = next(probe for probe in copies.OWN if probe.manifest.diagnostic)
    more: Mapping[str, View] = {
        "by name": lambda session: [run.step.probe == own.name for run in session.steps.values()],
        "by declaration": lambda session: [run.declaration.card for run in session.steps.values()],
    }

    assert differing(own, registry.get(copies.NAMES[own.name]), tmp_path, more) == ["by name"]


def test_the_made_up_results_reach_sizing_and_the_published_cases(tmp_path: Path) -> None:
    sessions = [session_of(probe, tmp_path) for probe in copies.OWN]
    keys = {key for found in sessions for key in measured(found)}
    headings = {value.metric for found in sessions for value in _headlines(digest(found, "a"), found)}

    assert keys == {
        "memory.local_ns", "memory.remote_ns", "path.bandwidth_mb_s", "path.bottleneck",
        "path.kind", "path.measured",
        "redo.sync_write_us", "redo.write_kib", "capacity.cpu_us_mb", "capacity.iops", "capacity.latency_ms",
        "capacity.curve_iops", "capacity.curve_ms", "capacity.mixed_iops", "capacity.commits_s",
    }  # fmt: skip
    assert headings == {
        "clock.gettimeofday_ns", "memory.random_store_time.1xunknown-size", "memory.random_store_time.8xunknown-size",
        "memory.random_store_scaling.8xunknown-size", "capacity.iops", "capacity.mb_s", "redo.sync_write_us",
    }  # fmt: skip


@pytest.mark.parametrize("name", copies.NAMES)
def test_a_copy_is_listed_and_planned_alike(name: str, registry: Registry) -> None:
    def listed(probe: RegisteredProbe) -> str:
        plan = make_plan(Machine(), registry, name="full", probes=[probe.name])
        data = {key: value for key, value in _data(probe, None).items() if key != "builtin"}
        return json.dumps([data, msgspec.to_builtins(plan)], indent=1)

    assert copies.renamed(listed(registry.get(copies.NAMES[name])), name) == listed(registry.get(name))


@pytest.mark.ci
def test_a_copy_really_runs_and_its_session_says_the_same(registry: Registry, tmp_path: Path) -> None:
    own = next(probe for probe in copies.OWN if probe.manifest.diagnostic)
    runs = []
    for name in (own.name, copies.NAMES[own.name]):
        path = str(tmp_path / name)
        assert cli.run(["--batch", "-q", "-p", name, "--set", f"{name}.samples=5", "-o", path]) == 0
        (run,) = read_session(path).steps.values()
        data = msgspec.to_builtins([run.step, run.distribution, dict(run.series), run.chart, run.declaration])
        runs.append(json.dumps([data, sorted(map(str, run.points)), run.finished]))

    assert copies.renamed(runs[1], own.name) == runs[0]


_ASKING = ("figures", "probe_giving", "series_giving", "giving")


@pytest.mark.ci
def test_every_quantity_that_the_program_asks_for_is_declared_by_a_probe_and_documented() -> None:
    page = (ROOT / "docs/reference/probe-contract.md").read_text(encoding="utf-8")
    declared = {quantity.name for probe in copies.OWN for one in probe.series for quantity in one.quantities}
    asked = {
        literal.value
        for source in (path.read_text(encoding="utf-8") for path in (ROOT / "console/sizeup").rglob("*.py"))
        if any(f"{name}(" in source for name in _ASKING) or "quantity=" in source
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call)
        for literal in (
            *(one.value for one in call.keywords if one.arg == "quantity"),
            *(call.args if ast.unparse(call.func).rpartition(".")[2] in _ASKING else ()),
        )
        if isinstance(literal, ast.Constant)
    }

    assert "memory.local_latency" in asked
    assert asked - declared == set()
    assert declared == set(UNITS)
    assert {name for name in declared if f"`{name}`" not in page} == set()


# Names in the code

NAMES = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, copies.NAMES))})(?![\w-])")
SERIES = frozenset(series.name for probe in copies.OWN for series in probe.series if "-" in series.name)
_PREFIXES = ("startswith", "removeprefix", "endswith", "partition", "rpartition")
_MAY_NAME = re.compile(
    "|".join(map(re.escape, [*copies.NAMES, *SERIES, *(f"{name.partition('.')[0]}." for name in copies.NAMES)]))
)
KERNEL_WORDS = {("discovery/anonymizer.py", word) for word in ("(null)", "<null>", "null")} | {
    ("discovery/platform.py", "null"), ("discovery/scsi.py", "(null)"), ("discovery/nics.py", "(null)"),
    ("importers/sar.py", "null"),
}  # fmt: skip
"""What the kernel and kSar print for nothing."""


def names_in(source: str) -> Iterator[tuple[int, str]]:
    """Literals that name a built-in probe, a family of them or a series of theirs, with their lines; no docstrings."""
    if not _MAY_NAME.search(source):
        return
    tree = ast.parse(source)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    families = {name.partition(".")[0] for name in copies.NAMES}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PREFIXES:
            of_probes = "probe" in ast.unparse(node.func.value)
            for argument in node.args:
                if of_probes and isinstance(argument, ast.Constant) and str(argument.value).rstrip(".") in families:
                    yield node.lineno, str(argument.value)
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in documentation:
            continue
        if NAMES.search(node.value) or node.value in SERIES:
            yield node.lineno, node.value


@pytest.mark.ci
def test_no_module_outside_the_plugins_names_a_probe() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {literal!r}"
        for path in sorted((ROOT / "console/sizeup").rglob("*.py"))
        for line, literal in names_in(path.read_text(encoding="utf-8"))
        if (path.relative_to(ROOT / "console/sizeup").as_posix(), literal) not in KERNEL_WORDS
    ]

    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        'if step.probe == "io.direct": pass',
        'x = f"run {y} or memory.latency with more"',
        'known = step.probe.startswith("io.")',
        'shown = [probe for probe in probes if probe.name != "null"]',
        'points = points_of(run, "latency-p99")',
    ],
)
def test_a_literal_that_names_a_probe_is_found(source: str) -> None:
    assert list(names_in(source))


@pytest.mark.parametrize("source", ['"""As io.direct does."""', 'x = "memory.local_ns"', 'y = "/dev/null"', 'z = "io"'])
def test_other_words_are_not_taken_for_names(source: str) -> None:
    assert not list(names_in(source))
