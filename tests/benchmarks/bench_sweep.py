"""The whole sweep of the bundled corpus against a bare `SentenceTransformer.encode` of the same texts.

    python tests/benchmarks/bench_sweep.py

Every part runs in a fresh process with the same number of threads, one after the other, imports and model loading
included. Seconds depend on the machine and are printed as what they are; the ratios are the result. The same ratios of
processor time are printed beside them, because a machine that does other things stretches seconds more than those.
Exits with 1 when a target is missed.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
COLD, WARM = 1.25, 8.0
THRESHOLDS = "thresholds = { from = 0.31, to = 0.81, step = 0.025 }"

_ENCODE = """
import json, sys
from sentence_transformers import SentenceTransformer
documents, questions, folder = json.load(open(sys.argv[1]))
model = SentenceTransformer(folder, device="cpu", local_files_only=True)
for texts in (documents, questions):
    model.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
"""


class Spent(NamedTuple):
    """What a process took."""

    seconds: float
    processor: float
    output: str


def main() -> int:
    """Measure and compare."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        documents, questions, model = _texts()
        (folder / "texts.json").write_text(json.dumps([documents, questions, model]), "utf-8")
        encode = _run(folder, "-c", _ENCODE, str(folder / "texts.json"))
        print(f"bare encode of {len(documents):,} chunks and {len(questions)} questions: {_told(encode)}")
        cold = _bluffline(folder, "run")
        print(f"cold sweep: {_told(cold)}\n  {_counted(cold)}")
        warm = _bluffline(folder, "run")
        print(f"the same sweep again: {_told(warm)}\n  {_counted(warm)}")
        project = _other_thresholds(folder)
        read = _bluffline(folder, "run", "--project", str(project))
        print(f"the same sweep at other thresholds: {_told(read)}\n  {_counted(read)}")
    slower, faster = cold.seconds / encode.seconds, cold.seconds / warm.seconds
    unread = "0 texts embedded, 18 retrievals read from earlier sweeps" in read.output
    print(
        f"\ncold sweep / bare encode   {slower:5.2f}  (target at most {COLD}; processor time "
        f"{cold.processor / encode.processor:.2f})"
        f"\ncold sweep / sweep again   {faster:5.2f}  (target at least {WARM:g}; processor time "
        f"{cold.processor / warm.processor:.2f})"
        f"\ncold sweep / thresholds    {cold.seconds / read.seconds:5.2f}  (retrieved nothing: {unread})"
    )
    return 0 if slower <= COLD and faster >= WARM and unread else 1


def _texts() -> tuple[list[str], list[str], str]:
    """What a sweep embeds: distinct chunks of all strategies, and the questions."""
    from experiments.conditions import PRESETS
    from experiments.models import DEFAULT_MODEL, find_model
    from experiments.project import open_project
    from experiments.retrieval import cut
    from experiments.sweep import read_inputs

    os.chdir(tempfile.gettempdir())
    inputs = read_inputs(open_project())
    texts = {text for strategy in PRESETS for text in cut(inputs.documents, inputs.queries, strategy).texts}
    return sorted(texts), [query.text for query in inputs.queries], str(find_model(DEFAULT_MODEL).folder)


def _other_thresholds(folder: Path) -> Path:
    """A project of the bundled corpus with other thresholds that shares the state of the first sweeps."""
    from corpus.bundled import BUNDLED_BIBLIOGRAPHY, BUNDLED_DOCUMENTS, BUNDLED_QUESTIONS

    corpus = (
        f"[corpus]\ndocuments = '{BUNDLED_DOCUMENTS}'\nquestions = '{BUNDLED_QUESTIONS}'\n"
        f"strip_bibliography = {json.dumps(list(BUNDLED_BIBLIOGRAPHY))}\n"
    )
    (folder / "bluffline.toml").write_text(f"{corpus}[sweep]\n{THRESHOLDS}\n", "utf-8")
    return folder


def _bluffline(folder: Path, *arguments: str) -> Spent:
    return _run(folder, "-m", "experiments.cli", *arguments)


def _run(folder: Path, *arguments: str) -> Spent:
    environment = {name: value for name, value in os.environ.items() if name not in
                   ("BLUFFLINE_STORE_URL", "MLFLOW_TRACKING_URI")}  # fmt: skip
    used, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env={**environment, "PYTHONPATH": str(ROOT)}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    seconds, now = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{arguments} ended with {done.returncode}:\n{done.stderr}")
    return Spent(seconds, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime, done.stdout)


def _told(spent: Spent) -> str:
    return f"{spent.seconds:.1f} s, {spent.processor:.1f} s of processor time"


def _counted(spent: Spent) -> str:
    return spent.output.splitlines()[0]


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
