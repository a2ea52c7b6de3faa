"""From a BEIR folder to TREC files: import, run, show and export say the same numbers as ir-measures."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import ir_measures
import pytest
from ir_measures import R, nDCG
from small_project import WordEncoder, make_project
from test_corpus_importing import beir

from experiments.cli import main
from experiments.exporting import file_name, relevant_documents
from store.tables import QueryRow

WORDS = (
    *("moon", "tide", "sea", "yeast", "bread", "oven", "bees"),
    *("honey", "queen", "swarm", "ferry", "harbour", "stone", "bridge"),
)


def benchmark(folder: Path) -> Path:
    """Forty documents of random words and twelve questions with graded judgements; names with spaces and repeats."""
    made = random.Random(5)
    corpus = [
        {"_id": f"doc {n}", "title": made.choice(WORDS), "text": " ".join(made.choices(WORDS, k=made.randint(3, 30)))}
        for n in range(40)
    ]
    queries = [{"_id": f"q{n}", "text": " ".join(made.choices(WORDS, k=3))} for n in range(12)]
    lines = [
        f"q{n}\tdoc {document}\t{made.choice([0, 1, 1, 2, 3])}"
        for n in range(12)
        for document in made.sample(range(40), 5)
    ]
    return beir(folder, corpus, queries, "query-id\tcorpus-id\tscore\n" + "\n".join(lines) + "\n")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("experiments.workbench.find_encoder", lambda *_: WordEncoder())
    monkeypatch.setattr("experiments.tracking.Ledger.push", lambda *_: None)
    (tmp_path / "beir").mkdir()
    main(["import", "beir", str(benchmark(tmp_path / "beir")), str(tmp_path / "made"), "--skip-faults"])
    main(["run", "--project", str(tmp_path / "made")])
    return tmp_path / "made"


def test_exported_files_give_the_numbers_that_are_shown(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    main(["show", "--json", "--project", str(project)])
    shown = json.loads(capsys.readouterr().out)
    assert shown["sweep"]["hit_rule"] == "chunk-of-a-relevant-document/1"
    main(["export", "--as", "trec", "--to", str(tmp_path / "out"), "--project", str(project)])
    assert "Sweep 1: 4 files in" in capsys.readouterr().out
    out = tmp_path / "out" / "trec"
    qrels = list(ir_measures.read_trec_qrels(str(out / "documents.qrels")))
    assert qrels[0].doc_id.startswith("doc%20")
    for combination in shown["combinations"]:
        run = list(ir_measures.read_trec_run(str(out / f"{file_name(combination['key'])}.run")))
        theirs = ir_measures.calc_aggregate([nDCG @ 1, nDCG @ 10, nDCG @ 20, R @ 100], qrels, run)
        for measure, ours in (
            (nDCG @ 1, "ndcg_at_1"),
            (nDCG @ 10, "ndcg_at_10"),
            (nDCG @ 20, "ndcg_at_20"),
            (R @ 100, "document_recall_at_100"),
        ):
            number = combination["numbers"][ours]
            assert number["value"] == pytest.approx(theirs[measure], abs=1e-9)
            assert number["low"] <= number["value"] <= number["high"]


def test_the_terminal_says_the_hit_rule_and_that_nothing_can_be_destroyed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    main(["show", "--project", str(project)])
    out = capsys.readouterr().out
    assert "by document-level relevance" in out
    assert "chunk-of-a-relevant-document/1" in out
    assert "nDCG@10" in out
    assert "destroyed, truncated and quotable do not apply" in out
    assert "needles destroyed" not in out
    main(["plan", "--project", str(project)])
    assert "destroyed" not in capsys.readouterr().out


def test_the_terminal_shows_token_scores_of_a_sweep_over_needles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("experiments.workbench.find_encoder", lambda *_: WordEncoder())
    monkeypatch.setattr("experiments.tracking.Ledger.push", lambda *_: None)
    folder = make_project(tmp_path / "needles")
    main(["run", "--project", str(folder)])
    capsys.readouterr()
    main(["show", "--project", str(folder)])
    out = capsys.readouterr().out
    assert "token IoU@20" in out
    scores = out[out.index("token IoU@20") : out.index("Means over")]
    assert re.search(r"\d\.\d{3} \[\d\.\d{3}, \d\.\d{3}\]", scores)  # two digits would not hold 0.017
    assert not re.search(r"\[\d\.\d\d,", scores)


def test_names_never_part_a_line_in_two() -> None:
    row = QueryRow(
        questions_hash="h", query_id="a b", position=0, text="?", relevant=[{"document": "x\u2003y%", "grade": 1}]
    )
    assert list(relevant_documents([row])) == ["a%20b 0 x%E2%80%83y%25 1\n"]
