"""python -m mluops.mmcv: mmcv's table of operators and who serves each on this machine's CPU after install()."""

import sys
from collections import Counter

from .._listing import printed
from ._table import TABLE, lacks, mmcv_here, served


def main() -> None:
    kind = mmcv_here()
    print({"": "mmcv is not installed", "lite": "mmcv without compiled operators (for this torch)",
           "compiled": "mmcv with compiled operators"}[kind] + "; on the CPU, after mluops.mmcv.install():\n")
    rows = served()
    width = max(len(name) for name, _ in rows)
    for (name, who), row in zip(rows, TABLE):
        print(f"{name:{width}} | {who}" + (f", without {', '.join(lacks(row))}" if who == "mluops in part" else ""))
    count = Counter(who for _, who in rows)
    print(f"\n{len(rows) - count['nobody']} of {len(rows)} served: "
          + ", ".join(f"{who} {count[who]}" for who in dict.fromkeys(who for _, who in rows)))


if __name__ == "__main__":
    sys.exit(printed(main))
