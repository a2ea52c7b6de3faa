"""A project on disk whose answers can be worked out by eye: the small world of `worlds`, measured and decided."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from worlds import BLIND, BREAD, DOCUMENTS, MODEL, QUERIES, SECTIONS, KeywordEncoder, filled

from experiments.asking.generation import Generated, GeneratorStamp
from experiments.deciding.choosing import ByHand
from experiments.deciding.decisions import decision_from, record
from experiments.deciding.evidence import Terms, consider
from experiments.deciding.finding import find_combination
from experiments.lexical import BM25Settings
from experiments.reading import load_sweep
from store.decisions import decision_in_force
from store.tables import DecisionRow
from webapp.asking import EXTENSION as ASKING
from webapp.asking import Desk
from webapp.writing import EXTENSION as WRITING
from webapp.writing import Writers

CUT, WHOLE = replace(BLIND, name="cut"), replace(SECTIONS, name="whole")  # presets keep their letters
DENSE, BM25, HYBRID = f"whole/dense/{MODEL}", "whole/bm25", f"whole/hybrid/{MODEL}"
CUT_DENSE = f"cut/dense/{MODEL}"
OVEN, PAELLA = "How hot is the oven?", "paella recipe"
BAKING = BREAD.index("The oven stands"), BREAD.index("brown.") + len("brown.")


def make_world(root: Path, engine: Engine, more: str = "", *, measured: bool = True) -> Path:
    """Write documents, questions and project file, and the sweep of them into the store."""
    (root / "documents").mkdir(parents=True, exist_ok=True)
    for document in DOCUMENTS:
        (root / "documents" / document.id).write_text(document.text, encoding="utf-8")
    lines = []
    for query in QUERIES:
        row: dict[str, str] = {"id": query.id, "question": query.text}
        row |= {"needle": query.needle.text} if query.needle else {"stratum": query.stratum or ""}
        row |= {"phrasing": query.phrasing} if query.phrasing else {}
        lines.append(json.dumps(row) + "\n")
    (root / "questions.jsonl").write_text("".join(lines), encoding="utf-8")
    (root / "bluffline.toml").write_text(
        f'[sweep]\nstrategies = ["cut", "whole"]\nmodels = ["{MODEL}"]\n'
        f'[strategies.cut]\ncuts = "blind"\nbudget = {CUT.budget}\n'
        f'[strategies.whole]\ncuts = "boundaries"\nheader = true\nbudget = {WHOLE.budget}\n{more}',
        encoding="utf-8",
    )
    if measured:
        settings = {
            "k": [1, 4], "thresholds": [0.1, 0.3, 0.5], "alpha": 0.05, "seed": 7, "models": [MODEL],
            "strategies": {one.name: one.spec for one in (CUT, WHOLE)},
            "retrievers": ["dense", "bm25", "hybrid"], "bm25": BM25Settings().describe(),
        }  # fmt: skip
        filled(engine, [CUT, WHOLE], settings=settings)
    return root


def decide(
    engine: Engine,
    threshold: float,
    key: str = DENSE,
    sweep_id: int = 1,
    *,
    who: str = "Ada",
    reason: str = "<b>a bluff</b> costs a loaf",
) -> DecisionRow:
    """Record a decision on the world's sweep."""
    loaded, way = load_sweep(engine, sweep_id), ByHand(threshold)
    evidence = consider(loaded, find_combination(loaded, key), Terms(), [threshold])
    before = decision_in_force(engine)
    return record(
        engine,
        decision_from(
            evidence,
            evidence.choose(way),
            who=who,
            reason=reason,
            project="world",
            supersedes=before.id if before else None,
        ),
    )


def use(app: Any, encoder: Any = None, generator: Any = None) -> None:
    """Let an application ask with an encoder of a test, and write with its generator."""
    app.extensions[ASKING] = Desk(lambda _project, _name: encoder or KeywordEncoder())
    app.extensions[WRITING] = Writers(lambda spec, models: generator)


class SlowEncoder(KeywordEncoder):
    """Takes its time with documents, as a model does that has to be loaded first."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def encode_documents(self, texts: Any) -> Any:
        time.sleep(self._seconds)
        return super().encode_documents(texts)

    def encode_queries(self, texts: Any) -> Any:
        return super().encode_documents(texts)


class Scripted:
    """A generator that writes what it was told to, word by word."""

    def __init__(self, text: str, seconds: float = 0.0) -> None:
        self.stamp = GeneratorStamp("script", "a scripted model", "test", "0" * 64)
        self.prompts: list[str] = []
        self._text, self._seconds = text, seconds

    def generate(
        self, prompt: Any, *, max_tokens: int = 256, time_limit: float = 60, on_token: Any = None
    ) -> Generated:
        self.prompts.append(prompt.text)
        words, begin = self._text.split(" "), time.monotonic()
        for count in range(1, len(words) + 1):
            time.sleep(self._seconds)
            said = " ".join(words[:count])
            if on_token is not None and on_token(count, said) is False:
                return Generated(said, count, 9, time.monotonic() - begin, "cancelled", self.stamp)
        return Generated(self._text, len(words), 9, time.monotonic() - begin, "end", self.stamp)
