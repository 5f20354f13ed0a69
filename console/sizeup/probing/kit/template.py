"""Write a complete plug-in for an author to begin with: pure Python, or C behind cffi."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files as package_files

from sizeup.errors import UsageError
from sizeup.files import packaged
from sizeup.text import one_line

TEMPLATES: Mapping[str, str] = {"python": "acme.rate", "c": "acme.fill"}
"""The name of the probe in each template, which the author's replaces."""
_SUFFIX = ".template"
_NAME = re.compile(r"[a-z][a-z0-9]*(\.[a-z0-9]+)+")


def template_files(kind: str, name: str) -> dict[str, bytes]:
    """Return the content of each file of a template, by its path, with the name of the author's probe."""
    if kind not in TEMPLATES:
        raise UsageError(f"sizeup probe new: expected {' or '.join(TEMPLATES)}, found {one_line(kind, 60)!r}")
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"sizeup probe new: expected the name of the probe, two or more lower-case words joined by dots such as "
            f"{TEMPLATES[kind]}, found {one_line(name, 60)!r}"
        )
    written = TEMPLATES[kind]
    # The name of the probe, of its package and of its distribution.
    names = {written.replace(".", mark): name.replace(".", mark) for mark in (".", "_", "-")}
    found: dict[str, bytes] = {}
    for path, text in packaged(package_files("sizeup.probing.kit") / "templates" / kind).items():
        if path.endswith(_SUFFIX):
            path = path.removesuffix(_SUFFIX)  # noqa: PLW2901
            for old, new in names.items():
                path, text = path.replace(old, new), text.replace(old.encode(), new.encode())  # noqa: PLW2901
            found[path] = text
    return found
