#!/usr/bin/env python3
"""Writes two pages about the builtins of BANG C: docs/bang_words.md, every one that the headers declare, what it does and
where it is modelled; docs/bang_guide.md, every one of the vendor's guide, its rules there and what is ours.

Without options it writes the pages; --check fails where a page is not what the headers and the guide's table say.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORDS = ROOT / "backends/mlu_emu/bang/words"
PAGE = ROOT / "docs/bang_words.md"
GUIDE_PAGE = ROOT / "docs/bang_guide.md"
GUIDE = ROOT / "backends/mlu_emu/device/guide.inc"
# Header, heading, whether its words are those of the vector unit, which aligns its operands on the 200 series.
HEADERS = [
    ("copies", "Copies and barriers", False),
    ("memory", "Memory in other ways", False),
    ("atomics", "Atomics", False),
    ("lanes", "Lane by lane", True),
    ("activations", "Mathematical functions of lanes", True),
    ("convert", "Conversions", True),
    ("select", "Sums, counts, finding, packing, look-up", True),
    ("windows", "Maps and windows", True),
    ("tensor_unit", "The tensor unit", True),
]
NAME = re.compile(r"\b(__(?!builtin|attribute|func|VA)[a-z][a-z0-9_]*?)\(")
INTRODUCTION = """\
# BANG C builtins

This page describes every BANG C builtin that the headers declare. `cmake/list-words.py` writes it from the comments in
`backends/mlu_emu/bang/words/`, and lint compares it with them. Every builtin is declared for every machine. 372 and 592
take any address and length. On the 200 series, addresses and lengths of the builtins marked 128 are multiples of 128
bytes. A builtin marked as a fault compiles, and ends the launch that calls it with a text that names it.
[kernel_author.md](kernel_author.md) describes vector registers and inline MLISA, and
[device_model.md](device_model.md) what differs from hardware.
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
        lines += [f"## {heading}\n", "| builtins | | 200 series | 372, 592 |", "|---|---|---|---|"]
        seen = set()
        found = groups(header)
        told = [names[0] for _, names in found]  # a name that stands directly below a comment is told there
        for comment, names in found:
            if names[0] in seen:
                continue  # the comment is about one more form of that builtin alone
            names = [n for n in names if n in all_names and n not in seen and (n == names[0] or n not in told)]
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


# ---- the guide's table -------------------------------------------------------------------------------------------------

GUIDE_INTRODUCTION = """\
# The builtins of the vendor's guide, and ours

This page shows, for every builtin of the vendor's BANG C guide 4.5.1, the guide's rules and what the emulated MLU does.
`cmake/list-words.py` writes it from `backends/mlu_emu/device/guide.inc`, which the emulator itself checks kernels with.
`test/device/guide_test.cpp` tests every row on every machine: the architectures, the multiples and the overlap.

- **machines**: the guide's architectures. A call on another one is a warning that names the builtin.
- **2xx multiples**: bytes or lanes that the 200 series wants lengths to be multiples of. Addresses of operands of the
  vector unit are multiples of 64 bytes there. From the 300 series on both are free.
- **overlap**: whether the destination may overlap a source. Where the guide forbids it, an overlap is a warning. If
  lanes are widened from the end of their destination, it is a note: kernels that do so passed on hardware.
- **result**: rounding and error as the guide states them. "suffix": the suffix of the name says it. `_tz` rounds to
  zero, `_oz` away from zero, `_dn` down, `_up` up, `_rd` to nearest with ties away from zero, `_rn` with ties to
  even, `_rm` with ties up; a name without a suffix rounds to zero. Where the guide states only a bound, our result is
  exact but for one rounding, and a card may be off by the bound: a kernel that passes here with a tolerance below it
  may fail on hardware.
- **ours**: "yes" is modelled; "fault" compiles, and ends the launch that calls it.

Where the guide leaves a choice, the emulator does this: NaN becomes the largest integer, and 0 on 592. The 200 series
saturates as 5.2 says: results of operations, functions and conversions that would be infinite or NaN are the largest
finite number; larger and smaller lanes keep infinity, and only NaN saturates. The guide does not say which sign a
saturated NaN has: it keeps its own here. The builtins `__bang_active_...` refer to no table there, and saturate too, as
published results of a card do. Sums of several lanes are added one after the other.

"""
# What the guide says of results beyond the rounding of an operation.
RESULTS = {
    "__bang_active_exp": "5.96e-8 below -7.75; up to 11; mean error 0.01",
    "__bang_active_exphp": "half 5.96e-8 below -7.75, float 3e-7 below -15.5; up to 11, 16; mean error 0.003",
    "__bang_active_exp_less_0": "5.96e-8 below -15.5; below 0; mean error 0.01, float 0.003",
    "__bang_active_sigmoid": "0 below -7.75, 1 above 7.75; mean error 0.01",
    "__bang_active_tanh": "mean error 0.01",
    "__bang_active_gelu": "-5.96e-8 below -3.875; mean error 0.003",
    "__bang_active_gelup": "-5.96e-8 below -3.875; mean error 0.003",
    "__bang_active_log": "6.1e-5 to 63484; mean error 0.01",
    "__bang_active_loghp": "half from 6.1e-5, float 7.2e-9 to 507903; mean error 0.001",
    "__bang_active_sqrt": "0 to 63487; mean error 0.01",
    "__bang_active_sqrthp": "float 0 to 677268; mean error 0.003",
    "__bang_active_rsqrt": "0.005 to 63487; mean error 0.01",
    "__bang_active_rsqrthp": "from 0.000367, float to 1e6; mean error 0.0005",
    "__bang_active_recip": "0.0078125 to 65472; mean error 0.01, float 0.003",
    "__bang_active_reciphp": "half from 0.0039, float 2.2205e-16 to 2e6; mean error 0.0004",
    "__bang_active_recip_greater_1": "1 to 63487; mean error 0.01, float 0.003",
    "__bang_active_sin": "-2 pi to 2 pi; mean error 0.01",
    "__bang_active_cos": "-2 pi to 2 pi; mean error 0.01",
    "__bang_active_pow2": "whole numbers, half -24 to 15, float -31 to 31; exact",
    "__bang_active_sign": "1 of 0; exact",
    "__bang_active_abs": "exact",
    "__bang_active_relu": "exact",
    "__bang_lut": "dst stays where the index is outside of the table",
    "__bang_round": "ties away from zero",
    "__bang_nearbyint": "ties to even",
    "__bang_float2half_sr": "at random, by the lanes given",
    "__bang_float2tf32_sr": "at random, by the lanes given",
}
SUFFIX = re.compile(r"_(tz|oz|dn|up|rd|rn|rm)$")
CONVERSION = re.compile(r"__(bang_)?[a-z0-9]+?2[a-z0-9]+(_[a-z]+)?$")


def result(stem: str) -> str:
    if stem in RESULTS:
        return RESULTS[stem]
    if stem.startswith(("__bang_taylor3", "__bang_taylor4")):
        return "-7.75 to 7.75; mean error of half 0.0005, of float 1e-5"
    if CONVERSION.match(stem):
        return "suffix"
    return "towards zero" if stem.endswith("_tz") else ""


def guide_rows() -> list:
    """(name, machines, multiples, overlap, pipeline) of each builtin, in the order of names."""
    text = re.sub(r"//.*", "", GUIDE.read_text())
    found = []
    for least, without, size, lanes, overlap, pipeline, names in re.findall(
            r'MLUOPS_GUIDE\((\d+), "(.*?)", (\d+), (\d+), k(\w+), k(\w+),((?:\s*".*?")+)\)', text):
        multiple = f"{size} bytes" if size != "0" else f"{lanes} lanes" if lanes != "0" else ""
        machines = f"from {least}" + (f", not {without.replace(' ', ', ')}" if without else "")
        for name in " ".join(re.findall(r'"(.*?)"', names)).split():
            found.append((name, machines, multiple, {"MayOverlap": "may", "Apart": "forbidden"}.get(overlap, ""),
                          "" if pipeline == "None" else pipeline.lower()))
    return sorted(found)


def guide_page() -> str:
    declared, faults = set(), set()
    for header in WORDS.glob("*.h"):
        declared |= set(expanded(header))
        faults |= set(re.findall(r"MLUOPS_EMU_NOT_MODELLED\((__\w+)\)", header.read_text()))
    declared |= set(re.findall(r"\b(__\w+)\(", (ROOT / "backends/mlu_emu/neuware/include/bang.h").read_text()))
    rows = {}
    for name, *facts in guide_rows():
        stem = SUFFIX.sub("", name) if CONVERSION.match(name) else name
        ours = "fault" if name in faults else "yes" if name in declared else "not declared"
        rows.setdefault((stem, *facts, ours), []).append(name)
    counts = [sum(len(n) for key, n in rows.items() if key[-1] == state) for state in ("yes", "fault", "not declared")]
    lines = [GUIDE_INTRODUCTION + f"Of {sum(counts)} names {counts[0]} are modelled, {counts[1]} are a fault where they "
             f"are called, {counts[2]} are not declared.\n",
             "| builtin | machines | 2xx multiples | overlap | result | pipeline | ours |", "|---|---|---|---|---|---|---|"]
    for (stem, machines, multiple, overlap, pipeline, ours), names in rows.items():
        ends = [n[len(stem):] or "alone" for n in names]
        name = f"`{stem}`" + (f" {', '.join(ends)}" if ends != ["alone"] else "")
        lines.append(f"| {name} | {machines} | {multiple} | {overlap} | {result(stem)} | {pipeline} | {ours} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    pages = {PAGE: page(), GUIDE_PAGE: guide_page()}
    for path, text in pages.items():
        if sys.argv[1:] != ["--check"]:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            sys.exit(f"docs/{path.name} is not what the headers and the guide's table say: cmake/list-words.py writes it")


main()
