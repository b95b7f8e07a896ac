#!/usr/bin/env python3
"""Makes the documentation a static site: every Markdown page of the repository's root and of docs/ as HTML, with the pictures
they show. Fails on a link that leads nowhere.

Usage: build-site.py FOLDER (needs python3-markdown-it)
"""

import html
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
FRAME = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="{top}style.css"></head>
<body><nav><a href="{top}index.html">mluop-host</a> <a href="{top}docs/README.html">documentation</a>
<a href="{top}CHANGELOG.html">changes</a></nav>
<main>
{body}
</main></body></html>
"""
STYLE = """:root { color-scheme: light dark; --line: #8884 }
body { margin: 0; font: 16px/1.55 system-ui, "DejaVu Sans", sans-serif }
nav { padding: 10px 24px; border-bottom: 1px solid var(--line) } nav a { margin-right: 18px }
main { max-width: 960px; margin: 0 auto; padding: 8px 24px 60px; overflow-wrap: break-word }
pre { overflow-x: auto; padding: 10px 14px; border: 1px solid var(--line); border-radius: 6px; font-size: 14px; line-height: 1.4 }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .92em }
table { display: block; overflow-x: auto; border-collapse: collapse; max-width: 100% }
th, td { border: 1px solid var(--line); padding: 3px 9px } img { max-width: 100%; background: #fff }
"""
OUTSIDE = re.compile(r"[a-z]+:")


def sources() -> list:
    """Pages, and the files they may show."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [Path(n) for n in names if (ROOT / n).exists()]


def is_page(path: Path) -> bool:
    return path.suffix == ".md" and (len(path.parts) == 1 or path.parts[0] == "docs")


def slug(title: str) -> str:
    """As cmake/check-docs.py and the usual forges name titles."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def rendered(text: str) -> str:
    reader = MarkdownIt("commonmark").enable("table")
    tokens = reader.parse(text)
    for opening, inline in zip(tokens, tokens[1:]):
        if opening.type == "heading_open":
            opening.attrSet("id", slug(inline.content))
    return reader.renderer.render(tokens, reader.options, {})


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.anchors = [], set()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src"):
                self.links.append(value)
            elif name in ("id", "name"):
                self.anchors.add(value)


def target_name(path: Path) -> Path:
    return Path("index.html") if path == Path("README.md") else path.with_suffix(".html") if is_page(path) else path


def converted(path: Path, files: set, wanted: set) -> str:
    """The page's HTML, its links moved to where things are on the site; what it shows besides pages goes into `wanted`."""
    def moved(match):
        link = html.unescape(match[2])
        place, hash_sign, anchor = link.partition("#")
        if OUTSIDE.match(link) or not place:
            return match[0]
        target = Path(os.path.normpath(path.parent / unquote(place)))
        if (ROOT / target).is_dir():
            return f'{match[1]}="{os.path.relpath(target / "index.html", path.parent)}"'
        if target not in files:
            raise SystemExit(f"{path}: {link} leads nowhere")
        if not is_page(target):
            wanted.add(target)
        return f'{match[1]}="{os.path.relpath(target_name(target), path.parent)}{hash_sign}{anchor}"'

    return re.sub(r'(href|src)="([^"]*)"', moved, rendered((ROOT / path).read_text()))


def list_folder(site: Path, folder: Path) -> None:
    """What stands for a folder that a page links to."""
    names = sorted(page.name for page in (site / folder).glob("*.html"))
    body = "\n".join([f"<h1>{folder}</h1>", "<ul>", *(f'<li><a href="{n}">{Path(n).stem}</a></li>' for n in names), "</ul>"])
    (site / folder / "index.html").write_text(FRAME.format(title=folder, top="../" * len(folder.parts), body=body))


def check(site: Path) -> int:
    """Every link of the site, anchors too; the number of them."""
    pages = {}
    for page in site.rglob("*.html"):
        pages[page] = Links()
        pages[page].feed(page.read_text())
    broken, count = [], 0
    for page, found in pages.items():
        for link in found.links:
            if OUTSIDE.match(link):
                continue
            count += 1
            place, _, anchor = link.partition("#")
            target = (page.parent / place).resolve() if place else page
            if not target.exists():
                broken.append(f"{page.relative_to(site)}: {link} leads nowhere")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                broken.append(f"{page.relative_to(site)}: {link}: no such title there")
    if broken:
        raise SystemExit("\n".join(broken))
    return count


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    shutil.rmtree(site, ignore_errors=True)
    files = set(sources())
    wanted: set = set()
    for path in sorted(filter(is_page, files)):
        place = site / target_name(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        body = converted(path, files, wanted)
        title = re.search(r"<h1[^>]*>(.*?)</h1>", body)
        top = "../" * (len(path.parts) - 1)
        place.write_text(FRAME.format(title=re.sub("<.*?>", "", title[1]) if title else path.stem, top=top, body=body))
    for folder in {path.parent for path in files if is_page(path)} - {Path(".")}:
        list_folder(site, folder)
    for path in wanted:
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, site / path)
    (site / "style.css").write_text(STYLE)
    print(f"{len(list(site.rglob('*.html')))} pages, {check(site)} links inside the site: verdict ok")


if __name__ == "__main__":
    main()
