"""The extensions as they were built: what the loader, the kernel and the processor are told to forbid."""

import importlib.util
import os
import platform
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "native"
EXTENSIONS = re.findall(r"sizeup_extension\((\w+)", (NATIVE / "CMakeLists.txt").read_text())

PT_LOAD, PT_DYNAMIC = 1, 2
PT_GNU_STACK, PT_GNU_RELRO, PT_GNU_PROPERTY = 0x6474E551, 0x6474E552, 0x6474E553
PF_X = 1
FEATURE_1_AND = (0xC0000002, 0xC0000000)  # of x86 and of Arm: what all code in the file is compiled for
SHT_DYNSYM = 11
DT_BIND_NOW, DT_FLAGS, DT_FLAGS_1 = 24, 30, 0x6FFFFFFB
DF_BIND_NOW, DF_1_NOW = 8, 1
LANDINGS = {
    "x86_64": (b"\xf3\x0f\x1e\xfa",),  # endbr64
    "aarch64": (b"\x5f\x24\x03\xd5", b"\x3f\x23\x03\xd5"),  # bti c; paciasp, which is one too
}
"""How a function begins that may be called through a pointer."""


class Elf:
    """The parts of a 64-bit ELF file that these tests ask for; see elf(5)."""

    def __init__(self, path: str) -> None:
        self.data = Path(path).read_bytes()
        assert self.data[:5] == b"\x7fELF\x02", f"{path}: no 64-bit ELF file"
        self._order = "<" if self.data[5] == 1 else ">"
        _, _, _, _, ph, sh, _, _, ph_size, ph_count, sh_size, sh_count, _ = self._read("HHIQQQIHHHHHH", 16)
        segments = [self._read("IIQQQQQQ", ph + index * ph_size) for index in range(ph_count)]
        self.sections = [self._read("IIQQQQIIQQ", sh + index * sh_size) for index in range(sh_count)]
        self.flags = {kind: flags for kind, flags, *_ in segments}
        """Of each kind of segment; of several of a kind those of the last."""
        self._loads = [(at, start, size) for kind, _, at, start, _, size, _, _ in segments if kind == PT_LOAD]
        self._places = {kind: (at, size) for kind, _, at, _, _, size, _, _ in segments}

    def _read(self, layout: str, at: int) -> tuple[int, ...]:
        return struct.unpack_from(self._order + layout, self.data, at)

    def segment(self, kind: int) -> bytes:
        """What a segment holds; empty where there is none."""
        at, size = self._places.get(kind, (0, 0))
        return self.data[at : at + size]

    @property
    def dynamic(self) -> dict[int, int]:
        """The dynamic section by tag."""
        return dict(struct.iter_unpack(f"{self._order}qQ", self.segment(PT_DYNAMIC)))

    @property
    def symbols(self) -> dict[str, int]:
        """Dynamic symbols with their addresses, 0 for what others provide."""
        found = {}
        for _, kind, _, _, at, size, strings, _, _, entry in self.sections:
            for offset in range(at, at + size, entry) if kind == SHT_DYNSYM else ():
                name, _, _, _, address, _ = self._read("IBBHQQ", offset)
                start = self.sections[strings][4] + name
                found[self.data[start : self.data.index(0, start)].decode()] = address
        return found

    @property
    def marks(self) -> int:
        """What the note of properties says of the code in the file, a bit for each protection; 0 without a note."""
        note, at = self.segment(PT_GNU_PROPERTY), 16  # after name, length and kind of the note
        while at < len(note):
            kind, size = struct.unpack_from(f"{self._order}II", note, at)
            if kind in FEATURE_1_AND:
                return int(struct.unpack_from(f"{self._order}I", note, at + 8)[0])
            at += 8 + (size + 7) // 8 * 8
        return 0

    def code(self, address: int) -> bytes:
        """The first bytes at an address."""
        (place,) = [at + address - start for at, start, size in self._loads if start <= address < start + size]
        return self.data[place : place + 4]


@pytest.fixture(params=EXTENSIONS)
def extension(request: pytest.FixtureRequest) -> Elf:
    spec = importlib.util.find_spec(f"{request.param}._native")
    assert spec.origin is not None
    return Elf(spec.origin)


def test_there_are_extensions_to_look_at() -> None:
    assert len(EXTENSIONS) == 3


def test_all_addresses_are_resolved_at_the_start_and_then_read_only(extension: Elf) -> None:
    dynamic = extension.dynamic

    assert PT_GNU_RELRO in extension.flags
    assert dynamic.get(DT_FLAGS, 0) & DF_BIND_NOW or dynamic.get(DT_FLAGS_1, 0) & DF_1_NOW or DT_BIND_NOW in dynamic


def test_the_stack_is_not_executable(extension: Elf) -> None:
    assert not extension.flags[PT_GNU_STACK] & PF_X


def test_the_stack_is_guarded(extension: Elf) -> None:
    assert "__stack_chk_fail" in extension.symbols


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has functions that check their buffers")
def test_copies_and_texts_are_checked_against_the_size_of_their_buffer() -> None:
    checked = set()
    for name in EXTENSIONS:
        spec = importlib.util.find_spec(f"{name}._native")
        assert spec is not None
        found = {symbol for symbol in Elf(str(spec.origin)).symbols if re.fullmatch("__[a-z]+_chk", symbol)}
        checked |= {name} if found else set()

    assert checked >= {"sizeup_clock", "sizeup_memory"}  # sizeup_direct_io copies nothing whose size is known


@pytest.mark.skipif(os.uname().machine not in LANDINGS, reason="this processor marks no targets of calls")
def test_a_call_through_a_pointer_lands_where_a_function_begins(extension: Elf) -> None:
    assert extension.code(extension.symbols["PyInit__native"]) in LANDINGS[os.uname().machine]


def test_the_file_says_so_where_the_compilers_own_start_files_do(extension: Elf, tmp_path: Path) -> None:
    """The linker marks a library only if all in it is marked; Debian 12's crti.o is not."""
    flag = {"x86_64": "-fcf-protection=full", "aarch64": "-mbranch-protection=standard"}.get(os.uname().machine)
    compiler = shutil.which("cc")
    if flag is None or compiler is None:
        pytest.skip("no compiler to compare with, or a processor without such marks")
    (tmp_path / "empty.c").write_text("int nothing(void) { return 0; }\n")
    subprocess.run([compiler, flag, "-shared", "-fPIC", "-o", tmp_path / "empty.so", tmp_path / "empty.c"], check=True)

    possible = Elf(str(tmp_path / "empty.so")).marks
    assert extension.marks & possible == possible
