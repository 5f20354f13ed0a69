"""Read ``probe.toml``: its structure, then what its declarations say of each other."""

from __future__ import annotations

from typing import Literal

import msgspec

from sizeup.decoding import TomlError, convert, toml_tables
from sizeup.errors import MalformedError
from sizeup.probing.manifest import Manifest
from sizeup.probing.manifest_mistakes import mistakes
from sizeup.probing.manifest_structure import structure_mistakes
from sizeup.probing.mistake import Mistake

FILE_NAME = "probe.toml"


class ManifestFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"format": "schema"}):
    """The whole file."""

    format: Literal["sizeup.probe/1"]
    probe: tuple[Manifest, ...]


def parse_manifest(text: str, where: str) -> tuple[Manifest, ...]:
    """Return the probes that a ``probe.toml`` declares; ``where`` names it in errors. The first mistake is raised."""
    try:
        manifests, found = manifest_mistakes(text)
    except TomlError as error:
        raise MalformedError(f"{where}: expected a sizeup.probe/1 manifest: {error}") from error
    if found:
        raise MalformedError(f"{where}: {found[0]}")
    return manifests


def manifest_mistakes(text: str) -> tuple[tuple[Manifest, ...], list[Mistake]]:
    """Return the probes of a ``probe.toml`` and every mistake in it; no probes if the structure is wrong.

    Raise ``TomlError`` if it is not TOML.
    """
    data = toml_tables(text)
    try:
        manifests = convert(data, ManifestFile).probe
    except msgspec.ValidationError as error:
        # msgspec stops at the first mistake, so each part is converted by itself.
        found = list(structure_mistakes(data, ManifestFile))
        return (), found or [Mistake((), "manifest", "the structure of sizeup.probe/1", str(error))]
    return manifests, list(mistakes(manifests))
