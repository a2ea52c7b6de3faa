"""Threads that outlast a request end before the process does."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import threading
import torch
from webapp import background

begun = threading.Event()

def work():
    left = torch.ones(400, 400)
    while True:
        left = torch.nn.functional.linear(left, left) / 400
        begun.set()
        background.check()

for _ in range(2):
    background.start("sums", work)
begun.wait()
threading.excepthook = lambda raised: sys.stdout.write(f"{raised.exc_type.__name__}\\n")  # one write, not two
"""


def test_a_process_ends_cleanly_in_the_middle_of_work_in_a_compiled_library():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout.split() == ["EndingError", "EndingError"]
