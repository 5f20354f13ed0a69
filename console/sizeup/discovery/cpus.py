"""CPUs: packages, dies, cores and PUs from ``/sys/devices/system/cpu`` (Documentation/admin-guide/cputopology.rst).

Everything comes from the sets of CPUs that share something; the ids beside them are labels that
repeat across packages, are -1 on some architectures and are sparse on others. Where the kernel shows no
sets, CPUs of one package and core id are one core; where it shows no ids either, cores are unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from sizeup.discovery.cpuinfo import CpuInfo
from sizeup.discovery.sysroot import Sysroot, numbers_in
from sizeup.model.topology import Core, Die, Package, Pu
from sizeup.procfs.lists import format_list, parse_cpulist, parse_cpumask
from sizeup.quantity import Origin, Quantity
from sizeup.text import plural
from sizeup.units import format_hz

CPU = "/sys/devices/system/cpu"
CPU_NAME = re.compile(r"cpu(\d{1,5})")

_CORE_SETS = ("core_cpus_list", "core_cpus", "thread_siblings_list", "thread_siblings")
_CLUSTER_SETS = ("cluster_cpus_list", "cluster_cpus")
_DIE_SETS = ("die_cpus_list", "die_cpus")
_PACKAGE_SETS = ("package_cpus_list", "package_cpus", "core_siblings_list", "core_siblings")
"""Newest names first; old kernels have only the last, some captures only the masks."""

CpuSet = tuple[int, ...]
T = TypeVar("T")

SOCKETS, CORES = "sockets", "cores"
"""Subjects of the gaps that say why sockets or cores are unknown."""
_KINDS = (("cpu_core", "performance"), ("cpu_atom", "efficient"), ("cpu_lowpower", "low-power"))

_LEVELS: tuple[tuple[str, Mapping[int, tuple[str, ...]]], ...] = (
    ("cpu_capacity", {2: ("performance", "efficient"), 3: ("prime", "performance", "efficient")}),
    # Cores of one kind may have two base clocks too (Speed Select), so that these words claim nothing else.
    ("cpufreq/base_frequency", {2: ("higher-clocked", "lower-clocked")}),
)
"""Files whose levels tell kinds of cores apart, with the words for two or three."""

NOMINAL_TABLES = ("acpi-cpufreq", "powernow-k8")
"""Drivers whose table of frequencies is the firmware's, in which boost is no state of its own."""

_TURBO_STEP = 1000
"""Intel's firmware lists the turbo as a state of 1 MHz above the nominal clock."""

_CONTRADICTIONS_LIMIT = 256
_PLAUSIBLE_MHZ = range(100, 20_000)
_NAMED_CLOCK = re.compile(r"@\s*(\d{1,3}(?:\.\d{1,4})?)\s*([GM])Hz")


class Processors(Struct, frozen=True):
    """The processor half of a machine."""

    packages: tuple[Package, ...]
    dies: tuple[Die, ...]
    cores: tuple[Core, ...]
    pus: tuple[Pu, ...]
    contradictions: tuple[str, ...]
    """Sets that overlap without being equal or nested, in words: the firmware contradicts itself."""


def read_set(sysroot: Sysroot, directory: str, names: Sequence[str], member: int | None = None) -> CpuSet | None:
    """The CPUs of the first of ``names`` that the directory has; None where it has none of them.

    A set that lacks the ``member`` it was read for is wrong, and the next name is asked.
    """
    for name in names:
        parse = parse_cpulist if name.endswith("list") else parse_cpumask
        cpus = sysroot.parsed(f"{directory}/{name}", parse)
        if cpus and (member is None or member in cpus):
            return cpus
    return None


class _Partition:
    """Disjoint sets of CPUs, built from what each CPU says of itself."""

    def __init__(self, what: str, online: frozenset[int]) -> None:
        self.what = what
        self.online = online
        self.sets: list[CpuSet] = []
        self.of: dict[int, int] = {}
        self.contradictions: list[str] = []

    def add(self, cpu: int, cpus: CpuSet | None) -> None:
        """Take the set ``cpu`` reports; where it contradicts an earlier one, the rest of it stands alone."""
        known = self.of.get(cpu)
        # Captures edited by hand still list CPUs that they took offline.
        cpus = (cpu,) if cpus is None else tuple(other for other in cpus if other in self.online)
        if known is not None:
            if self.sets[known] != cpus:
                self._contradict(cpu, cpus, self.sets[known])
            return
        free = tuple(other for other in cpus if other not in self.of)
        if len(free) != len(cpus):
            taken = next(other for other in cpus if other in self.of)
            self._contradict(cpu, cpus, self.sets[self.of[taken]])
        if cpu not in free:
            self._contradict(cpu, cpus, cpus)
            free = (cpu,)
        for other in free:
            self.of[other] = len(self.sets)
        self.sets.append(free)

    def clear(self) -> None:
        """Forget all sets: what is known of some CPUs alone is no count of the machine."""
        self.sets.clear()
        self.of.clear()

    def _contradict(self, cpu: int, cpus: CpuSet, earlier: CpuSet) -> None:
        if len(self.contradictions) < _CONTRADICTIONS_LIMIT:
            own, other = format_list(cpus), format_list(earlier)
            self.contradictions.append(f"CPU {cpu} lists CPUs {own} for its {self.what}, another of its CPUs {other}")


def read_present(sysroot: Sysroot, cpuinfo: CpuInfo) -> CpuSet:
    """CPUs the kernel has present, online or not; from ``present``, the directories, or cpuinfo."""
    directories = numbers_in(sysroot.names(CPU), CPU_NAME)
    present = sysroot.parsed(f"{CPU}/present", parse_cpulist)
    if present and directories:
        # "present" of some virtual machines counts places that were never filled.
        return tuple(sorted(set(present) & set(directories))) or directories
    return present or directories or tuple(sorted(cpuinfo.processors))


def read_online(sysroot: Sysroot, present: CpuSet) -> CpuSet:
    """CPUs in use; kernels without the list have a switch per CPU, and none for those that cannot go offline."""
    online = sysroot.parsed(f"{CPU}/online", parse_cpulist)
    if online:
        return tuple(sorted(set(online) & set(present)))
    return tuple(cpu for cpu in present if sysroot.line(f"{CPU}/cpu{cpu}/online") in (None, "1"))


class _Sets(Struct, frozen=True):
    """What the CPUs say of themselves."""

    cores: _Partition
    dies: _Partition
    packages: _Partition
    core_ids: dict[int, int | None]
    clusters: dict[int, CpuSet]
    source: str
    """What the cores were counted by."""


class _Ids:
    """Package and core ids of CPUs: those of sysfs, else those of cpuinfo.

    A single CPU is one core of one package, whatever names them.
    """

    def __init__(self, sysroot: Sysroot, cpuinfo: CpuInfo, online: CpuSet) -> None:
        self._sysroot = sysroot
        self._cpuinfo = cpuinfo
        self._single = len(online) == 1

    def package(self, cpu: int) -> int | None:
        """None where neither names one."""
        if self._single:
            return 0
        named = _label(self._sysroot, cpu, "physical_package_id")
        return self._cpuinfo.physical_ids.get(cpu) if named is None else named

    def core(self, cpu: int) -> tuple[int, int] | None:
        """What all threads of a core have in common and no other core has; None where it is unknown."""
        if self._single:
            return 0, 0
        package = self.package(cpu)
        core = _label(self._sysroot, cpu, "core_id")
        if core is None:
            core = self._cpuinfo.core_ids.get(cpu)
        if package is None or core is None:
            return None
        cpus, cores = (counts.get(cpu) for counts in (self._cpuinfo.package_cpus, self._cpuinfo.package_cores))
        if cpus is not None and cpus == cores:
            # No threads: ids that repeat are those of the dies in the package, each counted from 0.
            return package, -1 - cpu
        return package, core


def _read_sets(sysroot: Sysroot, online: CpuSet, cpuinfo: CpuInfo) -> _Sets:
    directories = {cpu: f"{CPU}/cpu{cpu}/topology" for cpu in online}
    # The file names that this kernel has for each kind of set, so that each CPU costs one open and not four.
    present = next(filter(None, map(sysroot.names, directories.values())), ())
    kinds = (_CORE_SETS, _CLUSTER_SETS, _DIE_SETS, _PACKAGE_SETS)
    names = {kind: tuple(name for name in kind if name in present) for kind in kinds}
    known = frozenset(online)
    source = f"the topology in {CPU}" if names[_CORE_SETS] else "core id"
    sets = _Sets(_Partition("core", known), _Partition("die", known), _Partition("package", known), {}, {}, source)
    ids = _Ids(sysroot, cpuinfo, online)
    packages_by_id: dict[int | None, list[int]] = {}
    cores_by_id: dict[tuple[int, int] | None, list[int]] = {}
    modules: bool | None = None
    dies_named: bool | None = None
    core_set: CpuSet | None
    for cpu, directory in directories.items():
        if cpu in sets.cores.of:
            core_set = sets.cores.sets[sets.cores.of[cpu]]
        else:
            core_set = read_set(sysroot, directory, names[_CORE_SETS])
            sets.core_ids[cpu] = sysroot.integer(f"{directory}/core_id")
            if core_set is None:
                cores_by_id.setdefault(ids.core(cpu), []).append(cpu)
            else:
                sets.cores.add(cpu, core_set)
        if cpu not in sets.core_ids:
            # The first siblings tell whether they are threads or cores of a module; a machine has one sort.
            if modules is not False:
                sets.core_ids[cpu] = sysroot.integer(f"{directory}/core_id")
                modules = sets.core_ids[cpu] != sets.core_ids[(core_set or (cpu,))[0]]
            else:
                sets.core_ids[cpu] = sets.core_ids[(core_set or (cpu,))[0]]
        package_set = None
        if cpu not in sets.packages.of or (core_set or (cpu,))[0] == cpu:
            package_set = read_set(sysroot, directory, names[_PACKAGE_SETS])
        if package_set is not None:
            sets.packages.add(cpu, package_set)
        elif cpu not in sets.packages.of:
            packages_by_id.setdefault(ids.package(cpu), []).append(cpu)
        if names[_DIE_SETS] and cpu not in sets.dies.of and dies_named is not False:
            dies_named = _label(sysroot, cpu, "die_id") is not None
            die = read_set(sysroot, directory, names[_DIE_SETS]) if dies_named else None
            # Where nothing names dies (id -1) the kernel calls each CPU one; a die smaller than a core is no die.
            if die is not None and set(core_set or ()) <= set(die):
                sets.dies.add(cpu, die)
        if names[_CLUSTER_SETS] and cpu not in sets.clusters:
            cluster = read_set(sysroot, directory, names[_CLUSTER_SETS], member=cpu)
            sets.clusters.update(dict.fromkeys(cluster or (), cluster or ()))
    _add_by_id(sysroot, sets.packages, SOCKETS, "physical id", packages_by_id)
    if not _are_of_z(sysroot, sets):
        _forget_nameless(sysroot, sets.packages, cpuinfo)
    _add_by_id(sysroot, sets.cores, CORES, "physical id and core id", cores_by_id)
    return sets


def _are_of_z(sysroot: Sysroot, sets: _Sets) -> bool:
    """Return whether these are the sockets of an IBM Z, whose older kernels know them and do not number them.

    It alone has books. A hypervisor that hides the sockets leaves each core in one of its own
    (``update_cpu_masks`` in arch/s390/kernel/topology.c).
    """
    of_z = sets.packages.sets and sysroot.exists(f"{CPU}/cpu{sets.packages.sets[0][0]}/topology/book_siblings")
    return bool(of_z) and len(sets.packages.sets) < len(sets.cores.sets)


def _forget_nameless(sysroot: Sysroot, packages: _Partition, cpuinfo: CpuInfo) -> None:
    """Leave sockets unknown where the kernel gives CPUs the package -1, which is its word for unknown.

    It still lists siblings in a package then: each core for itself on POWER, each CPU in guests on s390, all CPUs on
    RISC-V (``topology_physical_package_id`` in include/linux/topology.h, ``update_siblings_masks`` in
    drivers/base/arch_topology.c). A single CPU is in one socket, whatever names it.
    """
    if len(packages.online) < 2:
        return
    for cpus in packages.sets:
        named = sysroot.integer(f"{CPU}/cpu{cpus[0]}/topology/physical_package_id")
        if named is not None and named < 0 and cpus[0] not in cpuinfo.physical_ids:
            packages.clear()
            sysroot.note(
                SOCKETS,
                f"unknown: physical_package_id of CPU {cpus[0]} is {named}, which says that the kernel does not know "
                "the socket, and /proc/cpuinfo has no physical id",
            )
            return


def _add_by_id(
    sysroot: Sysroot, partition: _Partition, subject: str, wanted: str, groups: Mapping[T | None, list[int]]
) -> None:
    """Group by id the CPUs without a set; one that has no id leaves the whole machine's count unknown."""
    nameless = groups.get(None)
    if nameless:
        partition.clear()
        sysroot.note(
            subject,
            f"unknown: for CPU {format_list(tuple(nameless))} there is no topology in {CPU}, "
            f"and no {wanted} in /proc/cpuinfo",
        )
        return
    for cpus in groups.values():
        partition.add(cpus[0], tuple(cpu for cpu in cpus if cpu not in partition.of))


def read_processors(sysroot: Sysroot, cpuinfo: CpuInfo, allowed: CpuSet | None) -> Processors:
    """Packages, dies, cores and PUs; ``allowed`` is None where nothing restricts."""
    present = read_present(sysroot, cpuinfo)
    if not present:
        sysroot.note(CPU, "missing: expected a directory for each CPU")
    online = read_online(sysroot, present)
    sets = _read_sets(sysroot, online, cpuinfo)
    kinds = read_kinds(sysroot, online)
    packages = [
        Package(cpus, _label(sysroot, cpus[0], "physical_package_id"), cpuinfo.models.get(cpus[0], cpuinfo.model))
        for cpus in sets.packages.sets
    ]
    dies: list[Die] = []
    die_of: dict[int, int] = {}
    named = sets.dies.sets if len(sets.dies.of) == len(sets.packages.of) else []
    for cpus in named or sets.packages.sets:
        # A die set that reaches over packages is cut at their border: a die is a part of one package.
        by_package: dict[int, list[int]] = {}
        for cpu in cpus:
            if cpu in sets.packages.of:
                by_package.setdefault(sets.packages.of[cpu], []).append(cpu)
        for package, members in by_package.items():
            die_of.update(dict.fromkeys(members, len(dies)))
            dies.append(Die(tuple(members), package, _label(sysroot, members[0], "die_id") if named else None))
    cores: list[Core] = []
    modules = 0
    clusters: dict[CpuSet, int] = {}
    clocks = CoreClocks(sysroot, sets.cores.sets[0][0] if sets.cores.sets else None)
    for cpus in sets.cores.sets:
        # Siblings with different core ids are the cores of an AMD module, not its threads.
        groups: dict[int | None, list[int]] = {}
        for cpu in cpus:
            groups.setdefault(sets.core_ids.get(cpu), []).append(cpu)
        module = modules if len(groups) > 1 else None
        modules += len(groups) > 1
        for group in groups.values():
            first = group[0]
            within = sets.packages.of.get(first)
            if within is None and sets.packages.of:
                continue
            cluster = sets.clusters.get(first)
            # A cluster equal to its core or its package says nothing.
            if cluster in (None, cpus, None if within is None else sets.packages.sets[within]):
                cluster = None
            cores.append(
                Core(
                    pus=tuple(group),
                    package=within,
                    die=None if within is None else die_of.get(first, 0),
                    os_id=sets.core_ids.get(first),
                    kind=kinds.get(first),
                    base_hz=clocks.base(first, kinds.get(first)),
                    max_hz=clocks.highest(first),
                    module=module,
                    cluster=None if cluster is None else clusters.setdefault(cluster, len(clusters)),
                )
            )
    core_of = {cpu: index for index, core in enumerate(cores) for cpu in core.pus}
    restricted = None if allowed is None else frozenset(allowed)
    working = frozenset(online)
    pus = tuple(
        Pu(
            cpu,
            online=cpu in working,
            allowed=cpu in working and (restricted is None or cpu in restricted),
            core=core_of.get(cpu),
        )
        for cpu in present
    )
    for index, one in enumerate(packages if online == present else ()):
        own = [core for core in cores if core.package == index]
        stated = {cpuinfo.package_cores[cpu] for cpu in one.pus if cpu in cpuinfo.package_cores}
        # An AMD module may count there as one core.
        if own and stated not in ({len(own)}, {len({core.module for core in own})}):
            packages[index] = replace(one, stated_cores=tuple(sorted(stated)))
    contradictions = (
        *sets.packages.contradictions,
        *sets.dies.contradictions,
        *sets.cores.contradictions,
        *_against_cpuinfo(packages, cores, sets.source),
        *_beyond(present, cpuinfo),
    )
    return Processors(tuple(packages), tuple(dies), tuple(cores), pus, contradictions)


def _against_cpuinfo(packages: Sequence[Package], cores: Sequence[Core], source: str) -> Iterator[str]:
    """Packages whose cores cpuinfo counts differently."""
    alike: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for index, package in enumerate(packages):
        if package.stated_cores:
            counted = sum(core.package == index for core in cores)
            label = index if package.os_id is None else package.os_id
            alike.setdefault((counted, package.stated_cores), []).append(label)
    for (counted, others), labels in alike.items():
        each = " each" if len(labels) > 1 else ""
        yield (
            f"{'socket' if len(labels) == 1 else 'sockets'} {format_list(tuple(sorted(labels)))}: "
            f"{plural(counted, 'core')}{each} by {source}, "
            f'{" and ".join(map(str, others))} by "cpu cores" in /proc/cpuinfo'
        )


def _beyond(present: CpuSet, cpuinfo: CpuInfo) -> Iterator[str]:
    """CPUs of cpuinfo that sysfs lacks; the reverse is usual, as containers and cpuinfo itself leave CPUs out."""
    if not set(cpuinfo.processors) <= set(present):
        yield f"{plural(len(cpuinfo.processors), 'CPU')} in /proc/cpuinfo, {len(present)} in {CPU}"


def _label(sysroot: Sysroot, cpu: int, name: str) -> int | None:
    return sysroot.count(f"{CPU}/cpu{cpu}/topology/{name}")


def read_kinds(sysroot: Sysroot, online: tuple[int, ...]) -> dict[int, str]:
    """Return the kind of core of each CPU of a hybrid machine; empty if all are alike."""
    kinds: dict[int, str] = {}
    for device, kind in _KINDS:
        for cpu in sysroot.parsed(f"/sys/devices/{device}/cpus", parse_cpulist) or ():
            kinds[cpu] = kind
    if len(set(kinds.values())) > 1:
        return kinds
    found = (_kinds_by_level(sysroot, online, file, names) for file, names in _LEVELS)
    return next(filter(None, found), {})


def _kinds_by_level(
    sysroot: Sysroot, online: tuple[int, ...], file: str, names: Mapping[int, tuple[str, ...]]
) -> dict[int, str]:
    """Return the kind of core of each CPU by the levels of the values in a file of each; empty if all are alike."""
    values: dict[int, int | None] = {}
    for cpu in online:
        values[cpu] = sysroot.integer(f"/sys/devices/system/cpu/cpu{cpu}/{file}")
        if values[online[0]] is None:
            return {}
    # Arm binned cores of one kind differ by a few hundredths; kinds differ by a quarter and more.
    levels = sorted({value for value in values.values() if value is not None}, reverse=True)
    steps: list[int] = []
    for level in levels:
        if not steps or level < 0.8 * steps[-1]:
            steps.append(level)
    if len(steps) < 2:
        return {}
    kinds: dict[int, str] = {}
    words = names.get(len(steps))
    for cpu, value in values.items():
        if value is not None:
            at = max(i for i, step in enumerate(steps) if value <= step)
            kinds[cpu] = words[at] if words else f"{file.rpartition('_')[2]}-{steps[at]}"
    return kinds


def kilohertz(sysroot: Sysroot, path: str) -> int | None:
    """Return the clock in a file of cpufreq in Hertz; None where it is missing, 0, or that of no processor."""
    value = sysroot.integer(path)
    return value * 1000 if value is not None and 0 < value < _PLAUSIBLE_MHZ.stop * 1000 else None


def firmware_table(sysroot: Sysroot, cpufreq: str) -> int | None:
    """Return Hertz of the highest state in the firmware's table, which is the nominal clock; boost is above it."""
    if sysroot.line(f"{cpufreq}/scaling_driver") not in NOMINAL_TABLES:
        return None
    words = (sysroot.line(f"{cpufreq}/scaling_available_frequencies") or "").split()
    states = sorted({int(word) for word in words if word.isdecimal() and len(word) < 10}, reverse=True)
    if len(states) > 1 and states[0] - states[1] == _TURBO_STEP:
        del states[0]
    return states[0] * 1000 if states and states[0] else None


class CoreClocks:
    """The clocks of the cores of one machine; what they have in common is read once."""

    def __init__(self, sysroot: Sysroot, first: int | None) -> None:
        self._sysroot = sysroot
        cpufreq = f"{CPU}/cpu{first}/cpufreq"
        self._names = frozenset(sysroot.names(cpufreq)) if first is not None else frozenset[str]()
        known = "cpuinfo_max_freq" in self._names
        self._nominal = firmware_table(sysroot, cpufreq) if known else None
        self._boost_off = self._nominal is not None and sysroot.integer(f"{CPU}/cpufreq/boost") == 0
        self._by_kind: dict[str, int | None] = {}

    def base(self, cpu: int, kind: str | None) -> int | None:
        """Return the base clock of a core in Hertz; of a kind of core without a file for it, that of CPPC."""
        if "base_frequency" in self._names:
            return kilohertz(self._sysroot, f"{CPU}/cpu{cpu}/cpufreq/base_frequency")
        if kind is None:
            return None
        if kind not in self._by_kind:
            megahertz = self._sysroot.integer(f"{CPU}/cpu{cpu}/acpi_cppc/nominal_freq")
            plausible = megahertz if megahertz in _PLAUSIBLE_MHZ else None
            self._by_kind[kind] = None if plausible is None else plausible * 1_000_000
        return self._by_kind[kind]

    def highest(self, cpu: int) -> int | None:
        """Return the highest clock of a core in Hertz; None where boost may go above what the driver knows."""
        if "cpuinfo_max_freq" not in self._names:
            return None
        highest = kilohertz(self._sysroot, f"{CPU}/cpu{cpu}/cpufreq/cpuinfo_max_freq")
        if highest is None or self._nominal is None or highest > self._nominal + _TURBO_STEP * 1000:
            return highest
        return min(highest, self._nominal) if self._boost_off else None


def parse_named_clock(model: str) -> int | None:
    """Hertz of ``Intel(R) Xeon(R) CPU X7550 @ 2.00GHz``; None where the name carries no clock."""
    match = _NAMED_CLOCK.search(model)
    return None if match is None else round(float(match[1]) * {"G": 1e9, "M": 1e6}[match[2]])


def parse_dmi_clock(data: bytes) -> int | None:
    """Hertz of ``Current Speed`` in a type 4 record (SMBIOS 7.5, offset 16h, MHz); 0 means unknown."""
    if len(data) < 0x18 or data[0] != 4:
        return None
    megahertz = int.from_bytes(data[0x16:0x18], "little")
    return megahertz * 1_000_000 if 0 < megahertz < 20_000 else None


def _dmi_clock(sysroot: Sysroot) -> tuple[int, str] | None:
    entries = "/sys/firmware/dmi/entries"
    paths = [f"{entries}/{name}/raw" for name in sysroot.names(entries) if name.startswith("4-")]
    read = ((sysroot.answer(path), path) for path in paths)
    clocks = ((parse_dmi_clock(data), path) for data, path in read if isinstance(data, bytes))
    return next(((clock, path) for clock, path in clocks if clock is not None), None)


_ROUNDED = 0.02
"""A name rounds the clock by less than this share."""
_CAPPED = 0.99
"""The firmware caps the clock where its limit is below this share of it."""


def _stated(sysroot: Sysroot, cpuinfo: CpuInfo, cpufreq: str) -> tuple[int, str, tuple[str, ...]] | None:
    """The clock in cpuinfo of s390, POWER, ia64, Loongson and others but x86, which has the momentary one there."""
    found = cpuinfo.stated_clock
    if cpuinfo.is_x86 or found is None:
        return None
    key, megahertz = found
    if megahertz < _PLAUSIBLE_MHZ.start:
        sysroot.note("/proc/cpuinfo", f"{key}: {megahertz:g} MHz is no clock of a processor; ignored")
        return None
    # Without a hypervisor the kernel of POWER sets the clock itself, and prints the momentary one.
    changing = (cpuinfo.machine or "").startswith("PowerNV") or sysroot.line(f"{cpufreq}/scaling_driver") is not None
    momentary = changing and key != "cpu MHz static"
    caveats = ("the clock at this moment, which the kernel may have lowered",) if momentary else ()
    return round(megahertz * 1e6), f"/proc/cpuinfo: {key}", caveats


def read_base_clock(sysroot: Sysroot, cpuinfo: CpuInfo, cpu: int) -> Quantity | None:
    """The base clock with its origin, the surest source first; None when the user must say."""
    cpufreq, cppc = f"{CPU}/cpu{cpu}/cpufreq", f"{CPU}/cpu{cpu}/acpi_cppc/nominal_freq"
    caveats: tuple[str, ...] = ()
    if (base := kilohertz(sysroot, f"{cpufreq}/base_frequency")) is not None:
        hertz, source = base, f"{cpufreq}/base_frequency"
    elif (nominal := kilohertz(sysroot, f"{cpufreq}/cpuinfo_nominal_freq")) is not None:  # POWER without a hypervisor
        hertz, source = nominal, f"{cpufreq}/cpuinfo_nominal_freq"
    elif named := parse_named_clock(cpuinfo.model or ""):
        hertz, source = named, "/proc/cpuinfo: model name"
    elif (table := firmware_table(sysroot, cpufreq)) is not None:
        hertz, source = table, f"{cpufreq}/scaling_available_frequencies"
    elif (megahertz := sysroot.integer(cppc)) is not None and megahertz in _PLAUSIBLE_MHZ:
        hertz, source = megahertz * 1_000_000, cppc
    elif (stated := _stated(sysroot, cpuinfo, cpufreq)) is not None:
        hertz, source, caveats = stated
    elif (highest := kilohertz(sysroot, f"{cpufreq}/cpuinfo_max_freq")) is not None:
        hertz, source = highest, f"{cpufreq}/cpuinfo_max_freq"
        caveats = ("this is the maximum clock; the base may be lower",)
    elif (dmi := _dmi_clock(sysroot)) is not None:
        hertz, source = dmi
        caveats = ("what the firmware set at boot, which may not be the base clock",)
    elif (clock := cpuinfo.stated_clock) is not None and "tsc" in cpuinfo.flags and "aperfmperf" not in cpuinfo.flags:
        # Without cpufreq and the counters that tell the momentary clock, the kernel prints the TSC's rate
        # as cpu MHz, and that is the nominal clock or near it.
        hertz, source = round(clock[1] * 1e6), "/proc/cpuinfo: cpu MHz"
        caveats = ("inferred from the rate of the TSC, not stated",)
    else:
        return None
    named = parse_named_clock(cpuinfo.model or "")
    if named and abs(hertz - named) > _ROUNDED * named:
        caveats = (*caveats, f"the model's name says {format_hz(named)}")
    limit = kilohertz(sysroot, f"{cpufreq}/bios_limit")
    if limit is not None and limit < _CAPPED * hertz:
        caveats = (*caveats, f"the firmware limits the clock to {format_hz(limit)} at present (bios_limit)")
    return Quantity(float(hertz), "Hz", Origin.DETECTED, source, caveats=caveats)


def of_one_kind(clock: Quantity | None, cores: Sequence[Core], cpu: int) -> Quantity | None:
    """The base clock, with a caveat where it is that of one kind of core of several."""
    kind = next((core.kind for core in cores if cpu in core.pus), None)
    if clock is None or kind is None or len({core.kind for core in cores}) < 2:
        return clock
    return replace(clock, caveats=(f"of the {kind} cores; the other kinds have clocks of their own", *clock.caveats))
