"""Prints a report of modelled times, for one run or for two side by side.

A report is what a program that launches kernels writes for MLUOP_EMU_REPORT=report.json."""

from typing import Any, Dict, List, Tuple

from . import _hot_lines

_MOST_LAUNCHES = 8


def _spread(totals: Dict[str, Any]) -> str:
    spread = totals["time_spread"]
    if not spread["half"]:
        return "no published time was held against it"
    return f"half of such figures lie within x{spread['half']:g} of the card's, nine of ten within x{spread['most']:g}"


def _amount(number: float) -> str:
    for unit in ("", " k", " M", " G"):
        if number < 1000:
            return f"{number:.4g}{unit or ' '}"
        number /= 1000
    return f"{number:.4g} T"


def _roofline(totals: Dict[str, Any]) -> str:
    roof = totals["roofline"]
    return (f"roofline of {roof['card']}: {_amount(roof['bytes'])}B moved, {_amount(roof['operations'])}operations, "
            f"{roof['operations_byte']:.3g} a byte; {roof['bound']} alone would take {roof['least_us']:.1f} us, "
            f"{100 * roof['share_of_peak']:.0f} % of the peak is reached")


def _launch(launch: Dict[str, Any], sources: Dict[str, Any]) -> List[str]:
    cores = [core for core in launch["cores"] if core["tasks"] and not core["memory_core"]]
    tensors = launch["tensors"]
    moved = f"{sum(t['read'] for t in tensors)} bytes read, {sum(t['written'] for t in tensors)} written"
    dim = " x ".join(map(str, launch["dim"]))
    lines = [f"  {launch['kernel']}, {launch['type']} {dim}: {launch['time_us']:.1f} us on {len(cores)} cores, {moved}"]
    busiest = max(cores, key=lambda core: core["time_us"], default=None)
    if busiest is not None and busiest["time_us"] > 0:
        parts = [f"{name} {100 * us / busiest['time_us']:.0f} %" for name, us in busiest["busy_us"].items()]
        lines.append(f"    its longest core: {', '.join(parts)} of the time busy")
    return lines + _hot_lines.told(launch, sources)


def told(report: Dict[str, Any]) -> List[str]:
    """Modelled time, by launch and by engine."""
    launches, totals = report["launches"], report["totals"]
    lines = [f"modelled time {totals['time_us']:.1f} us, {len(launches)} launches ({_spread(totals)})"]
    if totals["time_us"] > 0:
        lines.append(_roofline(totals))
    for launch in launches[:_MOST_LAUNCHES]:
        lines += _launch(launch, report.get("sources", {}))
    if len(launches) > _MOST_LAUNCHES:
        lines.append(f"  and {len(launches) - _MOST_LAUNCHES} more")
    return lines


def _by_kernel(report: Dict[str, Any]) -> Dict[str, Tuple[int, float, int]]:
    """Launches, microseconds and bytes of each kernel, in the order of first launches."""
    kernels: Dict[str, Tuple[int, float, int]] = {}
    for launch in report["launches"]:
        count, us, moved = kernels.get(launch["kernel"], (0, 0.0, 0))
        moved += sum(t["read"] + t["written"] for t in launch["tensors"])
        kernels[launch["kernel"]] = (count + 1, us + launch["time_us"], moved)
    return kernels


def _times(before: float, after: float) -> str:
    return f"x{after / before:.2f}" if before > 0 else "new" if after > 0 else "-"


def compared(before: Dict[str, Any], after: Dict[str, Any]) -> List[str]:
    """The second run beside the first: in all, then each kernel of either."""
    old, new = _by_kernel(before), _by_kernel(after)
    lines = [f"{'kernel':28} {'launches':>11} {'us before':>12} {'us after':>12} {'':>7} {'bytes':>7}"]
    for name in ["all", *dict.fromkeys([*old, *new])]:
        a, b = (tuple(map(sum, zip(*kernels.values()))) or (0, 0.0, 0) if name == "all" else kernels.get(name, (0, 0.0, 0))
                for kernels in (old, new))
        lines.append(f"{name[:28]:28} {f'{a[0]} -> {b[0]}':>11} {a[1]:12.1f} {b[1]:12.1f} {_times(a[1], b[1]):>7} "
                     f"{_times(a[2], b[2]):>7}")
    for word, report in (("before", before), ("after", after)):
        if report["totals"]["time_us"] > 0:
            lines.append(f"{word}: {_roofline(report['totals'])}")
    return lines
