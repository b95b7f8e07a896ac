"""The Python example of each operator's page runs, and prints what the page says: the comment behind a print begins with
what it prints, where that comment begins with a bracket."""

import contextlib
import io
import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

PAGES = sorted((Path(__file__).parents[2] / "docs/op").glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
PRINT = re.compile(r"^print\(.*\) +# (.*)$", re.M)


def examples(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.stem)
def test_example_prints_what_the_page_says(page):
    for text in examples(page):
        if "torch.ops.mluops" in text and not hasattr(torch.library, "register_fake"):
            pytest.skip("operators of torch.ops: from torch 2.4 on")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, str(page), "exec"), {"__name__": page.stem})
        lines = printed.getvalue().splitlines()
        said = PRINT.findall(text)
        if len(lines) != len(said):
            continue  # a print without a comment, or of several lines
        for line, comment in zip(lines, said):
            if comment[0] in "[(":
                digits, dots, _ = comment.partition("...")
                assert line.startswith(digits) if dots else comment.startswith(line), (page, line)


def test_most_examples_are_compared():
    compared = sum(comment[0] in "[(" for page in PAGES for text in examples(page) for comment in PRINT.findall(text))
    assert compared >= len(PAGES) // 2
