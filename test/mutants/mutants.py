#!/usr/bin/env python3
"""Changes the library in one small way at a time and looks whether a test notices.

The tree is copied to build/mutants and built there, so the work tree is never touched; the copy is laid out like it, so
that ccache has the objects of a release build made before (CI=true ./run build). A mutant is one change of one place: a
comparison moved by one, a sum turned into a difference, a check or a lock left out, another status. It is killed when a
test that belongs to its file fails. places.txt says which files, which tests and how many mutants; named.txt lists
single changes that once survived; argued.txt those no test can notice, each with its reason.
"""
import argparse
import fnmatch
import os
import random
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE = ROOT / "build" / "mutants"
BUILD = SOURCE / "build" / "release"
ENOUGH = 90  # percent killed
ENVIRONMENT = {**os.environ, "MLUOP_TEST_SCALE": "0.1", "CI": "true", "CCACHE_BASEDIR": str(SOURCE)}


@dataclass(frozen=True)
class Mutant:
    path: str
    what: str
    begin: int
    end: int
    text: str  # in place of [begin, end) of the file

    def apply(self, source):
        return source[: self.begin] + self.text + source[self.end :]

    def lines(self, source):
        """The lines it changes, before and after, without their indentation."""
        first = source.rfind("\n", 0, self.begin) + 1
        last = source.find("\n", max(self.begin, self.end - 1))
        before, after = source[first:last], source[first : self.begin] + self.text + source[self.end : last]
        return " ".join(before.split()), " ".join(after.split())


def masked(source):
    """The source with comments, literals and preprocessor lines blanked, every character in its place."""
    literals = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    pattern = rf'//[^\n]*|/\*.*?\*/|{literals}|^[ \t]*#(?:\\\n|[^\n])*|static_assert[^;]*;'
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), source, flags=re.M | re.S)


def closing(source, opening):
    """The position of the parenthesis that closes the one at `opening`."""
    depth = 0
    for i in range(opening, len(source)):
        depth += {"(": 1, ")": -1}.get(source[i], 0)
        if depth == 0:
            return i
    raise ValueError("unbalanced parentheses")


EXCHANGES = [
    ("comparison", r" (<|<=|>|>=) ", {"<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"]}),
    ("equality", r" (==|!=) ", {"==": ["!="], "!=": ["=="]}),
    ("arithmetic", r" ([-+*/%]) ", {"+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"]}),
    ("logic", r" (&&|\|\|) ", {"&&": ["||"], "||": ["&&"]}),
    ("extreme", r"std::(min|max)\b", {"min": ["max"], "max": ["min"]}),
    ("truth", r"\breturn (true|false);", {"true": ["false"], "false": ["true"]}),
    ("status", r"Status::(bad_param|not_supported|nothing_to_do|go_on)\(",
     {"bad_param": ["not_supported"], "not_supported": ["bad_param"], "nothing_to_do": ["go_on"]}),
    ("status", r"\bMLUOP_STATUS_(\w+)", {name: ["INTERNAL_ERROR"] for name in
                                        ("ALLOC_FAILED", "BAD_PARAM", "NOT_SUPPORTED", "NOT_INITIALIZED")}),
]


def joins_texts(source, begin, end):
    """Whether the operator there has a literal or a word that gives a text beside it: nothing else compiles there."""
    before, after = source[:begin].rstrip()[-1:], source[end:].lstrip()
    return '"' in (before, after[:1]) or re.match(r"(std::string|std::to_string|number|dims_text|dtype_name)\(", after)


def exchanges(path, source, code):
    for what, pattern, others in EXCHANGES:
        for match in re.finditer(pattern, code):
            if what == "arithmetic" and joins_texts(source, *match.span()):
                continue
            for other in others.get(match.group(1), []):
                yield Mutant(path, what, match.start(1), match.end(1), other)


def constants(path, code):
    for match in re.finditer(r"(?<![\w.\[])(\d+)(?![\w.\]])", code):
        yield Mutant(path, "constant", match.start(1), match.end(1), str(int(match.group(1)) + 1))


def left_out(path, code):
    """Checks, locks and conditions that are left out."""
    for match in re.finditer(r"MLUOPS_RETURN_IF_FINISHED\(", code):
        yield Mutant(path, "check left out", match.start(), closing(code, match.end() - 1) + 2, "")
    for match in re.finditer(r"const std::lock_guard<std::mutex> \w+\([^;]*;", code):
        yield Mutant(path, "lock left out", match.start(), match.end(), "")
    for match in re.finditer(r"\bif \(", code):
        end = closing(code, match.end() - 1)
        if ";" not in code[match.end() : end]:
            yield Mutant(path, "condition never true", match.end(), end, "false")


def all_mutants(path, source):
    code = masked(source)
    found = [*exchanges(path, source, code), *constants(path, code), *left_out(path, code)]
    return sorted(found, key=lambda m: (m.begin, m.what, m.text))


@dataclass
class Place:
    pattern: str
    count: int
    tests: list


def read_places():
    places = []
    for line in (HERE / "places.txt").read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        pattern, count, *tests = line.split()
        places.append(Place(pattern, int(count), tests))
    return places


def read_changes(name):
    """Paragraphs: a heading, a path, lines with - and lines with +. As (heading, path, before, after)."""
    for paragraph in re.split(r"\n\s*\n", (HERE / name).read_text().strip()):
        lines = [line for line in paragraph.splitlines() if not line.startswith("#")]
        if not lines:
            continue
        before = "\n".join(line[1:].strip() for line in lines if line.startswith("-"))
        after = "\n".join(line[1:].strip() for line in lines if line.startswith("+"))
        heading = " ".join(line for line in lines if line[0] not in "-+")
        *words, path = heading.split()
        yield " ".join(words), path, before, after


def find_loosely(source, text):
    """Span of `text` in the source, whatever the white space."""
    match = re.search(r"\s+".join(re.escape(word) for word in text.split()), source)
    return match.span() if match else None


def named_mutants():
    for heading, path, before, after in read_changes("named.txt"):
        span = find_loosely((ROOT / path).read_text(), before)
        if span is None:
            sys.exit(f"named.txt: {path} has no {before!r}: {heading}")
        yield Mutant(path, heading, *span, after)


def drawn_mutants(everything):
    """The mutants that places.txt asks for, the same ones each time."""
    for place in read_places():
        paths = subprocess.run(["git", "ls-files", place.pattern], cwd=ROOT, capture_output=True, text=True)
        mutants = [m for path in paths.stdout.split() for m in all_mutants(path, (ROOT / path).read_text())]
        if not everything:
            mutants = random.Random(place.pattern).sample(mutants, min(place.count, len(mutants)))
            mutants.sort(key=lambda m: (m.path, m.begin))
        yield from mutants


class Argued:
    """Changes that no test can notice, by the lines they change: a file may move on round them."""

    def __init__(self):
        self.entries = {(path, " ".join(before.split()), " ".join(after.split())): reason
                        for reason, path, before, after in read_changes("argued.txt")}

    def reason(self, mutant, source):
        return self.entries.get((mutant.path, *mutant.lines(source)))


def tests_of(path):
    for place in read_places():
        if fnmatch.fnmatch(path, place.pattern):
            return place.tests
    sys.exit(f"places.txt names no tests for {path}")


def copy_tree():
    """Copies files that git does not ignore, if they differ, so that a second run rebuilds only changes."""
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                           capture_output=True, text=True, check=True).stdout.split("\n")
    for name in filter(None, files):
        old, new = ROOT / name, SOURCE / name
        if not old.is_file():
            continue
        data = old.read_bytes()
        if not new.exists() or new.read_bytes() != data:
            new.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(data)
            shutil.copymode(old, new)


def run(command, seconds, **options):
    """Exit status, or None when the time is over."""
    try:
        return subprocess.run(command, timeout=seconds, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    except subprocess.TimeoutExpired:
        return None


def build(programs, jobs):
    targets = ["test_" + p for p in programs]
    return run(["ninja", "-C", str(BUILD), "-j", str(jobs), *targets], 1800, env=ENVIRONMENT)


def configure():
    if (BUILD / "build.ninja").exists():
        return
    launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX") if shutil.which("ccache")]
    command = ["cmake", "--preset", "release", "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON", *launcher]
    subprocess.run(command, cwd=SOURCE, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)


def killer(tests, seconds):
    """The first of the tests that fails, or None."""
    for test in tests:
        program, _, pattern = test.partition(":")
        command = [BUILD / "test" / program / f"test_{program}", f"--gtest_filter={pattern or '*'}", "--gtest_brief=1",
                   "--gtest_fail_fast"]
        result = run(command, seconds, env=ENVIRONMENT)
        if result is None:
            return f"{program}: time is over"
        if result.returncode != 0:
            failed = re.search(rb"\[  FAILED  \] ([^\s,]+)", result.stdout)
            return f"{program}.{failed.group(1).decode() if failed else 'ended'}"
    return None


def try_mutant(mutant, seconds, jobs):
    """killed by TEST, survived, or does not compile."""
    tests = tests_of(mutant.path)
    place = SOURCE / mutant.path
    source = place.read_text()
    place.write_text(mutant.apply(source))
    try:
        built = build(dict.fromkeys(t.split(":")[0] for t in tests), jobs)
        if built is None or built.returncode != 0:
            return "does not compile", None
        test = killer(tests, seconds)
        return ("killed", test) if test else ("SURVIVED", None)
    finally:
        place.write_text(source)


def check_unchanged(mutants, seconds, jobs):
    tests = sorted({t for m in mutants for t in tests_of(m.path)})
    built = build(dict.fromkeys(t.split(":")[0] for t in tests), jobs)
    if built is None or built.returncode != 0:
        sys.exit(built.stdout.decode() if built else "the build takes too long")
    failed = killer(tests, seconds)
    if failed:
        sys.exit(f"without any change {failed} fails")


def choose(options):
    mutants = list(dict.fromkeys([*named_mutants(), *drawn_mutants(options.all)]))
    mutants = [m for m in mutants if re.search(options.only, f"{m.path} {m.what}")]
    if options.sample:
        mutants = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
    return sorted(mutants, key=lambda m: m.path.endswith(".h"))  # headers last: many files are compiled again


def show(mutant, source, outcome, note):
    line = source.count("\n", 0, mutant.begin) + 1
    before, after = mutant.lines(source)
    print(f"{outcome}: {mutant.path}:{line} {mutant.what}{' by ' + note if outcome == 'killed' else ''}", flush=True)
    if outcome != "killed":
        print(f"-{before}\n+{after}" + (f"\n{note}" if note else ""), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, help="so many, drawn by --seed")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", default="", metavar="REGEX", help="those whose file or kind it matches")
    parser.add_argument("--all", action="store_true", help="every mutant of every place: hours")
    parser.add_argument("--list", action="store_true", help="print them only")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=60, help="a test program's time")
    options = parser.parse_args()

    begin, argued, mutants = time.time(), Argued(), choose(options)
    count = {"killed": 0, "argued": 0, "SURVIVED": 0, "does not compile": 0}
    if not options.list:
        copy_tree()
        configure()
        check_unchanged(mutants, 10 * options.seconds, options.jobs)
        print(f"{len(mutants)} mutants; the build without one took {time.time() - begin:.0f} s", flush=True)
    for mutant in mutants:
        source = (ROOT / mutant.path).read_text()
        reason = argued.reason(mutant, source)
        outcome, note = "argued", reason
        if not reason and not options.list:
            outcome, note = try_mutant(mutant, options.seconds, options.jobs)
        count[outcome] += 1
        show(mutant, source, outcome, note)
    if options.list:
        return
    tried = len(mutants) - count["does not compile"]
    share = 100 * count["killed"] / max(1, tried)
    print(f"verdict: {count['killed']} of {tried} mutants killed ({share:.1f} %), {count['argued']} argued, "
          f"{count['SURVIVED']} survived, {count['does not compile']} did not compile, {time.time() - begin:.0f} s")
    sys.exit(0 if share >= ENOUGH and count["SURVIVED"] == 0 else 1)


if __name__ == "__main__":
    main()
