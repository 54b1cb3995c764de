"""``python -m focused``: the program `focused`, also where nothing is installed."""

import sys

from focused.console import main

if __name__ == "__main__":
    # The name by which it calls itself.
    sys.argv[0] = "focused"
    main()
