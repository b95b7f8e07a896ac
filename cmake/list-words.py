#!/usr/bin/env python3
"""Writes docs/bang_words.md: every word of BANG C the headers declare, what it does, where it is modelled.

Without options it writes the page; --check fails where the page is not what the headers say.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORDS = ROOT / "backends/mlu_emu/bang/words"
PAGE = ROOT / "docs/bang_words.md"
# Header, heading, whether its words are those of the vector unit, which aligns its operands on the 200 series.
HEADERS = [
    ("copies", "Copies and barriers", False),
    ("memory", "Memory in other ways, atomics", False),
    ("lanes", "Lane by lane", True),
    ("activations", "Mathematical functions of lanes", True),
    ("convert", "Conversions", True),
    ("select", "Sums, counts, finding, packing, look-up", True),
    ("windows", "Maps and windows", True),
    ("tensor_unit", "The tensor unit", True),
]
NAME = re.compile(r"\b(__(?!builtin|attribute|func|VA)[a-z][a-z0-9_]*?)\(")
INTRODUCTION = """\
# Words of BANG C

Written by `cmake/list-words.py` from the headers in `backends/mlu_emu/bang/words/`; lint holds it against them. The
sentences are those of the headers. Every word is declared for every machine. 372 and 592 take any address and length; on
the 200 series addresses and lengths of the words marked 128 are multiples of 128 bytes. A word that is a fault can be
compiled and ends the launch that calls it with its name. Vector registers and inline MLISA are in
[kernel_author.md](kernel_author.md), what differs from hardware in [device_model.md](device_model.md).
"""


def expanded(header: Path) -> list:
    """The names a header declares, macros expanded, in their order."""
    text = subprocess.run(
        [os.environ.get("CXX", "g++"), "-std=c++20", "-E", "-I", ROOT, header], check=True, capture_output=True, text=True).stdout
    own, names = False, []
    for line in text.splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            own = marker.group(1).endswith(f"words/{header.name}")
        elif own and not line.startswith("  "):
            names += [n for n in NAME.findall(line) if n not in names]
    return names


def sentences(comment: list) -> str:
    text = " ".join(line for line in comment if not line.startswith("----")).replace("|", "\\|")
    return re.sub(r"\s+", " ", text).strip()


def groups(header: Path) -> list:
    """(comment, names) for each run of declarations below one comment; names that macros make are in `rest`."""
    found, comment, names, fresh = [], [], [], False
    macro = False
    for line in header.read_text().splitlines():
        if macro or line.startswith("#define"):
            macro = line.endswith("\\")
            continue
        if line.startswith("//"):
            if not fresh:
                if names:
                    found.append((comment, names))
                comment, names = [], []
            fresh = True
            comment.append(line.lstrip("/ ").strip())
            continue
        declared = NAME.findall(line) if not line.startswith(" ") else []
        declared += re.findall(r"^MLUOPS_EMU_\w+\((__\w+)\)", line)
        names += [n for n in declared if n not in names]
        if line and not line.startswith("template"):
            fresh = False
    return found + ([(comment, names)] if names else [])


def families(names: list) -> list:
    """Names that differ in a suffix of rounding alone become one."""
    suffixes = ("tz", "oz", "dn", "up", "rd", "rn", "rm")
    made = {}
    for name in names:
        stem, _, suffix = name.rpartition("_")
        known = suffix in suffixes and ("2" in stem)
        made.setdefault(stem if known else name, []).append(suffix if known else "")
    return [stem + (f"[{', '.join('_' + s if s else 'alone' for s in ends)}]" if any(ends) else "")
            for stem, ends in made.items()]


def page() -> str:
    lines = [INTRODUCTION]
    for stem, heading, vector in HEADERS:
        header = WORDS / f"{stem}.h"
        text, all_names = header.read_text(), expanded(header)
        faults = re.findall(r"MLUOPS_EMU_NOT_MODELLED\((__\w+)\)", text)
        lines += [f"## {heading}\n", "| words | | 200 series | 372, 592 |", "|---|---|---|---|"]
        seen = set()
        for comment, names in groups(header):
            names = [n for n in names if n in all_names and n not in seen]
            if not names:
                continue
            seen.update(names)
            fault = set(names) <= set(faults)
            state = "fault" if fault else "128" if vector else "yes"
            lines.append(f"| {', '.join(f'`{n}`' for n in families(names))} | {sentences(comment)} | {state} | "
                         f"{'fault' if fault else 'yes'} |")
        rest = [n for n in all_names if n not in seen]
        if rest:
            lines.append(f"| {', '.join(f'`{n}`' for n in families(rest))} | The others of these kinds. | {'128' if vector else 'yes'} | yes |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != page():
            sys.exit("docs/bang_words.md is not what the headers say: cmake/list-words.py writes it")
        return
    PAGE.write_text(page())


main()
