"""The locked test environment has what pyproject.toml asks for, in versions that it permits, each file by its hash."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / ".ci" / "test-environment.txt").read_text("utf-8")


def test_each_requirement_is_locked_in_a_version_that_is_permitted() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    asked += [*extras["test"], *extras["completion"], *extras["fleet"]]
    locked = dict(re.findall(r"^([\w-]+)==([\w.]+)", LOCK, re.MULTILINE))
    requirements = [one for one in map(Requirement, asked) if one.name != "sizeup"]

    assert len(requirements) > 20
    assert not [str(one) for one in requirements if locked.get(one.name, "0") not in one.specifier]


def test_each_file_is_known_by_its_hash() -> None:
    entries = re.split(r"^(?=[\w-]+==)", LOCK, flags=re.MULTILINE)[1:]

    assert len(entries) > 40
    assert not [entry.partition("=")[0] for entry in entries if "--hash=sha256:" not in entry]
