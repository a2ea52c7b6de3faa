"""A store built from the ledger alone shows the same pages, byte for byte."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ledger_world import Machine, Machines, empty_ledger, machines
from made_sweeps import MODEL, SETTINGS
from page_walk import REPORT, walk
from web_worlds import BM25_E, DENSE_A, DENSE_E, HYBRID_E, KS, reviewed

from experiments.deciding.choosing import ByHand
from experiments.deciding.decisions import decision_from, record
from experiments.deciding.evidence import Terms, consider
from experiments.deciding.finding import find_combination
from experiments.exchange.rebuilding import rebuild
from experiments.reading import load_sweep
from store.decisions import decision_in_force
from webapp.app import create_app

__all__ = ["empty_ledger", "machines"]  # fixtures, which pytest finds by their names
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
STRATEGIES = {"A": "cuts=blind;header=false;overlap=0;budget=512", **SETTINGS["strategies"]}
# What is a store's own: the token of a form, and when and how it was last exchanged.
OWN = (
    re.compile(r'name="csrf[-_]token" (?:value|content)="[^"]+"'),
    re.compile(r'<section id="sync".*?</section>', re.DOTALL),
)


def measured(one: Machine, number: int, **more: Any) -> int:
    settings = {**SETTINGS, "strategies": STRATEGIES, "k": list(KS), "thresholds": [0.4, 0.6],
                "retrievers": ["dense", "bm25", "hybrid"], "models": [MODEL]}  # fmt: skip
    moment = NOON + timedelta(hours=number)
    values = {"settings": settings, "created_at": moment, "started_at": moment, "finished_at": moment, "host": "ci"}
    return reviewed(one.engine, commit=f"{number}" * 40, key=f"{number}" * 32, **{**values, **more})


def decide(one: Machine, sweep_id: int, threshold: float, hours: float) -> None:
    loaded, before = load_sweep(one.engine, sweep_id), decision_in_force(one.engine)
    evidence = consider(loaded, find_combination(loaded, DENSE_E), Terms(), [threshold])
    made = decision_from(evidence, evidence.choose(ByHand(threshold)), who="Ada <a>", reason=f"Because {threshold}.",
                         project="p", supersedes=before.id if before else None)  # fmt: skip
    made.created_at = NOON + timedelta(hours=hours)
    record(one.engine, made)


def pages(one: Machine, root: Path) -> dict[str, str]:
    app = create_app(one.engine, root=root, allowed_hosts={"localhost"})
    found = {}
    # What is asked live says how many milliseconds it took; a report says what the pages say.
    for address, answer in walk(app, 1, but=("/ask?", REPORT)).items():
        text = answer.get_data(as_text=True)
        for own in OWN:
            text = own.sub("", text)
        found[address] = f"{answer.status}\n{text}"
    return found


def test_the_rebuilt_pages_are_the_same_byte_for_byte(machines: Machines, tmp_path: Path) -> None:
    one, other = machines("one"), machines("other")
    keys = (DENSE_A, BM25_E, DENSE_E)
    measured(one, 1, corpus_hash="a" * 64, keys=keys, tag="v0.1")
    measured(one, 2, keys=keys, dirty=True, branch="try-<b>")
    measured(one, 3, keys=(*keys, HYBRID_E), failed={HYBRID_E: "out of memory <here>"}, seed=5)
    measured(one, 4, keys=keys, queued=[BM25_E], state="interrupted", reason="its process ended")
    decide(one, 2, 0.55, 4.5)
    decide(one, 3, 0.6, 5)
    assert one.sync().faults == ()
    made = rebuild(f"sqlite:///{other.folder / 'store.db'}", other.ledger, force=False)
    assert (made.synced.new, made.synced.decisions, made.synced.faults) == (4, 2, ())
    root = tmp_path / "root"
    root.mkdir()
    original, rebuilt = pages(one, root), pages(other, root)
    assert len(original) > 30
    kinds = {re.sub(r"\d+", "*", address.split("?")[0]) for address in original}
    assert kinds >= {
        "/",
        "/sweeps/*",
        "/sweeps/*/threshold",
        "/sweeps/*/pairs",
        "/decisions/*",
        "/documents",
        "/compare",
    }
    assert {address: page[:6] for address, page in original.items() if not page.startswith("200")} == {}
    assert list(rebuilt) == list(original)
    for address, page in original.items():
        assert rebuilt[address].splitlines() == page.splitlines(), address
