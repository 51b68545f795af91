# SPDX-License-Identifier: BSD-3-Clause
"""The one limit of what the tests wait for, which only what hangs reaches. limit.sh and limit.h are the same."""
import os
import sys
import time

# That one step may take. Where machines are slower, so is all that is waited for.
SECONDS = float(os.environ.get("ROCE_TEST_LIMIT", "120"))


def wait_until(what, holds):
    """Until the function says so. The program ends where it does not."""
    end = time.monotonic() + SECONDS
    while not holds():
        if time.monotonic() > end:
            sys.exit(f"in vain waited until {what}")
        time.sleep(0.05)
