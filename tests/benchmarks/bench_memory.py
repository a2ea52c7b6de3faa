"""The largest resident size of a cold sweep of the bundled corpus.

    python tests/benchmarks/bench_memory.py

Exits with 1 when it is over 1.5 GB. The sweep runs in a process of its own, MLflow on SQLite included.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMIT = 1.5e9


def main() -> int:
    """Measure."""
    environment = {name: value for name, value in os.environ.items() if name not in
                   ("BLUFFLINE_STORE_URL", "MLFLOW_TRACKING_URI")}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "experiments.cli", "run"],
            cwd=folder,
            env={**environment, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"the sweep ended with {done.returncode}:\n{done.stderr}")
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux kibibytes
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
    print(f"peak memory of the cold sweep: {peak / 1e9:.2f} GB, {peak / LIMIT:.2f} of the limit of {LIMIT / 1e9:g} GB")
    return 0 if peak < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
