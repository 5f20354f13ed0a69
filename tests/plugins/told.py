"""A stand-in for the library of a probe: what it is told, by field, and a figure of its own for a point."""

from typing import Any

from sizeup.model.machine import Machine
from sizeup.model.numa import NumaNode
from sizeup.model.topology import Cache, CacheKind, Core, Pu
from sizeup_memory import binding

MIB, GIB = 1 << 20, 1 << 30
CPUS = 4
MACHINE = Machine(
    pus=tuple(Pu(cpu, online=True, allowed=True, core=cpu) for cpu in range(CPUS)),
    cores=tuple(Core((cpu,), cpu // 2, 0, cpu) for cpu in range(CPUS)),
    caches=(Cache(3, CacheKind.UNIFIED, 8 * MIB, 64, (0, 1)), Cache(3, CacheKind.UNIFIED, 8 * MIB, 64, (2, 3))),
    nodes=tuple(
        NumaNode(node, (2 * node, 2 * node + 1), memory_bytes=64 * GIB, free_bytes=64 * GIB) for node in range(2)
    ),
    memory_available_bytes=128 * GIB,
)
"""Two nodes of two CPUs, with an L3 each."""


def median_of(index: int, growth: float = 1.0) -> float:
    """Return the estimate of a point."""
    return 1000.0 + growth * index


def _value(kind: Any, value: Any) -> Any:
    if kind.kind != "struct":
        return value
    return {name: _value(field.type, getattr(value, name)) for name, field in kind.fields if field.type.kind != "array"}


class Told:
    """Calls that measure, by name, with arrays and structures as plain values."""

    def __init__(self, module: Any = binding, growth: float = 1.0) -> None:
        """``growth`` is what each estimate has more than the one before."""
        self._growth = growth
        self._ffi, self._lib = vars(module)["ffi"], vars(module)["lib"]
        self.calls: list[tuple[str, list[Any]]] = []

    def __getattr__(self, name: str) -> Any:
        if name == "sizeup_job_estimate":
            return self._estimate
        if name == "sizeup_available_bytes":
            return lambda *_: 64 * GIB
        if name.endswith(("_run", "_fill", "_steps_read", "_measure")):
            return lambda *arguments: self._note(name, arguments)
        return getattr(self._lib, name)

    def of(self, name: str) -> list[list[Any]]:
        """Return the arguments of each call."""
        return [arguments for called, arguments in self.calls if called == name]

    def _estimate(self, job: Any, index: int, estimate: Any) -> None:
        del job
        median = median_of(index, self._growth)
        estimate.minimum, estimate.low, estimate.median, estimate.high = median - 60, median - 30, median, median + 50
        estimate.replicates, estimate.converged = 5, 1

    def _note(self, name: str, arguments: tuple[Any, ...]) -> int:
        plain: list[Any] = []
        for argument in arguments:
            kind = self._ffi.typeof(argument) if isinstance(argument, self._ffi.CData) else None
            if kind is None:
                plain.append(argument)
            elif kind.kind == "array":
                plain.append([_value(kind.item, one) for one in argument])
            elif "stop_rule" in kind.cname or "arena_spec" in kind.cname:
                plain.append(_value(kind.item, argument[0]))
            else:
                plain.append(None)
                if "clock_order" in kind.cname:
                    argument.reads = 1000
                elif "clock_rates" in kind.cname:
                    argument.core_hz = argument.counter_hz = 1e9
            if kind is not None and "hammer_result" in kind.cname:
                for at, one in enumerate(argument):
                    one.ops, one.wall_us, one.end_ns, one.cpu_ns, one.cpu = (
                        1000 * (at + 1),
                        2000,
                        2_000_000,
                        2_000_000,
                        at,
                    )
        self.calls.append((name, plain))
        return 0
