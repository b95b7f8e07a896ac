"""Checks the measurable part of the project's style: the length of lines of prose, words that only this project would
understand, and the headings of each kind of page. check-docs.py runs it; `check-docs.py --self-test` plants faults."""

import re
import tempfile
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

LONGEST_LINE = 120

# Phrases and what to write instead: everywhere, and in pages only.
BANNED = {
    r"the documents'": "name them: the original operators, or the vendor's design documents",
    r"the same bits": "bitwise equal, bitwise reproducible",
    r"gradients of gradients": "double backward",
    r"seconds of the processor": "CPU time",
    r"(?:is|are) not there\b": "is missing, does not exist, is not supported",
    r"vector words?\b": "vector builtin",
    r"what it is that": "name the thing",
}
BANNED_IN_PAGES = {
    r"(?-i:Those of)\b": "name the thing",
    r"first touch\b": "page fault",
    r"held against": "compared with",
    r"in the place of": "instead of",
    r"(?:is|are) in the data\b": "data-dependent",
}
TEXTS = (".h", ".c", ".cpp", ".py", ".sh", ".mlu", ".inc", ".cmake", ".js")

OPERATOR_PAGE = re.compile("What it computes\nExample\nShapes and data types\nDefinition\nEdge cases\n"
                           "(Differences from [^\n]+\n)?(Performance\n)?$")
GUIDES = ("docs/c_api.md", "docs/classroom.md", "docs/kernel_author.md", "docs/plugin.md", "docs/replay.md")
CHANGES = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
RELEASE = re.compile(r"Unreleased|\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}")


def prose(text: str) -> Iterator[Tuple[int, str]]:
    """The numbered lines of a page that are not in a code block, a table or a diagram."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code and not line.startswith(("|", "    ")):
            yield number, line


def headings(text: str, level: str) -> List[str]:
    return [line[len(level) + 1:] for _, line in prose(text) if line.startswith(level + " ")]


def banned(name: str, text: str) -> Iterator[str]:
    words = {**BANNED, **(BANNED_IN_PAGES if name.endswith(".md") else {})}
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, instead in words.items():
            found = re.search(r"\b" + pattern, line, re.I)
            if found:
                yield f"{name}:{number}: '{found[0]}': write instead: {instead}"


def long_lines(name: str, text: str) -> Iterator[str]:
    for number, line in prose(text):
        if len(line) > LONGEST_LINE and " " in line.strip():
            yield f"{name}:{number}: a line of {len(line)} characters, at most {LONGEST_LINE}"


def wrong_headings(name: str, text: str) -> Iterator[str]:
    titles, parts = headings(text, "#"), headings(text, "##")
    if name.startswith("docs/") and len(titles) != 1:
        yield f"{name}: wanted one title, got {titles}"
    operator_page = name.startswith("docs/op/") and name != "docs/op/README.md"
    if operator_page and not OPERATOR_PAGE.match("".join(part + "\n" for part in parts)):
        yield f"{name}: its headings are not those of an operator page (docs/op/knn.md): {parts}"
    if name in GUIDES and (parts[:1] != ["Goal"] or "Check" not in parts):
        yield f"{name}: a guide begins with Goal and has a Check, got {parts}"


def wrong_changelog(text: str) -> Iterator[str]:
    """The form of Keep a Changelog: releases with dates, and the kinds of change once in each."""
    for release in re.split(r"^## ", text, flags=re.M)[1:]:
        title = release.splitlines()[0]
        if not RELEASE.fullmatch(title):
            yield f"CHANGELOG.md: wanted '[1.2.3] - 2026-01-31' or Unreleased, got '{title}'"
        kinds = headings(release, "###")
        if [kind for kind in kinds if kind not in CHANGES] or len(set(kinds)) != len(kinds):
            yield f"CHANGELOG.md: {title}: wanted each of {', '.join(CHANGES)} at most once, got {kinds}"


def problems(root: Path, files: List[str]) -> List[str]:
    found = []
    for name in files:
        page = name.endswith(".md")
        if name == "cmake/prose.py" or not page and not name.endswith(TEXTS) or not (root / name).is_file():
            continue
        text = (root / name).read_text(errors="replace")
        found += banned(name, text)
        if page:
            found += [*long_lines(name, text), *wrong_headings(name, text)]
        if name == "CHANGELOG.md":
            found += wrong_changelog(text)
    return found


# ---- self-test ------------------------------------------------------------------------------------------------------

GOOD = {
    "docs/op/knn.md": "# kNN\n## What it computes\n## Example\n```python\n# " + "x " * 80 + "\n```\n## Shapes and data "
                      "types\n| " + "long " * 40 + "|\n## Definition\n## Edge cases\n## Differences from mmcv\n",
    "docs/c_api.md": "# C\n## Goal\n## Steps\n## Check\n",
    "CHANGELOG.md": "# Changelog\n## Unreleased\n### Added\n## [0.1.0] - 2026-01-31\n### Added\n### Fixed\n",
    "b.cpp": "// The words that follow are compared.\n",
}
FAULTS: Tuple[Tuple[str, Dict[str, str], str], ...] = (
    ("a long line", {"README.md": "word " * 30 + "\n"}, "README.md:1: a line of 150"),
    ("a long line behind a code block", {"README.md": "```sh\nls\n```\n" + "word " * 30}, "README.md:4"),
    ("a private word in a page", {"README.md": "It needs two seconds of the processor.\n"}, "CPU time"),
    ("a private word in a table", {"README.md": "| a | the same bits |\n"}, "bitwise"),
    ("a private word in a comment", {"a.cpp": "/// The tensor is not there.\n"}, "a.cpp:1"),
    ("a private word in a text of Python", {"a.py": 'raise E("Gradients of gradients")\n'}, "double backward"),
    ("an operator page without edge cases",
     {"docs/op/knn.md": GOOD["docs/op/knn.md"].replace("## Edge cases\n", "")}, "operator page"),
    ("an operator page in another order", {"docs/op/knn.md": GOOD["docs/op/knn.md"].replace(
        "## Definition\n## Edge cases", "## Edge cases\n## Definition")}, "operator page"),
    ("a guide without a check", {"docs/c_api.md": "# C\n## Goal\n"}, "a guide begins"),
    ("a page with two titles", {"docs/speed.md": "# A\n# B\n"}, "one title"),
    ("a release without a date", {"CHANGELOG.md": "## [0.2.0]\n### Added\n"}, "got '[0.2.0]'"),
    ("a kind of change twice", {"CHANGELOG.md": "## Unreleased\n### Added\n### Fixed\n### Added\n"}, "at most once"),
    ("an unknown kind of change", {"CHANGELOG.md": "## Unreleased\n### News\n"}, "at most once"),
)


def self_test() -> List[str]:
    """What was not found, or found in a tree without a fault."""
    failures = []
    for name, files, wanted in (("no fault", {}, ""), *FAULTS):
        with tempfile.TemporaryDirectory() as folder:
            root, tree = Path(folder), {**GOOD, **files}
            for path, text in tree.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            found = problems(root, list(tree))
            if len(found) != bool(wanted) or wanted and wanted not in found[0]:
                failures.append(f"{name}: wanted {wanted!r}, got {found}")
    return failures
