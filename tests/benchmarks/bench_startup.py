"""How long `bluffline --help` takes, against an interpreter that does nothing.

    python tests/benchmarks/bench_startup.py

Exits with 1 when the median is 0.5 s or more.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMIT = 0.5
TIMES = 15


def main() -> int:
    """Measure, in turns, so that a busy machine slows both."""
    nothing, helped = [], []
    for _ in range(TIMES):
        nothing.append(_seconds("-c", "pass"))
        helped.append(_seconds("-m", "experiments.cli", "--help"))
    median = statistics.median(helped)
    print(
        f"bluffline --help: median {median:.3f} s (limit {LIMIT} s), "
        f"{median / statistics.median(nothing):.1f} times an empty interpreter"
    )
    return 0 if median < LIMIT else 1


def _seconds(*arguments: str) -> float:
    begun = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments], env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, check=True
    )
    return time.perf_counter() - begun


if __name__ == "__main__":
    sys.exit(main())
