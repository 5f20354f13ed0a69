"""Files that let an engine run sizeup: Ansible, Slurm, Kubernetes, or one for containers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

from sizeup.files import packaged

ENGINES: Mapping[str, str] = MappingProxyType(
    {
        "ansible": "ansible-playbook -i INVENTORY {folder}/playbook.yml -e sizeup_executables=DIR",
        "slurm": "sbatch --nodes=N {folder}/sizeup.sbatch",
        "kubernetes": "kubectl apply -f {folder}/job.yaml",
        "container": "podman build -t sizeup {folder}/",
    }
)
"""The engines, and the command that uses what is written."""


def engine_files(engine: str) -> dict[str, bytes]:
    """Return the content of each file of an engine, by its path below the directory."""
    return packaged(resources.files("sizeup.deploy") / engine)
