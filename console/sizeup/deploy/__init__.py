"""Files that let an engine for many hosts run sizeup: Ansible, Slurm, Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType

ENGINES: Mapping[str, str] = MappingProxyType(
    {
        "ansible": "ansible-playbook -i INVENTORY {folder}/playbook.yml -e sizeup_wheels=DIR",
        "slurm": "sbatch --nodes=N {folder}/sizeup.sbatch",
        "kubernetes": "kubectl apply -f {folder}/job.yaml",
    }
)
"""The engines, and the command that uses what is written."""


def engine_files(engine: str) -> dict[str, bytes]:
    """Return the content of each file of an engine, by its path below the directory."""
    return dict(sorted(_contents(resources.files("sizeup.deploy") / engine, "")))


def _contents(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _contents(entry, f"{prefix}{entry.name}/")
        else:
            found.append((prefix + entry.name, entry.read_bytes()))
    return found
