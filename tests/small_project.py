"""A project of two short documents, and an encoder of words that says what it was asked; for tests of whole sweeps."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from experiments.cli import main
from experiments.models import EncodedBatch, ModelStamp
from experiments.project import Project, open_project

DOCUMENTS = {
    "vectors.md": """\
# Vectors

Before the first heading stands a paragraph about arrows and what they are good for.

## Norms

The norm of a vector is never negative. It is zero for the zero vector alone. Lengths add up at most.

## Angles

The cosine of an angle compares directions and ignores lengths. Two vectors at a right angle have no dot product.
""",
    "serving.md": """\
# Serving

## Cache

The KV cache keeps keys and values of every earlier token. It grows by one row for every token that is decoded.

## Batches

A batch shares one pass over the weights among many requests. Larger batches wait longer for their last request.
""",
}
QUESTIONS: tuple[dict[str, str], ...] = (
    {
        "id": "n1",
        "question": "Can the norm of a vector be negative?",
        "needle": "The norm of a vector is never negative.",
        "phrasing": "course",
    },
    {
        "id": "n2",
        "question": "length below nought?",
        "needle": "The norm of a vector is never negative.",
        "phrasing": "ticket",
    },
    {
        "id": "c1",
        "question": "What does the KV cache keep?",
        "needle": "The KV cache keeps keys and values of every earlier token.",
        "phrasing": "course",
    },
    {
        "id": "b1",
        "question": "What is shared in a batch?",
        "needle": "A batch shares one pass over the weights among many requests.",
        "phrasing": "course",
    },
    {"id": "u1", "question": "Does the API cache prompts?", "stratum": "near"},
    {"id": "u2", "question": "How do I cook paella?", "stratum": "far"},
)
SWEEP = 'strategies = ["A", "E"]\nthresholds = [0.3, 0.675]\n'


def make_project(
    folder: Path,
    *,
    sweep: str = SWEEP,
    more: str = "",
    documents: Mapping[str, str] = DOCUMENTS,
    questions: Sequence[Mapping[str, str]] = QUESTIONS,
) -> Path:
    """Write a project; `sweep` goes into its [sweep] table, `more` below it."""
    (folder / "documents").mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        (folder / "documents" / name).write_text(text, encoding="utf-8")
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    (folder / "questions.jsonl").write_text(lines, encoding="utf-8")
    (folder / "bluffline.toml").write_text(f"[sweep]\n{sweep}\n{more}", encoding="utf-8")
    return folder


def small_project(folder: Path, sweep: str = SWEEP, **more: Any) -> Project:
    return open_project(make_project(folder, sweep=sweep, **more))


def cannot_be_found(name: str) -> str:
    return f"the model {name} cannot be loaded: there is no such folder"


class WordEncoder:
    """Every word has its own direction, so that a text is near the texts it shares words with."""

    def __init__(self, name: str = "words", *, seconds: float = 0.0) -> None:
        self.stamp = ModelStamp(name, "test", "w" * 64, hashlib.sha256(name.encode()).hexdigest(), 64, 256, "fp32")
        self.encoded: list[str] = []
        self._seconds = seconds

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        time.sleep(self._seconds)
        self.encoded += texts
        vectors = np.stack([self._vector(text) for text in texts])
        starts = [np.array([word.start() for word in re.finditer(r"\w+", text)], np.uint32) for text in texts]
        return EncodedBatch(vectors, starts, [len(text) for text in texts])

    encode_queries = encode_documents

    def _vector(self, text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        vector = np.full(64, 0.05)
        for word in re.findall(r"\w+", text.lower()):
            vector[hashlib.sha256(word.encode()).digest()[0] % 64] += 1
        return (vector / np.linalg.norm(vector)).astype(np.float32)


# A sweep of another process: its encoder takes its time, so that there is a middle to be interrupted in.
_SLOWLY = """
import sys
sys.path.insert(0, {tests!r})
import experiments.embedding, experiments.workbench
from small_project import WordEncoder
experiments.embedding.BATCH = 1
encoder = WordEncoder(seconds={seconds})
experiments.workbench.find_encoder = lambda *_: encoder
from experiments.cli import main
main(sys.argv[1:])
"""


def slow_sweep(folder: Path, seconds: float = 0.15) -> subprocess.Popen[str]:
    """Start `bluffline run` on a project with a slow encoder."""
    code = _SLOWLY.format(tests=str(Path(__file__).parent), seconds=seconds)
    return subprocess.Popen(
        [sys.executable, "-c", code, "run", "--project", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class Told(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    error: str


def typed(capsys: pytest.CaptureFixture[str], *arguments: object) -> Told:
    """Run the command in this process, which need not be started."""
    try:
        main([str(argument) for argument in arguments])
        code = 0
    except SystemExit as end:
        assert end.code is None or isinstance(end.code, int)
        code = end.code or 0
    said = capsys.readouterr()
    assert "Traceback" not in said.out + said.err
    return Told(code, said.out, said.err)


def bluffline(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "experiments.cli", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), **environment},
        capture_output=True,
        text=True,
        timeout=600,  # of a machine with much else to do
        check=False,
    )
