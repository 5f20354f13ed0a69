"""The independent loops, compiled for a test."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("independent_loops.c")


def compiled_loops(folder: Path) -> ctypes.CDLL:
    """Return the library; skip the test where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler (cc) to compile the independent loops with")
    library = folder / "independent_loops.so"
    subprocess.run([compiler, "-O3", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
    loops = ctypes.CDLL(str(library))
    loops.chain_new.restype = loops.array_new.restype = ctypes.c_void_p
    loops.chain_new.argtypes = [ctypes.c_uint32]
    loops.array_new.argtypes = [ctypes.c_uint64]
    loops.chain_ns.restype = loops.core_hz.restype = loops.counter_hz.restype = ctypes.c_double
    loops.chain_ns.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
    loops.core_hz.argtypes = [ctypes.c_uint32]
    for name in ("read_rate", "write_rate"):
        function = getattr(loops, name)
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.c_uint64]
    return loops
