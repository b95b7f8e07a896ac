"""python -m mluops.neuware [COMMAND [options]]: prints NEUWARE_HOME, or runs a command, a module of `command`."""

import sys
from typing import List, Optional

from .._listing import modules, printed
from . import command


def main(arguments: List[str]) -> Optional[int]:
    commands = {module.__name__.rpartition(".")[2].replace("_", "-"): module for module in modules(command)}
    name = arguments[0] if arguments else "home"
    if name in commands:
        try:
            return commands[name].main(arguments[1:])
        except FileNotFoundError as error:
            print(error, file=sys.stderr)
            return 1
    asked = name in ("help", "-h", "--help")
    lines = ["usage: python -m mluops.neuware [COMMAND [options]]"]
    lines += [f"  {known:13} {module.__doc__.splitlines()[0]}" for known, module in commands.items()]
    print("\n".join(lines), file=sys.stdout if asked else sys.stderr)
    return 0 if asked else 2


if __name__ == "__main__":
    sys.exit(printed(lambda: main(sys.argv[1:])))
