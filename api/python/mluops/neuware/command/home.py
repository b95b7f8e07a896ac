"""print NEUWARE_HOME (without a command, too)"""

from typing import List

from .. import home


def main(arguments: List[str]) -> None:
    print(home())
