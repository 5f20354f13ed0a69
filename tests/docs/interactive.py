"""Run a command of sizeup on a terminal as a reader would, and leave it once it stands: by q."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from terminal import Terminal

with Terminal([sys.executable, "-m", "sizeup", *sys.argv[1:]], environment=dict(os.environ), directory=Path.cwd()) as t:
    t.wait_for("Quit", 60)
    t.wait_quiet()
    t.press("q")
    status = t.wait()
sys.exit(0 if status in (0, 130) else status)
