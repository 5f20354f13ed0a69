"""Draw mutants of the measuring code by chance: a line of it with a seed, and one of the tool's mutants of that line.

    python3 -m venv /tmp/tool && /tmp/tool/bin/pip install universalmutator
    .venv/bin/python tests/mutants/draw.py --tool /tmp/tool/bin/mutate --seed 15 --count 60 > drawn.toml
    .venv/bin/python tests/mutants/run.py --mutants drawn.toml

Left out and drawn again: lines that import, what does not compile, and what compiles to the same code as before.
"""

import argparse
import ast
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
_SOURCES = (
    "native/src/*.c",
    "plugins/sizeup_memory/*.py",
    "plugins/sizeup_clock/*.py",
    "plugins/sizeup_direct_io/*.py",
    "plugins/sizeup_net/*.py",
    "plugins/sizeup_nfs/*.py",
)
_NOT_MEASURING = ("available_memory.c", "barrier.c", "job.c", "memhammer.py", "__init__.py")


def _sources(patterns: Sequence[str]) -> list[str]:
    found = [str(path.relative_to(ROOT)) for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    return [name for name in found if Path(name).name not in _NOT_MEASURING]


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [  # type: ignore[attr-defined]
                each for each in body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
            ] or [ast.Pass()]
    return tree


def _code(path: Path) -> bytes | None:
    """Return what a source compiles to; None if it does not."""
    if path.suffix == ".py":
        try:
            text = path.read_text(encoding="utf-8")
            compile(text, str(path), "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return None
        return ast.dump(_without_docstrings(ast.parse(text))).encode()
    flags = [
        "-std=gnu11",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{ROOT}/native/include",
        f"-iquote{ROOT}/native/src",
    ]
    with tempfile.NamedTemporaryFile(suffix=".o") as code:
        done = subprocess.run(["cc", *flags, "-c", "-x", "c", "-o", code.name, path], capture_output=True, check=False)
        return Path(code.name).read_bytes() if done.returncode == 0 else None


def _mutants_of_line(tool: str, source: Path, line: int, folder: Path) -> list[Path]:
    for old in folder.iterdir():
        old.unlink()
    lines = folder / "lines"
    lines.write_text(f"{line}\n")
    command = [tool, source, "--noCheck", "--lines", lines, "--mutantDir", folder]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return sorted(
        folder.glob(f"{source.stem}.mutant.*{source.suffix}"), key=lambda path: int(path.stem.rpartition(".")[2])
    )


def _change(before: str, after: str) -> tuple[str, str] | None:
    """Return a text that occurs once, and what it becomes; None if the mutant is of a comment or of nothing."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    start = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    for more in range(len(old)):
        first, last = max(0, start - more), end - min(end, more)
        text = "".join(old[first : len(old) - last])
        if text and before.count(text) == 1:
            return text, "".join(new[first : len(new) - last])
    return None


def drawn(tool: str, seed: int, count: int, patterns: Sequence[str] = _SOURCES) -> Iterator[tuple[str, str, str]]:
    """Yield file, text and replacement of each mutant."""
    chance = random.Random(seed)
    places = [
        (name, number)
        for name in _sources(patterns)
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1)
        if line.strip() and not line.startswith(("import ", "from ", "#include"))
    ]
    seen: set[tuple[str, str]] = set()
    with tempfile.TemporaryDirectory() as folder:
        while len(seen) < count:
            name, line = chance.choice(places)
            source = ROOT / name
            found = _mutants_of_line(tool, source, line, Path(folder))
            if not found:
                continue
            mutant = chance.choice(found)
            code = _code(mutant)
            if code is None or code == _code(source):
                continue
            before, after = (path.read_text(encoding="utf-8") for path in (source, mutant))
            change = _change(before, after)
            if change is None or (name, after) in seen:
                continue
            seen.add((name, after))
            yield name, *change


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def main() -> int:
    """Write the mutants as a list for ``run.py``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="mutate", help="universalmutator's command")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--of", metavar="PATTERN", nargs="+", default=_SOURCES, help="sources, instead of the probes'")
    options = parser.parse_args()
    for number, (name, old, new) in enumerate(drawn(options.tool, options.seed, options.count, options.of), 1):
        print(f'[[mutant]]\nname = "drawn-{number:02}"\nfile = "{name}"')
        print(f'old = {_quoted(old)}\nnew = {_quoted(new)}\nwrong = "Drawn."\n')
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
