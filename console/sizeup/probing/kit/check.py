"""Check a plug-in before it is installed: its entry points and manifests, without running any of it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path

from msgspec import Struct, field

from sizeup.decoding import TomlError
from sizeup.probing.kit.plugin_files import DeclaredPoint, PluginFiles, find_plugin
from sizeup.probing.kit.problem import Problem, line_of
from sizeup.probing.manifest_file import FILE_NAME, manifest_mistakes
from sizeup.probing.manifest_mistakes import unreported_limits
from sizeup.probing.registry import GROUP, Registry, load_registry
from sizeup.text import listed, nearest, one_line


class CheckedPlugin(Struct):
    """The result of a check."""

    files: PluginFiles
    problems: list[Problem] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """The probes that were found."""


def check_plugin(root: Path) -> CheckedPlugin:
    """Return every problem of the plug-in below a folder; reads files and runs nothing."""
    files = find_plugin(root)
    checked = CheckedPlugin(files, list(files.problems))
    for package, folder in files.import_roots.items():
        points = [point for point in files.points if point.package == package]
        _check_manifest(checked, folder / package / FILE_NAME, points)
        for point in points:
            _check_module(checked, folder, point)
    if not checked.problems:
        registry = registry_with(files)
        checked.problems += [
            Problem(
                point.file, point.line, f"entry point {point.name}", "a probe that can be registered", broken.reason
            )
            for point in files.points
            for broken in registry.broken
            if broken.name == point.name
        ]
    return checked


def registry_with(files: PluginFiles) -> Registry:
    """Return the registry as it will be once the plug-in is installed, in place of an installed version of it."""
    own = files.distribution.replace("-", "_").lower()
    installed = [
        point
        for point in entry_points(group=GROUP)
        if point.dist is None or point.dist.name.replace("-", "_").lower() != own
    ]
    with importable(files):
        return load_registry([*installed, *(point.entry_point() for point in files.points)])


@contextmanager
def importable(files: PluginFiles) -> Iterator[None]:
    """Let the packages of a plug-in be found, before all others."""
    before = list(sys.path)
    sys.path[:0] = [str(folder.resolve()) for folder in dict.fromkeys(files.import_roots.values())]
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = before


def _check_manifest(checked: CheckedPlugin, path: Path, points: list[DeclaredPoint]) -> None:
    """Add the problems of one manifest, and the probes that it declares."""
    file = checked.files.name(path)
    try:
        text = path.read_text(encoding="utf-8")
        manifests, found = manifest_mistakes(text)
    except FileNotFoundError:
        problem = Problem(file, 0, "file", "the manifest of the package", "no such file")
        checked.problems.append(problem)
        return
    except (OSError, UnicodeDecodeError, TomlError) as error:
        line = error.line if isinstance(error, TomlError) else 0
        checked.problems.append(Problem(file, line, "file", "TOML in UTF-8", one_line(str(error))))
        return
    checked.problems += [
        Problem(file, line_of(text, one.place), one.key, one.expected, one.found, one.action)
        for one in (*found, *unreported_limits(manifests))
    ]
    declared = {manifest.name: manifest for manifest in manifests}
    named = {point.name for point in points}
    if manifests:
        checked.names += [name for name in declared if name in named]
        for point in points:
            if point.name not in declared:
                key = f"entry point {point.name}"
                found_there = f"{listed(list(declared))}{nearest(point.name, declared)}"
                expected = f"a probe of this name in {file}"
                checked.problems.append(Problem(point.file, point.line, key, expected, found_there))
    for index, manifest in enumerate(manifests):
        if manifest.name not in named:
            line = line_of(text, ("probe", index, "name"))
            action = f'add "{manifest.name}" = "{points[0].package}.probe:Class" to the entry points'
            expected = f"an entry point of group {GROUP}"
            checked.problems.append(Problem(file, line, f"probe {manifest.name}", expected, "none", action))


def _check_module(checked: CheckedPlugin, folder: Path, point: DeclaredPoint) -> None:
    """Add the problem of an entry point whose module is not among the files."""
    module = point.target.partition(":")[0]
    base = folder.joinpath(*module.split("."))
    if not any(base.parent.glob(f"{base.name}.*")) and not (base / "__init__.py").is_file():
        found = f"no {checked.files.name(base.with_suffix('.py'))}"
        expected = f"a module {module}"
        checked.problems.append(Problem(point.file, point.line, f"entry point {point.name}", expected, found))
