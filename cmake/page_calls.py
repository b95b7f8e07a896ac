"""Compares the calls of the C API in the pages of operators with the prototypes of the headers. check-docs.py runs it."""

import re
from pathlib import Path
from typing import Dict, List

COMMENT = re.compile(r"/\*.*?\*/", re.S)
PROTOTYPE = re.compile(r"\b(mluOp\w+)\(([^;{}]*?)\)\s*;")
EXAMPLE = re.compile(r"^In C: .*?\n$|^```c[^\n]*\n.*?^```$", re.M | re.S)
CALL = re.compile(r"\b(mluOp\w+)\(((?:[^()]|\([^()]*\))*)\)")


def arguments(text: str) -> int:
    return len(re.sub(r"\([^()]*\)", "", text).split(","))


def prototypes(headers: List[str]) -> Dict[str, int]:
    return {name: arguments(text) for header in headers for name, text in PROTOTYPE.findall(COMMENT.sub("", header))}


def wrong_calls(page: str, text: str, wanted: Dict[str, int]) -> List[str]:
    problems = []
    for example in EXAMPLE.findall(text + "\n"):
        for name, given in CALL.findall(COMMENT.sub("", example)):
            if name not in wanted:
                problems.append(f"{page}: {name}: no header declares it")
            elif arguments(given) != wanted[name]:
                problems.append(f"{page}: {name}: wanted {wanted[name]} arguments, got {arguments(given)}")
    return problems


def problems(root: Path) -> List[str]:
    headers = [*(root / "api/include/mluops/op").glob("*.h"), root / "api/include/mlu_op.h", root / "api/include/mlu_op_ext.h"]
    wanted = prototypes([header.read_text() for header in headers])
    return [problem for page in sorted((root / "docs/op").glob("*.md"))
            for problem in wrong_calls(str(page.relative_to(root)), page.read_text(), wanted)]


def self_test() -> List[str]:
    wanted = prototypes(["void mluOpF(int a, /* x, y */ float b[3],\n  int c);"])
    texts = (("In C: `mluOpF(a, powf(b, 2), /*c*/ 1)`.\n", 0), ("```c\nmluOpF(a, b, c);\n```", 0), ("`mluOpF(a)`\n", 0),
             ("In C: `mluOpF(a,\nb)`.\n", 1), ("```c (not run: a part)\nmluOpF(a, b);\nmluOpG();\n```", 2))
    return [f"calls of {text!r}: wanted {count} problems, got {found}" for text, count in texts
            for found in [wrong_calls("page", text, wanted)] if len(found) != count]
