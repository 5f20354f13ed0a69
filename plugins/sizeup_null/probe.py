"""A probe that measures nothing, and misbehaves on request, to test the runner."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterable, Iterator

from sizeup.errors import SizeupError
from sizeup.model.machine import Machine
from sizeup.model.plan import Settings, Step
from sizeup.model.sample import Estimate, Progress, Samples
from sizeup.probing.api import Context, Emission, RefusedError


class Null:
    """The time between two samples without work: the overhead of every other probe."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step]:
        """Plan one step on any machine."""
        del machine
        samples, interval = int(settings["samples"]), float(settings["interval"])
        seconds = samples * interval
        yield Step(
            id="null",
            probe="null",
            title=f"{samples} samples of nothing",
            settings=settings,
            estimated_seconds=seconds,
            time_limit_seconds=10 * seconds + 60,
        )

    def run(self, step: Step, context: Context) -> Iterator[Emission]:
        """Yield the time since the previous sample, then misbehave as set."""
        samples, interval = int(step.settings["samples"]), float(step.settings["interval"])
        gaps_ns = []
        before = context.now_ns()
        for number in range(samples):
            if context.canceled:
                return
            if interval:
                time.sleep(interval)
            now = context.now_ns()
            gaps_ns.append(now - before)
            yield Samples("gap", {}, (now,), (float(now - before),))
            before = now
            if number % 100 == 99:
                yield Progress((number + 1) / samples, (samples - number - 1) * interval)
        if gaps_ns:
            gaps_ns.sort()
            yield Estimate(
                "gap",
                {},
                float(gaps_ns[len(gaps_ns) // 2]),
                minimum=float(gaps_ns[0]),
                p10=float(gaps_ns[len(gaps_ns) // 10]),
                p90=float(gaps_ns[len(gaps_ns) * 9 // 10]),
            )
        _misbehave(str(step.settings["misbehave"]))


def _misbehave(how: str) -> None:
    match how:
        case "raise":
            raise ValueError("asked to raise")
        case "fail":
            raise SizeupError("asked to fail")
        case "refuse":
            raise RefusedError("asked to refuse")
        case "segfault":
            ctypes.string_at(0)
        case "hang":
            while True:
                time.sleep(3600)
        case "spin":
            # In C and holding the interpreter: neither the cancel word nor a Python handler gets through.
            ctypes.PyDLL(None).pause()
        case "garbage":
            for descriptor in range(3, 64):
                try:
                    os.write(descriptor, b"\x1b[2Jthis is no record\n")
                except OSError:
                    continue
        case "exit":
            os._exit(7)
