"""The staged tests of io.direct inside virtual machines, where the kernel has what this one may lack.

Device mapper, md, quotas, disks that can be taken away, NFS servers that can be cut off. Run by hand:
``SIZEUP_LAB=... pytest -m lab tests/lab/test_direct_io.py``; a guest takes 3 to 10 min.
"""

import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from lab.guest import LAB, fill_guest, skip_without_lab

pytestmark = pytest.mark.lab


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the guest gets: the program, and this suite."""
    skip_without_lab()
    made = tmp_path_factory.mktemp("guest") / "in"
    fill_guest(made)
    return made


@pytest.mark.parametrize(
    ("profile", "chosen"),
    [
        ("plain", "tests/plugins/direct_io/test_mapped.py"),
        ("nfs", "tests/plugins/direct_io/test_nfs.py"),
        ("numa2", "tests/plugins/direct_io/test_members.py"),
        ("hba", "tests/plugins/direct_io/test_lost_path.py"),
    ],
)
def test_everything_passes_in_a_guest(folder: Path, tmp_path: Path, profile: str, chosen: str) -> None:
    inside = (
        "PYTHONPATH=/guest/in/site python3 -m pytest -c /dev/null -m lab --import-mode=importlib "
        f"-o pythonpath=/guest/in/tests -p no:cacheprovider --junit-xml=$OUT/junit.xml -rA {chosen} >$OUT/said 2>&1"
    )
    subprocess.run(
        [LAB / "run-guest", "--in", folder, "--out", tmp_path, "--timeout", "2400", profile, "--", inside],
        check=False,
        timeout=3000,
    )
    print((tmp_path / "said").read_text())
    results = ET.parse(tmp_path / "junit.xml").getroot().iter("testcase")
    passed = {
        f"{case.get('name')}": len(case) == 0 or {part.tag for part in case} == {"system-out"} for case in results
    }
    assert passed
    assert [name for name, held in passed.items() if not held] == []
