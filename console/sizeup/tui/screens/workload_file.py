"""The inputs that a workload file gives, read as `sizeup size --workload` does."""

from __future__ import annotations

import os

from sizeup.input_file import read_text
from sizeup.sizing.input_value import Value

_LIMIT = 64 << 20
_PERCENTILE = 95.0


def workload_inputs(path: str) -> dict[str, Value]:
    """Return the inputs; raise with the importer's sentence if the file describes no workload."""
    from sizeup.sizing.inputs.imported import WorkloadFile, read_workload  # which the start does without

    whole = os.path.abspath(os.path.expanduser(path))  # so that "-" is a file too, not the terminal
    return read_workload((WorkloadFile(path, read_text(whole, "a workload file", _LIMIT)),), _PERCENTILE)
