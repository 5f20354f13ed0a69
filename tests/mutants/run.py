"""Put deliberate faults into the measuring code, one at a time, and tell which tests notice.

    .venv/bin/python tests/mutants/run.py [NAME...] [--quick] [--keep DIRECTORY] [--mutants FILE]

Exit status 0: every mutant was caught; 1: some survived, or a test fails without any.
"""

import argparse
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from mutants.areas import c_tests_of, pytest_files_of
from mutants.workplace import ROOT, BuildError, Workplace

LIST = Path(__file__).with_name("mutants.toml")


@dataclass(frozen=True)
class Mutant:
    """One deliberate fault: a text that is replaced where it occurs, once, in a file."""

    name: str
    file: str
    old: str
    new: str
    wrong: str
    """What is wrong with it, in a sentence."""
    tests: tuple[str, ...] = ()
    """Those expected to notice, run first: names of C tests, files or node ids of pytest."""

    def applied_to(self, text: str) -> str:
        """Return the source with the fault; raise ValueError unless the text to replace occurs exactly once."""
        found = text.count(self.old)
        if found != 1:
            raise ValueError(f"{self.name}: expected its text once in {self.file}, found {found} times: {self.old!r}")
        return text.replace(self.old, self.new)


def mutants(path: Path = LIST) -> list[Mutant]:
    """Return the mutants of a list."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    return [Mutant(**{**row, "tests": tuple(row.get("tests", ()))}) for row in rows]


def _files(tree: Path, patterns: Iterable[str]) -> list[str]:
    found = [str(path.relative_to(tree)) for pattern in patterns for path in sorted(tree.glob(pattern))]
    return list(dict.fromkeys(found))


def _exists(tree: Path, test: str) -> bool:
    return (tree / test.partition("::")[0]).exists()


def _is_c(test: str) -> bool:
    return "/" not in test


def caught_by(place: Workplace, mutant: Mutant) -> str | None:
    """Return the test that notices a mutant; None if it survives."""
    here = set(place.c_tests())
    expected = [test for test in mutant.tests if (test in here if _is_c(test) else _exists(place.tree, test))]
    others = [test for test in c_tests_of(mutant.file) if test in here and test not in expected]
    for test in [*filter(_is_c, expected), *others]:
        # Again: what fails beside other load only is not the mutant's doing.
        if not place.c_test(test) and not place.c_test(test):
            return test
    named = [test for test in expected if not _is_c(test)]
    if named and (failed := place.pytest(named)):
        return failed
    rest = [name for name in _files(place.tree, pytest_files_of(mutant.file)) if name not in named]
    return place.pytest(rest) if rest else None


def _failing_without(place: Workplace, chosen: Sequence[Mutant]) -> list[str]:
    """Return the tests that fail without any mutant: their failure would tell nothing."""
    c_tests = dict.fromkeys(test for one in chosen for test in (*filter(_is_c, one.tests), *c_tests_of(one.file)))
    failing = [test for test in c_tests if test in place.c_tests() and not place.c_test(test)]
    groups = {tuple(_files(place.tree, pytest_files_of(one.file))) for one in chosen}
    return failing + [failed for files in groups if files and (failed := place.pytest(files))]


def _report(rows: Sequence[tuple[str, str, float]]) -> None:
    width = max(len(name) for name, _, _ in rows)
    for name, result, seconds in rows:
        print(f"{name:{width}}  {seconds:5.0f} s  {result}")


def main() -> int:
    """Run the mutants that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*", help="mutants to run; default: all")
    parser.add_argument("--keep", metavar="DIRECTORY", type=Path, help="work there, and keep the build for next time")
    parser.add_argument("--mutants", metavar="FILE", type=Path, default=LIST, help="another list of mutants")
    parser.add_argument("--unchecked", action="store_true", help="do not run the tests without a mutant first")
    parser.add_argument("--quick", action="store_true", help="without the tests that only the gate runs")
    parser.add_argument("--part", metavar="I/N", default="1/1", help="only every N-th mutant, from the I-th on")
    options = parser.parse_args()
    known = mutants(options.mutants)
    if unknown := set(options.names) - {mutant.name for mutant in known}:
        parser.error(f"no such mutant: {', '.join(sorted(unknown))}")
    part, parts = map(int, options.part.split("/"))
    chosen = [one for one in known if not options.names or one.name in options.names][part - 1 :: parts]
    with ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sizeup-mutants-")))
        place = Workplace(folder, quick=options.quick)
        if not options.unchecked and (failing := _failing_without(place, chosen)):
            print(f"failing without a mutant: {', '.join(failing)}", file=sys.stderr)
            return 1
        rows = []
        for mutant in chosen:
            started = time.monotonic()
            text = mutant.applied_to((ROOT / mutant.file).read_text(encoding="utf-8"))
            try:
                with place.mutated(mutant.file, text):
                    result = caught_by(place, mutant) or "SURVIVED"
            except BuildError:
                result = "does not compile"
            rows.append((mutant.name, result, time.monotonic() - started))
            _report(rows[-1:])
            sys.stdout.flush()
        place.build()
    survived = [name for name, result, _ in rows if result == "SURVIVED"]
    compiled = [name for name, result, _ in rows if result != "does not compile"]
    print(f"\n{len(compiled) - len(survived)} of {len(compiled)} caught; survived: {', '.join(survived) or 'none'}")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
