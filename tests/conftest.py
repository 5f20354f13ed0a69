"""What every test may rely on, whoever runs the suite, from where, and in which order.

Nothing is read from or written into the folders of the user who runs it; what a caller had ignored, as ``nohup``
has hang-ups, is not handed on to the programs that the tests start.
"""

import gc
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path

import hypothesis
import pytest
from hypothesis.configuration import set_hypothesis_home_dir

from fakes import HandContext

_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)

_OURS = ("SIZEUP_CONFIG", "SIZEUP_RUN_", "SIZEUP_CONSOLE_")
"""Settings of the product; other variables that begin alike are those of this suite."""

_BUSY = "SIZEUP_RUN_BUSY"
os.environ[_BUSY] = "ignore"  # what a run does is not to depend on the load of this host, whoever starts it

_SURROUNDINGS = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TMUX", "STY", "SSH_CONNECTION", "SSH_TTY")
"""What a terminal or a multiplexer leaves in the environment, and the product looks at."""

_GATE = (
    "batch/test_batch.py",
    "batch/test_compare.py",
    "batch/test_interrupted.py",
    "batch/test_store_commands.py",
    "compare/test_error_rates.py",
    "plugins/direct_io/test_path_states.py",
    "plugins/direct_io/test_run.py",
    "plugins/direct_io/test_target_files.py",
    "plugins/direct_io/test_untouched.py",
    "pty",
    "remote/test_measurement.py",
    "report/test_extremes.py",
    "test_child_process.py",
    "tui",
)
"""What needs a terminal or the console, starts whole runs, or works for seconds: the gate runs it."""

_NOT_GATE = (
    "tui/test_cpu_affinity.py",
    "tui/test_docs.py",
    "tui/test_keymap.py",
    "tui/test_runs.py",
    "tui/test_startup.py",
)
"""Of these, what shows within seconds that the console starts, shows a machine and a run, and obeys its keys."""

_FOLDER = Path(__file__).parent

_scratch = pytest.StashKey[str]()
_homes = count()


def pytest_configure(config: pytest.Config) -> None:
    """Make the process one that tests can start others from."""
    os.umask(0o022)
    for number in _SIGNALS:
        if signal.getsignal(number) is signal.SIG_IGN:
            # Still ignored here, but by a handler, which a program that is started does not inherit.
            signal.signal(number, lambda number, frame: None)
    config.stash[_scratch] = home = tempfile.mkdtemp(prefix="sizeup-tests-")
    # By default hypothesis writes into the current folder, which need not be ours. What it keeps of our modules serves
    # the other process too, and the next run.
    with suppress(AttributeError, OSError):  # no cache is wanted, or none can be written
        home = str(config.cache.mkdir("hypothesis"))
    set_hypothesis_home_dir(home)
    hypothesis.settings.register_profile("sizeup", database=None, deadline=None)
    hypothesis.settings.load_profile("sizeup")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind."""
    shutil.rmtree(config.stash.get(_scratch, ""), ignore_errors=True)


@cache
def _in_gate(path: Path) -> bool:
    """Whether all tests of a file are left to the gate."""
    gate, not_gate = ([_FOLDER / name for name in names] for names in (_GATE, _NOT_GATE))
    return path not in not_gate and any(path.is_relative_to(listed) for listed in gate)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Read no file of which no test would run: a fifth of the start of the README's command."""
    by_default = config.option.markexpr in config.getini("addopts")
    left_out = by_default and collection_path.suffix == ".py" and _in_gate(collection_path)
    return True if left_out else None


class _Backwards(pytest.Dir):
    """A directory read from its end, so that of two processes each rewrites the assertions of half the files."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        return reversed([*super().collect()])


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Dir | None:
    """Let every second process begin at the other end; each finds there what another one has rewritten."""
    second = re.fullmatch(r"gw\d*[13579]", os.environ.get("PYTEST_XDIST_WORKER", ""))
    return _Backwards.from_parent(parent, path=path) if second else None


@pytest.hookimpl(tryfirst=True)  # before pytest looks at the markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to the gate what takes long."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.path)  # all processes have to agree
    if gone := [name for name in (*_GATE, *_NOT_GATE) if not (_FOLDER / name).exists()]:
        raise pytest.UsageError(f"listed in {__file__}, but not there: {', '.join(gone)}")
    by_hand = {"lab", "long"}
    for item in items:
        if _in_gate(item.path) and by_hand.isdisjoint(mark.name for mark in item.iter_markers()):
            item.add_marker(pytest.mark.ci)


def pytest_collection_finish() -> None:
    """Keep the collector from looking at four thousand tests again and again: a seventh of the run."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


@pytest.fixture(autouse=True)
def _nobodys_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No configuration, no saved session and no terminal of the user; the folders are made by who needs them."""
    home = f"{tmp_path_factory.getbasetemp()}/homes/{next(_homes)}"
    for name, folder in (("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("XDG_DATA_HOME", "data")):
        monkeypatch.setenv(name, f"{home}/{folder}")
    for name in list(os.environ):
        if name != _BUSY and (name in _SURROUNDINGS or name.startswith(_OURS)):
            monkeypatch.delenv(name)


@pytest.fixture
def context() -> HandContext:
    """What a probe is handed, to be canceled by hand."""
    return HandContext()
