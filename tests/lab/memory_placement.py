"""Placement and refusals on real nodes: run by hand, as root, in a virtual machine with several NUMA nodes.

Each case prints one line: what was asked, where the pages were, or the reason for which nothing was
taken. No time that it prints means anything under emulation. Ends with status 1 if any case broke.
"""

import ctypes
import json
import multiprocessing
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path

from sizeup.discovery.machine import discover
from sizeup.model.machine import Machine
from sizeup_memory.binding import (
    Allocation,
    ChasePoint,
    Latency,
    Pages,
    Placement,
    PlacementPolicy,
    StopRule,
    available_bytes,
    new_job,
)
from sizeup_memory.cpu_selection import cores_by_node, memory_nodes, node_memory

MIB = 1 << 20
RULE = StopRule(0.002, 0.0, 0.0, 1, 1, 0.5, 1)
LEAST_SHARE = 0.99
DENIED_CALLS = {"mbind": 237, "set_mempolicy": 238, "move_pages": 279}  # of x86-64
GROUP = Path("/sys/fs/cgroup/sizeup-lab")

broken: list[str] = []


def bound(machine: Machine, node: int, pages: Pages) -> Allocation:
    """Memory on one node, as the probes ask for it."""
    return node_memory(node, cores_by_node(machine, machine.nodes), pages)


def take(memory: Allocation, span: int, cpu: int = 0) -> Placement | str:
    """Chase through so much memory there; the placement, or the reason against it."""
    latency = Latency([ChasePoint(span, 64, cpu, memory=memory)], RULE)
    job = new_job()
    status = latency.call(job)()
    return latency.placement(0) if status == 0 else f"{os.strerror(-status)}: {job.reason}"


def say(case: str, *, holds: bool, found: str) -> None:
    print(f"{'ok    ' if holds else 'BROKEN'} {case}: {found}", flush=True)
    if not holds:
        broken.append(case)


def placed(case: str, memory: Allocation, span: int, *, bound_by_kernel: bool = True) -> None:
    """Expect the pages where they were asked for."""
    found = take(memory, span)
    if isinstance(found, str):
        say(case, holds=False, found=found)
        return
    share = found.share_on(memory.nodes)
    facts = f"{share:.2%} of {found.pages} pages there, {found.on_node}, huge {found.huge_share:.0%}"
    say(case, holds=share >= LEAST_SHARE and found.verified and found.bound is bound_by_kernel, found=facts)


def refused(case: str, memory: Allocation, span: int, words: str) -> None:
    """Expect a reason that holds these words."""
    found = take(memory, span)
    say(case, holds=isinstance(found, str) and words in found, found=str(found))


def in_a_process(work: Callable[[], None]) -> None:
    """Run what cannot be undone, such as a system call filter, in a child; a signal breaks the case."""

    def child() -> None:
        broken.clear()
        work()
        sys.exit(bool(broken))

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    if process.exitcode:
        broken.append(f"child ended with {process.exitcode}")


def deny_calls(error: int) -> None:
    """Let the placement calls fail as a container's filter does."""
    code = [(0x20, 0, 0, 0)]  # load the call's number
    numbers = list(DENIED_CALLS.values())
    for index, number in enumerate(numbers):
        code.append((0x15, len(numbers) - index, 0, number))  # equal: to the last instruction
    code += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050000 | error)]  # allow; fail with the error
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in code))
    filter_ = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0, "no new privileges"
    assert libc.prctl(22, 2, filter_, 0, 0) == 0, os.strerror(ctypes.get_errno())


def join_group(**limits: str) -> None:
    """Enter a control group of our own with these limits."""
    GROUP.mkdir(exist_ok=True)
    for name, value in limits.items():
        (GROUP / name.replace("__", ".")).write_text(value)
    (GROUP / "cgroup.procs").write_text(str(os.getpid()))


def cases(machine: Machine) -> None:
    nodes = memory_nodes(machine)
    ids = tuple(node.os_id for node in nodes)
    for node in nodes:
        for pages in (Pages.BASE, Pages.THP):
            placed(f"node {node.os_id}, {pages.name}, cpus {node.pus}", bound(machine, node.os_id, pages), 32 * MIB)
        room = available_bytes(bound(machine, node.os_id, Pages.BASE))
        too_much = 1 << (room // 2).bit_length()
        refused(
            f"node {node.os_id}, {too_much >> 20} of {room >> 20} MiB",
            bound(machine, node.os_id, Pages.BASE),
            too_much,
            "not enough memory",
        )
    shared = Allocation(Pages.BASE, PlacementPolicy.INTERLEAVE, ids)
    placed(f"interleaved over {ids}", shared, 64 * MIB)
    found = take(shared, 64 * MIB)
    if isinstance(found, Placement):
        even = max(found.on_node.values()) <= 1.02 * min(found.on_node.values()) and len(found.on_node) == len(ids)
        say("interleaved evenly", holds=even, found=str(found.on_node))
    for absent in (9, 63):
        refused(f"absent node {absent}", Allocation(Pages.BASE, PlacementPolicy.BIND, (absent,)), MIB, "does not exist")
    for node in machine.nodes:
        if node.memory_bytes == 0:
            refused(
                f"memory-less node {node.os_id}",
                Allocation(Pages.BASE, PlacementPolicy.BIND, (node.os_id,)),
                2 * MIB,
                "spare",
            )
        for pool in node.huge_pages:
            kind = Pages.HUGE2M if pool.page_bytes == 2 * MIB else Pages.HUGE1G
            memory = bound(machine, node.os_id, kind)
            name = f"node {node.os_id}, {kind.name}, {pool.free} free"
            if pool.free:
                span = 1 << (pool.free * pool.page_bytes).bit_length() - 1
                placed(name, memory, span)
            refused(f"{name}, one more", memory, (pool.free + 1) * pool.page_bytes, "nr_hugepages")
    for error in (1, 38):
        in_a_process(lambda error=error: denied(machine, error))  # type: ignore[misc]
    in_a_process(lambda: limited(machine))
    in_a_process(lambda: confined(machine))


def denied(machine: Machine, error: int) -> None:
    deny_calls(error)
    for node in memory_nodes(machine):
        memory = bound(machine, node.os_id, Pages.BASE)
        case = f"mbind fails with {os.strerror(error)}, node {node.os_id}"
        if memory.touch_cpu is None:
            refused(case, memory, 16 * MIB, "not measurable here")
        else:
            placed(case, memory, 16 * MIB, bound_by_kernel=False)


def limited(machine: Machine) -> None:
    join_group(memory__max=str(256 * MIB))
    refused("control group of 256 MiB, 256 MiB asked", Allocation(Pages.BASE), 256 * MIB, "not enough memory")
    found = take(Allocation(Pages.BASE), 64 * MIB)
    say("control group of 256 MiB, 64 MiB asked", holds=isinstance(found, Placement), found=str(found))


def confined(machine: Machine) -> None:
    first, *others = memory_nodes(machine)
    join_group(cpuset__mems=str(first.os_id))
    placed(f"cpuset of node {first.os_id}, its own memory", bound(machine, first.os_id, Pages.BASE), 16 * MIB)
    for node in others:
        refused(
            f"cpuset of node {first.os_id}, node {node.os_id}",
            bound(machine, node.os_id, Pages.BASE),
            MIB * 16,
            "cpuset",
        )


def main() -> int:
    machine = discover("/")
    described = {node.os_id: (len(node.pus), (node.memory_bytes or 0) >> 20) for node in machine.nodes}
    print(f"nodes: (CPUs, MiB) {json.dumps(described)}")
    if not Path("/sys/fs/cgroup/cgroup.controllers").exists():
        os.makedirs("/sys/fs/cgroup", exist_ok=True)
        os.system("mount -t cgroup2 none /sys/fs/cgroup")
    Path("/sys/fs/cgroup/cgroup.subtree_control").write_text("+memory +cpuset")
    cases(machine)
    print("all cases hold" if not broken else f"BROKEN: {broken}")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
