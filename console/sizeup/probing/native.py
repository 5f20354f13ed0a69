"""Following a native job: it measures in a thread of its own while its samples are taken out here.

A probe's extension that includes ``sizeup/job.h`` gets this for free, whoever wrote it. The
polling thread stays off the measured CPUs where the process may run anywhere else.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import wait
from typing import Any

from msgspec import Struct

from sizeup.errors import RefusedError, SizeupError
from sizeup.files import answer_of
from sizeup.model.machine import Gap
from sizeup.model.sample import Coordinates, Estimate, Progress, Samples
from sizeup.probing.api import Context, Emission

POLL_SECONDS = 0.02
_PROGRESS_STEP = 0.05  # a twentieth: nobody reads it faster
_ROOM = 1024
_CANNOT_OR_MAY_NOT = frozenset(
    (errno.EPERM, errno.ENOMEM, errno.EACCES, errno.ENODEV, errno.EINVAL, errno.ENOSPC, errno.ENOSYS, errno.EOPNOTSUPP)
)


class EstimatePoint(Struct, frozen=True):
    """What one point of the job is called in the log."""

    series: str
    at: Coordinates


class NativeJob:
    """One ``struct sizeup_job`` and the call that runs in it."""

    def __init__(self, ffi: Any, lib: Any) -> None:
        self._ffi, self._lib = ffi, lib
        job = lib.sizeup_job_new()
        if job == ffi.NULL:
            raise SizeupError("no memory for the sample ring of a native job")
        self.job = ffi.gc(job, lib.sizeup_job_free)
        self._buffer = ffi.new("struct sizeup_sample[]", _ROOM)

    def cancel(self) -> None:
        """End the job at its next look at the cancel word; safe from any thread."""
        self._lib.sizeup_job_cancel(self.job)

    @property
    def progress(self) -> float:
        """How much is done, 0 to 1."""
        return min(1.0, float(self._lib.sizeup_job_progress(self.job)))

    @property
    def reason(self) -> str:
        """Why the call failed or was refused; empty where it did not."""
        return str(self._ffi.string(self._lib.sizeup_job_reason(self.job)).decode(errors="replace"))

    def estimate(self, index: int) -> Any:
        """The last published ``struct sizeup_estimate`` of a point."""
        estimate = self._ffi.new("struct sizeup_estimate *")
        self._lib.sizeup_job_estimate(self.job, index, estimate)
        return estimate

    def follow(
        self, call: Callable[[], int], points: tuple[EstimatePoint, ...], context: Context
    ) -> Iterator[Emission]:
        """Run ``call`` in a thread and yield its samples as they come, grouped by point.

        An estimate of a point follows whenever a replicate of it has ended, and now and then how
        far the job is. Ends after the call has returned and the ring is empty; quietly when it
        was canceled. Raises ``RefusedError`` with the job's reason where the machine cannot or may not do it.
        """
        context.on_cancel(self.cancel)
        answer = answer_of(call)
        seen = [0] * len(points)
        shown, started = 0.0, time.monotonic()
        while not answer.done():
            drained = False
            for samples in self._drain(points, context):
                drained = True
                yield samples
            if drained:
                for index, point, native in self.measured(points):
                    if native.replicates > seen[index]:
                        seen[index] = native.replicates
                        yield estimate_of(point, native, final=False)
            if self.progress - shown >= _PROGRESS_STEP:
                shown = self.progress
                yield Progress(shown, (time.monotonic() - started) * (1 - shown) / shown)
            wait([answer], POLL_SECONDS)
        yield from self._drain(points, context)
        if dropped := int(self._lib.sizeup_job_dropped(self.job)):
            series = ", ".join(dict.fromkeys(point.series for point in points))
            yield Gap(
                f"{dropped:,} samples of {series}",
                "dropped: sizeup could not collect them in time because this machine was too busy. Charts of the "
                "samples have a hole; the estimates count them. Run again on a quieter machine to get all samples",
            )
        if (status := answer.result()) < 0 and status != -errno.ECANCELED:
            reason = self.reason or os.strerror(-status)
            raise (RefusedError if -status in _CANNOT_OR_MAY_NOT else SizeupError)(reason)

    def measured(self, points: tuple[EstimatePoint, ...]) -> Iterator[tuple[int, EstimatePoint, Any]]:
        """Index, point and last estimate of every point with at least one replicate."""
        for index, point in enumerate(points):
            native = self.estimate(index)
            if native.replicates:
                yield index, point, native

    def gaps(self, points: tuple[EstimatePoint, ...]) -> Iterator[Gap]:
        """Points that were tried and of which no undisturbed batch is left."""
        for index, point in enumerate(points):
            native = self.estimate(index)
            if not native.replicates and native.disturbed_share:
                where = ", ".join(f"{key} {value}" for key, value in point.at.items())
                yield Gap(f"{point.series}: {where}", "every batch was disturbed: something else used the measured CPU")

    def _drain(self, points: tuple[EstimatePoint, ...], context: Context) -> Iterator[Samples]:
        while count := int(self._lib.sizeup_job_drain(self.job, self._buffer, _ROOM)):
            rows: dict[int, list[Any]] = {}
            for sample in self._buffer[0:count]:
                rows.setdefault(sample.point, []).append(sample)
            for index, samples in rows.items():
                yield Samples(
                    series=points[index].series,
                    at=points[index].at,
                    t_ns=tuple(context.since_start_ns(sample.t_ns) for sample in samples),
                    values=tuple(sample.value for sample in samples),
                    flags=tuple(sample.flags for sample in samples) if any(s.flags for s in samples) else (),
                )


def estimate_of(
    point: EstimatePoint,
    native: Any,
    caveats: tuple[str, ...] = (),
    extra: Mapping[str, str | int | float] | None = None,
    *,
    final: bool = True,
) -> Estimate:
    """A ``struct sizeup_estimate`` as the log's value; a final one says so where it did not converge."""
    measured = native.replicates > 1
    if final and not native.converged:
        caveats = (*caveats, "did not converge: the interval is wider than asked for")
    return Estimate(
        series=point.series,
        at=point.at,
        value=native.median,
        low=native.low if measured else None,
        high=native.high if measured else None,
        replicates=native.replicates,
        minimum=native.minimum,
        p10=native.p10,
        p90=native.p90,
        disturbed_share=native.disturbed_share,
        converged=bool(native.converged) if final else None,
        caveats=caveats,
        extra=extra or {},
    )


def leave_cpus_or_tell(measured: Collection[int]) -> tuple[str, ...]:
    """Move the calling thread off the measured CPUs; return a caveat where there is no other to go to."""
    if leave_cpus(measured):
        return ()
    shared = "a CPU" if len(measured) > 1 else f"CPU {next(iter(measured))}"
    return (f"the console shared {shared} with the measurement",)


def leave_cpus(measured: Iterable[int]) -> bool:
    """Move the calling thread off the measured CPUs; False where there is no other to go to."""
    others = os.sched_getaffinity(0) - set(measured)
    if not others:
        return False
    os.sched_setaffinity(0, others)
    return True
