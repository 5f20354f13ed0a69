"""Watches who opens files of ``/proc`` and ``/sys``: run in a process, and in the Python processes that it starts.

Not imported: ``test_kernel_files`` has a child process execute this text, with ``LOG`` and ``HOOK`` defined.
An event counts for the nearest caller that is no part of the standard library: a frame of sizeup, of a plug-in or of
a package. What psutil, py-cpuinfo and pyudev open is theirs.
"""

import os
import re
import sys
import sysconfig

_WATCHED = re.compile(r"/(proc|sys)(/|$)")
_EVENTS = frozenset({"open", "os.listdir", "os.scandir"})
_LIBRARIES = frozenset({"psutil", "cpuinfo", "pyudev"})
_PATHS = sysconfig.get_paths()
_STANDARD = (_PATHS["stdlib"] + os.sep, _PATHS["platstdlib"] + os.sep)
_PACKAGES = ("site-packages", "dist-packages")
_log = os.open(globals()["LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC)


def _of_standard_library(file):
    return file.startswith("<frozen") or (file.startswith(_STANDARD) and not any(name in file for name in _PACKAGES))


def _caller():
    """Name of the module whose code asked for the file; None where nothing but the standard library runs."""
    frame = sys._getframe(2)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name != "__main__" and not _of_standard_library(frame.f_code.co_filename):
            return name
        frame = frame.f_back
    return None


def _watch(event, arguments):
    if event in _EVENTS and isinstance(arguments[0], (str, bytes)):
        path = os.fsdecode(arguments[0])
        if _WATCHED.match(path):
            caller = _caller()
            if caller is not None and caller.partition(".")[0] not in _LIBRARIES:
                os.write(_log, os.fsencode(f"{caller} {path}\n"))


sys.addaudithook(_watch)

# The workers, and whatever else is started, are watched too.
from sizeup import child_process  # noqa: E402

with open(globals()["HOOK"], encoding="utf-8") as _source:
    _head = f"LOG, HOOK = {globals()['LOG']!r}, {globals()['HOOK']!r}; exec(open(HOOK, encoding='utf-8').read()); "
child_process._BOOT = _head + child_process._BOOT
