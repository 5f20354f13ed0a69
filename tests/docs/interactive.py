"""Run a command of sizeup on a terminal as a reader would, and leave it once it stands: q for the console, ^C else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from terminal import Terminal

serving = sys.argv[1:2] == ["serve"]
with Terminal([sys.executable, "-m", "sizeup", *sys.argv[1:]], environment=dict(os.environ), directory=Path.cwd()) as t:
    if serving:
        t.wait_for("http://", 60)
        t.press("ctrl+c")
    else:
        t.wait_for("Quit", 60)
        t.wait_quiet()
        t.press("q")
    status = t.wait()
sys.exit(0 if status in (0, 130) else status)
