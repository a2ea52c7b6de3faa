"""Where the bundled corpus lies: a course about language systems, written for this project."""

from __future__ import annotations

from pathlib import Path

_DATA = Path(__file__).resolve().parent / "data"

BUNDLED_DOCUMENTS: Path = _DATA / "documents"
BUNDLED_QUESTIONS: Path = _DATA / "questions.jsonl"
BUNDLED_BIBLIOGRAPHY: tuple[str, ...] = ("References",)
