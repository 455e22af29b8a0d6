"""``python -m treasure`` is the ``treasure`` command."""

import sys

from treasure.cli import main

sys.exit(main())
