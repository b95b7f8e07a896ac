#!/usr/bin/env python3
"""Compares the documentation with the tree.

Without options, in a second: every link leads somewhere, every page of docs/ is in its index, pages keep their length
and form (prose.py), calls in C have the prototypes' number of arguments (page_calls.py), the tables of operators have
the operators of the list, and every file names the same version.
--self-test: plants faults of form and looks whether each is found.
--run: every fenced block of README.md, docs/*.md and, but for Python, docs/op/*.md is run as its page says, against the build in build/release:
  ```python      run; needs the package's own dependencies, and torch or mmcv where it imports them
  ```c           compiled with -Wall -Wextra -Werror, and run where it has a main
  ```cpp         a BANG C file: compiled by the build's cncc, and run
  ```cmake       configured and built with the page's C block as app.c, against an installed copy
  ```sh          run by bash in an empty folder
  ```sh (not run: REASON)    stays unread
  ``` or ```text output, nothing to run
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import page_calls
import prose

ROOT = Path(__file__).resolve().parents[1]
LONGEST = {"docs/performance.md": 150, "docs/op/*.md": 120}
BLOCK = re.compile(r"^```(\w*) *(?:\(([^\n]*)\))? *\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def tracked(*patterns: str) -> list:
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.splitlines() if (ROOT / name).is_file()]


def pages() -> list:
    return [ROOT / name for name in tracked("*.md")]


def anchors(page: Path) -> set:
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(page: Path) -> list:
    problems = []
    for link in LINK.findall(re.sub(r"`[^`\n]*`", "", BLOCK.sub("", page.read_text()))):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            problems.append(f"{page.relative_to(ROOT)}: {link} leads nowhere")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            problems.append(f"{page.relative_to(ROOT)}: no title for #{anchor} in {target.relative_to(ROOT)}")
    return problems


def run_pages() -> list:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/op").glob("*.md"))]


def is_read_only(language: str, note: str) -> bool:
    return language in ("", "text") or note.startswith("not run: ")


def unknown_blocks(page: Path) -> list:
    return [f"{page.relative_to(ROOT)}: nobody knows how to run a block of {language}"
            for language, note, _ in BLOCK.findall(page.read_text())
            if not is_read_only(language, note) and not hasattr(Runner, "run_" + language)]


def lint() -> list:
    problems = [problem for page in pages() for problem in broken_links(page)]
    problems += [problem for page in run_pages() for problem in unknown_blocks(page)]
    index = ROOT / "docs/README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in LINK.findall(index.read_text())}
    for page in pages():
        if page.parent == ROOT / "docs" and page != index and page not in linked:
            problems.append(f"{page.relative_to(ROOT)} is not in docs/README.md")
    for pattern, most in LONGEST.items():
        for page in ROOT.glob(pattern):
            lines = page.read_text().count("\n")
            if lines > most:
                problems.append(f"{page.relative_to(ROOT)} has {lines} lines, at most {most}")
    return problems + outdated_operators() + other_versions() + page_calls.problems(ROOT) + prose.problems(ROOT, tracked())


# Where the version is told, and the expression that finds it. CMake's is the one that counts.
VERSION = ("CMakeLists.txt", r"^project\(mluop-host VERSION ([\d.]+)")
VERSIONS = (
    ("CITATION.cff", r"^version: ([\d.]+)"),
    ("CHANGELOG.md", r"^## \[([\d.]+)\]"),  # the newest release
    ("packaging/conan/conanfile.py", r'^    version = "([\d.]+)"'),
    ("packaging/conda-forge/meta.yaml", r'^{% set version = "([\d.]+)"'),
    ("packaging/vcpkg/mluop-host/vcpkg.json", r'^  "version": "([\d.]+)"'),
    ("pyproject.toml", r"^regex = 'project.*(mluop-host VERSION )"),  # it reads CMakeLists.txt
)


def other_versions() -> list:
    name, pattern = VERSION
    version = re.search(pattern, (ROOT / name).read_text(), re.M)[1]
    problems = []
    for name, pattern in VERSIONS:
        found = re.search(pattern, (ROOT / name).read_text(), re.M)
        if not found or found[1] not in (version, "mluop-host VERSION "):
            problems.append(f"{name}: wanted version {version} of CMakeLists.txt, got {found[1] if found else 'none'}")
    return problems


def outdated_operators() -> list:
    """What the list of operators and that of the emulated device say, against the two tables of operators. A test of
    the bench holds the rest of their cells against the build."""
    def listed(path: str, macro: str) -> list:
        return re.findall(rf"^{macro}\((\w+),", (ROOT / path).read_text(), re.M)
    operators = listed("api/include/mluops/operators.inc", "MLUOPS_OPERATOR")
    emulated = listed("backends/mlu_emu/kernels/kernels.inc", "MLUOPS_EMULATED")
    wanted = [(name, name in emulated) for name in operators]
    page = [line for line in (ROOT / "docs/operators.md").read_text().splitlines() if line.startswith("|")][2:]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page]
    problems = []
    if [(row[0], row[3] == "yes") for row in cells] != wanted:
        problems.append("docs/operators.md is not that of mluops/operators.inc and kernels.inc: ./run operators")
    table = (ROOT / "api/python/mluops/operators.txt").read_text().splitlines()[1:]
    if [line.split() for line in table] != [" ".join(row).split() for row in cells]:
        problems.append("api/python/mluops/operators.txt is not docs/operators.md: ./run operators")
    return problems


class Runner:
    """Runs the blocks of one page in a folder of its own."""

    def __init__(self, build: Path, python: str, folder: Path) -> None:
        self.build, self.python, self.folder = build, python, folder
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT / "api/python"),
                            "MLUOPS_LIBRARY": str(build / "api/libmluops.so.1")}
        self.program = None  # the page's C program, for its CMake block

    def must(self, *command) -> None:
        result = subprocess.run([str(c) for c in command], cwd=self.folder, env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        if result.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}\n{result.stdout}")

    def run(self, language: str, text: str) -> str:
        return getattr(self, "run_" + language)(text)

    def run_python(self, text: str) -> str:
        for module in set(re.findall(r"^\s*(?:import|from) (\w+)", text, re.M)) - {"mluops"}:
            found = subprocess.run([self.python, "-c", f"import {module}"], capture_output=True)
            if found.returncode != 0:
                return f"skipped, no {module}"
        self.must(self.python, "-c", text)
        return "ok"

    def run_c(self, text: str) -> str:
        source, out = self.folder / "app.c", self.folder / "app"
        source.write_text(text)
        has_main = re.search(r"\bint main\(", text)
        self.must("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/api/include", source, "-o", out,
                  *([] if has_main else ["-shared", "-fPIC", "-Wno-unused-parameter"]),
                  f"-L{self.build}/api", f"-Wl,-rpath,{self.build}/api", *(["-lmluops"] if has_main else []))
        if has_main:
            self.must(out)
        return "ok"

    def run_cpp(self, text: str) -> str:
        (self.folder / "kernel.mlu").write_text(text)
        self.must(self.build / "neuware/bin/cncc", "-O2", "kernel.mlu", "-o", "kernel")
        self.must("./kernel")
        return "ok"

    def run_cmake(self, text: str) -> str:
        (self.folder / "CMakeLists.txt").write_text(text)
        self.must("cmake", "--install", self.build, "--prefix", self.folder / "prefix")
        self.must("cmake", "-S", ".", "-B", "b", f"-DCMAKE_PREFIX_PATH={self.folder}/prefix")
        self.must("cmake", "--build", "b")
        return "ok"

    def run_sh(self, text: str) -> str:
        self.must("bash", "-e", "-c", text)
        return "ok"


def run_blocks(build: Path, python: str) -> None:
    total = 0
    for page in run_pages():
        with tempfile.TemporaryDirectory() as folder:
            runner = Runner(build, python, Path(folder))
            # A CMake block builds the page's C program, wherever that stands.
            blocks = sorted(BLOCK.findall(page.read_text()), key=lambda block: block[0] == "cmake")
            for language, note, text in blocks:
                if is_read_only(language, note) or (page.parent.name == "op" and language == "python"):
                    continue  # test/python/test_pages.py has the examples of operators, in one process
                print(f"{page.relative_to(ROOT)}: {language}: {runner.run(language, text)}", flush=True)
                total += 1
    print(f"{total} blocks run")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", action="store_true", help="run the code blocks")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="a build with the library in it")
    parser.add_argument("--python", default=sys.executable, help="the Python that runs Python blocks")
    parser.add_argument("--self-test", action="store_true", help="plant faults of form and look for each")
    options = parser.parse_args()
    problems = [*prose.self_test(), *page_calls.self_test()] if options.self_test else lint()
    if problems:
        raise SystemExit("\n".join(problems))
    if options.run:
        # Blocks run in folders of their own: a path must not depend on this one. A venv's link is not followed.
        run_blocks(options.build.resolve(), os.path.abspath(shutil.which(options.python) or options.python))


if __name__ == "__main__":
    main()
