"""sizeup beside an NFS server that drops every packet, in a guest: each command ends, with words.

Run by hand: ``SIZEUP_LAB=... pytest -m lab tests/lab/test_hung_nfs.py``; takes 3 to 10 min, as times are those of the
product's limits, and none is compared.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from lab.guest import fill_guest, run_guest, skip_without_lab

pytestmark = pytest.mark.lab
_PLAN = "run -q --plan quick --mount /mnt/filer"
_PROBE = "run -q --full-load -p io.direct --set io.direct.path=/mnt/filer"
_INSIDE = """
ip -n filer link set eth0 down
export PYTHONPATH=/guest/in/site XDG_STATE_HOME=/tmp/state XDG_CONFIG_HOME=/tmp/state LC_ALL=C.UTF-8
mkdir -p /tmp/state
cat > /tmp/each.py <<'END'
import json, os, subprocess, sys, time
found = {}
for words in sys.argv[1:]:
    began = time.monotonic()
    console = words == "console"
    plain = ["python3", "-m", "sizeup", *words.split()]
    command = ["script", "-qec", "python3 -m sizeup", "/dev/null"] if console else plain
    typed = "(sleep 90; printf q; sleep 20)" if console else "true"
    shell = " ".join(map(repr, command))
    done = subprocess.run(["sh", "-c", f"{typed} | timeout -s KILL 400 {shell}"], capture_output=True, text=True)
    found[words] = {"status": done.returncode, "said": done.stdout + done.stderr, "seconds": time.monotonic() - began}
left = subprocess.run(["pgrep", "-fc", "sizeup"], capture_output=True, text=True).stdout
json.dump({"each": found, "left": int(left)}, open(os.environ["OUT"] + "/found.json", "w"))
END
python3 /tmp/each.py detect "run -q -p null" console "PLAN" "PROBE" >$OUT/said 2>&1; cat $OUT/said
""".replace("PLAN", _PLAN).replace("PROBE", _PROBE)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    skip_without_lab()
    given = tmp_path_factory.mktemp("guest") / "in"
    fill_guest(given)
    out = run_guest("nfs", given, tmp_path_factory.mktemp("out"), _INSIDE, minutes=30)
    told: dict[str, Any] = json.loads((Path(out) / "found.json").read_text())
    print({words: (one["status"], round(one["seconds"])) for words, one in told["each"].items()})
    return told


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("detect", 0, "/mnt/filer"),
        ("run -q -p null", 0, "Session saved"),
        ("console", 0, ""),
        (_PLAN, 3, "did not answer within 5 s"),
        (_PROBE, 1, "did not return within 60 s"),
    ],
)
def test_each_command_ends_with_words(found: dict[str, Any], words: str, status: int, said: str) -> None:
    one = found["each"][words]

    assert (one["status"], said in one["said"], "Traceback" in one["said"]) == (status, True, False), one


def test_nobody_is_left(found: dict[str, Any]) -> None:
    assert found["left"] == 0
