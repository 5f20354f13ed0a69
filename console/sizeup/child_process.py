"""Start other Python processes without importing code from the working directory.

The working directory may be world-writable and contain a ``contextlib.py`` of another user. ``python -m`` and
``python -c`` search there first, so a child gets ``-P`` and its parent's module path.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping

# Written out, because -P alone forgets an archive that sizeup may be running from.
_BOOT = "import sys; sys.path[:] = dict.fromkeys([*{path!r}, *sys.path]); {statement}"
_MAIN = "from sizeup.__main__ import main; sys.exit(main())"


def python_command(statement: str, *arguments: str) -> list[str]:
    """Return the command that runs a statement in another process of this interpreter; start it with ``environment``.

    The child honors what this process ignores: the user's packages (``-s``) and, through
    ``environment``, Python's variables (``-E``).
    """
    flags = ["-P", "-s"] if sys.flags.no_user_site else ["-P"]
    return [sys.executable, *flags, "-c", _BOOT.format(path=_search_path(), statement=statement), *arguments]


def sizeup_command(*arguments: str) -> list[str]:
    """Return the command that runs ``sizeup`` with these arguments; start it with ``environment``."""
    return python_command(_MAIN, *arguments)


def environment(changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the caller's environment for a child, with ``changes``.

    An empty entry of PYTHONPATH, left by ``PYTHONPATH=$PYTHONPATH:/opt/lib``, means the working directory and is
    left out. A relative one was named by the caller, and is kept.
    """
    variables = {**os.environ, **(changes or {})}
    if sys.flags.ignore_environment:
        variables = {name: value for name, value in variables.items() if not name.startswith("PYTHON")}
    named = [entry for entry in variables.pop("PYTHONPATH", "").split(os.pathsep) if entry]
    return {**variables, "PYTHONPATH": os.pathsep.join(named)} if named else variables


def _search_path() -> list[str]:
    """Return ``sys.path`` without the working directory, unless somebody named it."""
    given = os.environ.get("PYTHONPATH", "") if not sys.flags.ignore_environment else ""
    entries = given.split(os.pathsep) if given else []
    unnamed = set[str]()
    if "" in entries:
        with contextlib.suppress(OSError):  # it has been removed, and so has what lay in it
            unnamed = {os.getcwd()} - {os.path.abspath(entry) for entry in entries if entry}
    return [entry for entry in sys.path if os.path.isabs(entry) and entry not in unnamed]
