"""print export lines with which a shell finds the toolchain, for eval"""

import shlex
from typing import List

from .. import home


def main(arguments: List[str]) -> None:
    place = str(home())
    print(f"export NEUWARE_HOME={shlex.quote(place)}")
    print(f'export PATH={shlex.quote(place)}/bin:"$PATH"')
