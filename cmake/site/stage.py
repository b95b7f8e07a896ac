#!/usr/bin/env python3
"""Prepares the documentation site: collects its pages in one folder and writes the configuration with the navigation.

MkDocs wants all pages below one folder, and the repository's pages lie beside their code. This script copies every tracked
page of the root and of docs/, and every file that such a page links to, so that links work unchanged. It adds one page for each
module of the Python reference, and the pages that mluops_explain has written to build/emulated. Usage: stage.py (writes build/site-pages and build/mkdocs.yml)
"""

import ast
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "build/site-pages"
EMULATED = ROOT / "build/emulated"  # how operators are laid out on the emulated MLU; ./run site writes it
LINK = re.compile(r"\]\(([^)#\s]+)")

GUIDES = ["python", "dropin", "models", "c_api", "kernel_author", "classroom", "replay", "plugin"]
REFERENCE = ["operators", "environment", "accuracy", "reliability", "performance", "speed", "device_model", "platforms", "stability"]
CONTRIBUTORS = ["HACKING"]
# One module of the Python reference, one page. mluops.torch.op.* are added to them.
MODULES = ["mluops", "mluops.mmcv", "mluops.dropin", "mluops.onnxruntime", "mluops.torch.onnx"]


def tracked(*patterns: str) -> list:
    found = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [Path(name) for name in found.splitlines() if (ROOT / name).exists()]


def copy(name: Path) -> None:
    target = PAGES / name
    target.parent.mkdir(parents=True, exist_ok=True)
    if name.suffix == ".md":  # "(not run: ...)" behind a fence's language is for cmake/check-docs.py
        target.write_text(re.sub(r"^(```\w+) *\(.*\) *$", r"\1", (ROOT / name).read_text(), flags=re.M))
    else:
        shutil.copy(ROOT / name, target)


def linked_files(page: Path) -> list:
    """Files of the repository that a page links to and that are no pages of the site themselves."""
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.S)
    targets = [(ROOT / page.parent / link).resolve() for link in LINK.findall(text) if not re.match(r"[a-z]+:", link)]
    return [t.relative_to(ROOT) for t in targets if t.is_file() and t.is_relative_to(ROOT)]


def title_of(page: Path) -> str:
    first = re.search(r"^# (.*)$", (ROOT / page).read_text(), re.M)
    return first.group(1).split(":")[0] if first else page.stem


def entry(title: str, path: str, depth: int = 2) -> str:
    return f"{'  ' * depth}- {quoted(title)}: {path}\n"


def quoted(text: str) -> str:
    return '"' + text.replace('"', "'").replace("`", "") + '"'


def has_public_names(module: Path) -> bool:
    return any(isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
               for node in ast.parse(module.read_text()).body)


def python_reference() -> str:
    """Writes a page for each module; returns their navigation."""
    operators = sorted(path.stem for path in (ROOT / "api/python/mluops/torch/op").glob("[a-z]*.py") if has_public_names(path))
    navigation = ""
    for module in MODULES + [f"mluops.torch.op.{name}" for name in operators]:
        path = PAGES / "python" / f"{module}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {module.replace('.op.', ': ')}\n\n::: {module}\n    options:\n      show_root_heading: false\n")
        navigation += entry(module.replace("mluops.torch.op.", "torch: "), f"python/{module}.md")
    return navigation


def emulated_operators() -> str:
    """Copies the pages of the emulated MLU with their pictures; returns their navigation."""
    shutil.copytree(EMULATED, PAGES / "emulated")
    return "".join(entry(page.stem, f"emulated/{page.name}") for page in sorted(EMULATED.glob("*.md")))


def navigation() -> str:
    pages = {page.stem: page for page in tracked("docs/*.md") if page.parent.name == "docs"}
    named = set(GUIDES + REFERENCE + CONTRIBUTORS + ["README"])
    rest = sorted(stem for stem in pages if stem not in named)

    def section(name: str, stems: list) -> str:
        return f"  - {name}:\n" + "".join(entry(title_of(pages[stem]), str(pages[stem])) for stem in stems if stem in pages)

    operators = "".join(entry(title_of(page), str(page)) for page in tracked("docs/op/*.md"))
    lab = "".join(entry(title_of(page), str(page)) for page in tracked("docs/lab/*.md"))
    return ("nav:\n" + entry("Home", "README.md", 1) + section("Guides", GUIDES) + section("Reference", REFERENCE + rest)
            + "  - Operators:\n" + entry("All pages", "docs/README.md") + operators
            + "  - On the emulated MLU:\n" + emulated_operators()
            + "  - Python API:\n" + python_reference()
            + entry("C API", "c/index.html", 1)
            + section("Contributors", CONTRIBUTORS) + entry("Contributing", "CONTRIBUTING.md") + lab
            + "  - Project:\n" + entry("Changes", "CHANGELOG.md") + entry("Security", "SECURITY.md")
            + entry("Code of conduct", "CODE_OF_CONDUCT.md"))


def main() -> None:
    shutil.rmtree(PAGES, ignore_errors=True)
    pages = [page for page in tracked("*.md") if len(page.parts) == 1 or page.parts[0] == "docs"]
    files = {name for page in pages for name in linked_files(page)}
    for name in {*pages, *files, *tracked("docs/**/*.svg", "docs/*.svg")}:
        copy(name)
    (ROOT / "build/mkdocs.yml").write_text(f"INHERIT: ../mkdocs.yml\ndocs_dir: site-pages\nsite_dir: site\n{navigation()}")
    print(f"{len(pages)} pages, {len(files)} files they link to")


if __name__ == "__main__":
    main()
