"""What all tests share: where builders are found, and how hypothesis runs."""

import signal
import sys
from pathlib import Path

from hypothesis import settings

# Under pytest's importlib mode no test folder is importable; the builders that several suites share are.
sys.path.insert(0, str(Path(__file__).parent / "fixtures"))

# A job in the background inherits interrupts that are ignored, and would hand that on to the commands under test.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Nothing here is timed: a slow machine is not a failure.
settings.register_profile("textveil", deadline=None)
settings.load_profile("textveil")
