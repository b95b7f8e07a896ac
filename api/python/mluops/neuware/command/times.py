"""print the modelled times of a report (MLUOP_EMU_REPORT=report.json), or compare two reports"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Dict, List

from .. import _report


def _read(path: Path) -> Dict[str, Any]:
    report = json.loads(path.read_text())
    if not isinstance(report, dict) or "launches" not in report or "time_spread" not in report.get("totals", {}):
        raise ValueError("not a report of MLUOP_EMU_REPORT=report.json by this version")
    return report


def main(arguments: List[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m mluops.neuware times", description=__doc__)
    parser.add_argument("report", type=Path, help="the run's report, or that of the run before")
    parser.add_argument("after", type=Path, nargs="?", help="the report of a run to compare with it")
    options = parser.parse_args(arguments)
    reports = []
    for path in filter(None, (options.report, options.after)):
        try:
            reports.append(_read(path))
        except (OSError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 1
    print("\n".join(_report.told(*reports) if len(reports) == 1 else _report.compared(*reports)))
    return 0
