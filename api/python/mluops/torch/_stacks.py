"""Stacked clouds: the points of all samples of a batch, one sample after the other, and how many each sample has."""

from typing import List, Tuple

from torch import Tensor

from .._errors import bad_param
from .._shapes import expect, rank


def check_stack(name: str, stack: Tensor, columns: int, meaning: str, counts: Tensor, samples: int) -> None:
    """Checks the shapes of a stack [rows, columns] and its counts, named name_batch_cnt, of so many samples."""
    rows, _ = rank(name, stack.shape, 2)
    expect(name, stack.shape, (rows, columns), ("", meaning))
    expect(f"{name}_batch_cnt", counts.shape, (samples,), ("the number of samples",))


def samples(name: str, counts: Tensor, rows: int) -> List[slice]:
    """The rows of each sample."""
    numbers = counts.tolist()
    if min(numbers, default=0) < 0 or sum(numbers) != rows:
        raise bad_param(name, f"counts of at least 0 that add up to {rows}", numbers)
    made, end = [], 0
    for number in numbers:
        made.append(slice(end, end + number))
        end += number
    return made


def pairs_of_samples(one: Tuple[str, Tensor, int], other: Tuple[str, Tensor, int]) -> list:
    """(rows of one stack, rows of the other) of each sample; a stack is (name of its counts, counts, rows)."""
    return list(zip(samples(*one), samples(*other)))
