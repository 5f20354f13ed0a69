"""Probes by name: found through entry points, known by their manifests, none imported to be listed.

An entry point of group ``sizeup.probes`` is called after its probe and names the class. The manifest
is ``probe.toml`` in the top-level package of that class. A broken plug-in is listed with the reason
and takes no other down.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import Distribution, EntryPoint, entry_points
from pathlib import Path
from typing import cast

from msgspec import Struct

from sizeup.errors import MalformedError, SizeupError, UsageError
from sizeup.model.finding import Finding
from sizeup.model.plan import Series
from sizeup.probing.api import Probe
from sizeup.probing.manifest import Manifest
from sizeup.probing.manifest_file import FILE_NAME, parse_manifest
from sizeup.text import nearest, one_line

GROUP = "sizeup.probes"
OWN_DISTRIBUTION = "sizeup"


class RegisteredProbe(Struct, frozen=True):
    """One probe that can be planned."""

    manifest: Manifest
    target: str
    """``package.module:Class``, imported in a worker and to plan, never to be listed."""
    distribution: str
    """Who provides it, with version: ``sizeup 0.1.0``."""

    @property
    def name(self) -> str:
        """The probe's name."""
        return self.manifest.name

    @property
    def builtin(self) -> bool:
        """Whether it came with sizeup."""
        return self.distribution.partition(" ")[0] == OWN_DISTRIBUTION

    def gives(self, quantity: str) -> bool:
        """Whether some of its results are of a quantity."""
        return any(_of(series, quantity) for series in self.series)

    def series_giving(self, quantity: str) -> Series:
        """The first series some of whose points are of a quantity that it gives."""
        return next(series for series in self.series if _of(series, quantity))

    @property
    def series(self) -> tuple[Series, ...]:
        """What it measures."""
        return tuple(entry.series(self.manifest.axes) for entry in self.manifest.series)


def _of(series: Series, quantity: str) -> bool:
    return any(declared.name == quantity for declared in series.quantities)


class BrokenProbe(Struct, frozen=True):
    """An entry point that cannot be used, and why."""

    name: str
    distribution: str
    reason: str


class Registry(Struct, frozen=True):
    """Every probe of this installation."""

    probes: Mapping[str, RegisteredProbe]
    """By name, in order of name."""
    broken: tuple[BrokenProbe, ...] = ()

    def get(self, name: str) -> RegisteredProbe:
        """The probe of that name; an unknown one is refused with the nearest."""
        probe = self.probes.get(name)
        if probe is not None:
            return probe
        for broken in self.broken:
            if broken.name == name:
                raise UsageError(f"probe {name} of {broken.distribution} cannot be used: {broken.reason}")
        raise UsageError(f"unknown probe {one_line(name, 60)!r}{nearest(name, self.probes)}; see: sizeup probe list")

    def giving(self, quantity: str) -> RegisteredProbe | None:
        """The first probe that declares a quantity, sizeup's own before those of others; None where none does."""
        found = (probe for probe in self.probes.values() if probe.gives(quantity))
        return min(found, key=lambda probe: not probe.builtin, default=None)

    def confirming(self, finding: Finding) -> RegisteredProbe | None:
        """The probe whose figures would confirm a finding: the one that stated it, or one that gives the quantity."""
        return self.probes.get(finding.probe) or self.giving(finding.quantity)

    def builtin_only(self) -> Registry:
        """The same without the plug-ins of others."""
        return Registry({name: probe for name, probe in self.probes.items() if probe.builtin}, self.broken)


def load_registry(points: Iterable[EntryPoint] | None = None) -> Registry:
    """Read the manifests of all installed probes; imports no code of theirs."""
    probes: dict[str, RegisteredProbe] = {}
    broken: list[BrokenProbe] = []
    manifests: dict[str, tuple[Manifest, ...] | str] = {}

    @cache  # metadata is parsed anew each time it is asked for
    def provider(of: Distribution | None) -> str:
        return "unknown" if of is None else f"{of.metadata['Name']} {of.metadata['Version']}"

    # sizeup's own come first, so that a stranger cannot take their names.
    own_first = sorted(
        entry_points(group=GROUP) if points is None else points,
        key=lambda point: (provider(point.dist).partition(" ")[0] != OWN_DISTRIBUTION, point.name),
    )
    for point in own_first:
        distribution = provider(point.dist)
        package = point.value.partition(":")[0].partition(".")[0]
        if package not in manifests:
            try:
                manifests[package] = _read_manifests(package)
            except SizeupError as error:
                manifests[package] = str(error)
        found = manifests[package]
        if isinstance(found, str):
            broken.append(BrokenProbe(point.name, distribution, found))
            continue
        manifest = next((manifest for manifest in found if manifest.name == point.name), None)
        if manifest is None:
            declared = ", ".join(manifest.name for manifest in found) or "none"
            reason = f"its probe.toml declares no probe of this name (it declares {declared})"
            broken.append(BrokenProbe(point.name, distribution, reason))
        elif point.name in probes:
            reason = f"{probes[point.name].distribution} provides a probe of this name already"
            broken.append(BrokenProbe(point.name, distribution, reason))
        else:
            probes[point.name] = RegisteredProbe(manifest, point.value, distribution)
    return Registry(dict(sorted(probes.items())), tuple(broken))


def load_class(target: str) -> Probe:
    """Import ``package.module:Class`` and make one; only planning and workers do this."""
    module, _, attribute = target.partition(":")
    return cast("Probe", getattr(importlib.import_module(module), attribute)())


def _read_manifests(package: str) -> tuple[Manifest, ...]:
    try:
        spec = importlib.util.find_spec(package)  # finds a top-level package without importing it
    except (ImportError, ValueError) as error:
        raise MalformedError(f"package {package} cannot be found: {error}") from error
    if spec is None or not spec.submodule_search_locations:
        raise MalformedError(f"package {package} cannot be found; reinstall its distribution")
    for folder in spec.submodule_search_locations:
        path = Path(folder) / FILE_NAME
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise MalformedError(f"{path}: cannot read: {error}") from error
        return parse_manifest(text, str(path))
    raise MalformedError(f"package {package} has no probe.toml; see docs/how-to/write-a-probe.md")
