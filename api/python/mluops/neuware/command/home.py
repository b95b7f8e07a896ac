"""print NEUWARE_HOME, the folder of the toolchain (also without a command)"""

from typing import List

from .. import home


def main(arguments: List[str]) -> None:
    print(home())
