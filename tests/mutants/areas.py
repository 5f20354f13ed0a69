"""Which tests concern a source file: those that a mutant of it is shown to."""

from fnmatch import fnmatch

_MEMORY = ("tests/plugins/test_memory_oracles.py", "tests/plugins/test_[!c]*.py", "tests/plugins/test_c[!l]*.py")
_CLOCK = ("tests/plugins/test_clock_oracles.py", "tests/plugins/test_clock_*.py")
_NATIVE_JOB = ("tests/probing/test_native.py",)
_DIRECT_IO = (
    "tests/plugins/direct_io/test_observed_calls.py",
    "tests/plugins/direct_io/test_[!r]*.py",
    "tests/plugins/direct_io/test_run*.py",
)

_NFS = ("tests/plugins/test_nfs_clients.py",)

_C_TESTS = (
    ("native/src/direct_io_client.c", ()),
    ("native/src/permutation.c", ("test_strides", "test_ring", "test_measured_latency")),
    ("native/src/chase.c", ("test_strides", "test_ring", "test_latency")),
    ("native/src/latency.c", ("test_measured_latency", "test_latency")),
    ("native/src/traffic.c", ("test_measured_traffic", "test_thread_group")),
    ("native/src/handoff.c", ("test_measured_handoff", "test_thread_group")),
    ("native/src/hammer.c", ("test_stores", "test_hammer", "test_thread_group")),
    ("native/src/shm.c", ("test_measured_shm", "test_shm")),
    ("native/src/tlb.c", ("test_tlb",)),
    ("native/src/clock_cost.c", ("test_clock_methods", "test_latency", "test_watch")),
    ("native/src/clock*.c", ("test_clock_order", "test_clock_methods", "test_thread_group")),
    ("native/src/stats.c", ("test_stats", "test_measured_latency")),
    ("native/src/replicates.*", ("test_stats", "test_measured_latency")),
    ("native/src/interleave.*", ("test_measured_latency", "test_stats", "test_latency")),
    ("native/src/batch.c", ("test_disturbance", "test_watch", "test_measured_latency")),
    ("native/src/cpu.c", ("test_cpu", "test_watch", "test_latency")),
    ("native/src/arena.c", ("test_arena", "test_latency", "test_thread_group")),
    ("native/src/job*", ("test_job", "test_latency")),
    ("native/src/histogram.c", ("test_histogram", "test_quantiles")),
    ("native/src/commit.c", ("test_commit",)),
    ("native/src/direct_io_target.c", ("test_extents", "test_direct_io_target")),
    (
        "native/src/direct_io*",
        (
            *("test_direct_io_calls", "test_direct_io_times", "test_direct_io_samples", "test_direct_io_usage"),
            *("test_direct_io", "test_direct_io_workers", "test_direct_io_denied"),
        ),
    ),
)

_PYTEST = (
    ("native/src/direct_io_client.c", _NFS),
    ("plugins/sizeup_nfs/*", _NFS),
    ("native/src/direct_io*", _DIRECT_IO),
    ("native/src/commit.c", ("tests/plugins/direct_io/test_commit.py",)),
    ("native/src/histogram.c", _DIRECT_IO),
    ("native/src/clock*", _CLOCK),
    ("native/src/stats.c", (*_MEMORY, *_CLOCK, "tests/plugins/direct_io/test_measure.py")),
    ("native/src/[ibrj]*", (*_MEMORY, *_CLOCK)),
    ("native/*", _MEMORY),
    ("plugins/sizeup_memory/*", _MEMORY),
    ("plugins/sizeup_clock/*", _CLOCK),
    ("plugins/sizeup_direct_io/*", _DIRECT_IO),
    ("plugins/sizeup_net/*", ("tests/plugins/test_net_path.py",)),
    ("console/sizeup/probing/native.py", (*_NATIVE_JOB, *_MEMORY)),
    ("console/sizeup/model/*", ("tests/sizing/test_*.py", "tests/fleet/test_*.py")),
    ("console/sizeup/quantity.py", ("tests/sizing/test_*.py", "tests/compare/test_*.py")),
    ("console/sizeup/units.py", ("tests/test_units.py",)),
)

_ALSO = {
    "compare": ("tests/cli/test_check.py", "tests/fleet/test_[!p]*.py", "tests/sizing/test_size_*.py"),
    "discovery": ("tests/procfs/test_*.py",),
    "live": ("tests/engine/test_*.py",),
    "procfs": ("tests/live/test_*.py", "tests/discovery/test_*.py", "tests/plugins/direct_io/test_[!r]*.py"),
    "session": ("tests/compare/test_*.py", "tests/sizing/test_[em]*.py", "tests/fleet/test_[!p]*.py"),
    "sizing": ("tests/compare/test_*.py",),
}
"""Folders of the console that tests of other folders cover, too."""


def c_tests_of(file: str) -> tuple[str, ...]:
    """Return the C tests of a source file, the likeliest to notice first."""
    return next((tests for pattern, tests in _C_TESTS if fnmatch(file, pattern)), ())


def pytest_files_of(file: str) -> tuple[str, ...]:
    """Return the test files of a source file, as patterns; those of the console lie in the folder of the same name."""
    listed = next((tests for pattern, tests in _PYTEST if fnmatch(file, pattern)), ())
    if listed or not file.startswith("console/sizeup/"):
        return listed
    folder = file.split("/")[2]
    return (f"tests/{folder}/test_*.py", *_ALSO.get(folder, ()))
