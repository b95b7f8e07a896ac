"""python -m mluops: versions, library, backends, threads, and the dtypes of each operator in each module."""

import sys

from ._listing import printed
from ._report import main

if __name__ == "__main__":
    sys.exit(printed(lambda: main(sys.argv[1:])))
