"""Files that let an engine for many hosts run sizeup: Ansible, Slurm, Kubernetes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType

from sizeup import files
from sizeup.errors import UsageError

ENGINES: Mapping[str, str] = MappingProxyType(
    {
        "ansible": "ansible-playbook -i INVENTORY {folder}/playbook.yml -e sizeup_wheels=DIR",
        "slurm": "sbatch --nodes=N {folder}/sizeup.sbatch",
        "kubernetes": "kubectl apply -f {folder}/job.yaml",
    }
)
"""The engines, and the command that uses what is written."""


def write_engine_files(engine: str, folder: str) -> list[str]:
    """Write the files of an engine into a directory that is new or empty; return their paths."""
    if os.path.exists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise UsageError(f"{folder}: exists and is not an empty directory; choose another one")
    written = []
    for name, content in sorted(engine_files(engine).items()):
        path = os.path.join(folder, name)
        try:
            files.make_directory(os.path.dirname(path))
            files.write(path, lambda file, content=content: file.write(content))  # type: ignore[misc]
        except OSError as error:
            raise UsageError(f"{path}: cannot write: {error.strerror}; choose another directory") from error
        written.append(path)
    return written


def engine_files(engine: str) -> dict[str, bytes]:
    """Return the content of each file of an engine, by its path below the directory."""
    return dict(_contents(resources.files("sizeup.deploy") / engine, ""))


def _contents(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _contents(entry, f"{prefix}{entry.name}/")
        else:
            found.append((prefix + entry.name, entry.read_bytes()))
    return found
