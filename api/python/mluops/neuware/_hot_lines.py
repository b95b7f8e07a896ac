"""Where the time of a launch goes, line by line beside the source, and what changes would save."""

from typing import Any, Dict, List, Tuple

_LEAST = 0.01  # of the time: lines below that are not shown between others
_MOST_TEXT = 76
_CHANGES = {"two_buffers": "two buffers in turn", "larger_tiles": "tiles twice as large",
            "whole_copies": "copies in one piece", "half_the_clusters": "half of the clusters"}


def _bytes(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B" if count else ""


def _by_line(launch: Dict[str, Any]) -> Dict[Tuple[str, int], List[Dict[str, Any]]]:
    """What a launch did in each line, the most expensive builtin first."""
    lines: Dict[Tuple[str, int], List[Dict[str, Any]]] = {}
    for line in launch["lines"]:
        if line["held_us"] > 0 or line["busy_us"] > 0:
            lines.setdefault((line["file"], line["line"]), []).append(line)
    for words in lines.values():
        words.sort(key=lambda word: -word["held_us"])
    return lines


def _row(held: float, whole: float, moved: str, engine: str, text: str) -> str:
    share = f"{100 * held / whole:4.0f} %" if held else ""
    return f"    {share:>6} {f'{held:.2f}' if held else '':>9} {moved:>10}  {engine:8}  {text[:_MOST_TEXT]}".rstrip()


def _line(words: List[Dict[str, Any]], whole: float, text: str) -> str:
    engine = words[0]["engine"] or "waits"
    moved = sum(word["bytes"] for word in words if word["engine"] == engine)
    return _row(sum(word["held_us"] for word in words), whole, _bytes(moved), engine, text)


def beside_source(launch: Dict[str, Any], sources: Dict[str, Any]) -> List[str]:
    """The lines where time goes; a row of dots where some are left out."""
    whole, lines = launch["time_us"], _by_line(launch)
    rows = [f"    {'time':>6} {'us':>9} {'bytes':>10}  engine    line"]
    last = None
    for (file, number), words in sorted(lines.items()):
        if sum(word["held_us"] for word in words) < _LEAST * whole:
            continue
        if not file:
            rows.append(_line(words, whole, words[0]["word"]))
            continue
        if last is not None and last[0] != file:
            rows.append(f"    {file}")
        text = sources.get(file, {"first": 1, "lines": []})
        place = number - text["first"]
        said = text["lines"][place].strip() if 0 <= place < len(text["lines"]) else words[0]["word"]
        if last is not None and last[0] == file and number > last[1] + 1:
            rows.append(_row(0, whole, "", "", "      ..."))
        rows.append(_line(words, whole, f"{number:4}  {said}"))
        last = (file, number)
    return rows


def told(launch: Dict[str, Any], sources: Dict[str, Any]) -> List[str]:
    """The report of one launch in lines of text; nothing without its lines."""
    if not launch.get("lines") or launch["time_us"] <= 0:
        return []
    changes = [f"{_CHANGES[name]} {us / launch['time_us']:.2f}x" for name, us in launch["what_if"].items()]
    return [*beside_source(launch, sources), *(f"    {sentence}" for sentence in launch["sentences"]),
            f"    what if: {', '.join(changes)}"]
