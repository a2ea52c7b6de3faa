"""Tags of decisions on runs: in a real MLflow on SQLite, and with a server that is away."""

from pathlib import Path

import pytest
from made_outcomes import question_set
from made_sweeps import DENSE, HYBRID, add_sweep
from sqlalchemy import Engine

from experiments.deciding.choosing import ByHand
from experiments.deciding.decision_tags import DecisionLedger, tags
from experiments.deciding.decisions import decision_from, record
from experiments.deciding.evidence import Terms, consider
from experiments.deciding.finding import find_combination
from experiments.reading import load_sweep
from experiments.tracking import TrackingError
from store.decisions import decision_in_force
from store.engine import open_store
from store.tables import DecisionRow

AWAY = "http://127.0.0.1:9"  # nothing listens on the discard port


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return open_store(f"sqlite:///{tmp_path / 'store.db'}")


def _decide(engine: Engine, key: str, threshold: float, reason: str = "bluffs are dear") -> DecisionRow:
    loaded = load_sweep(engine, 1)
    evidence = consider(loaded, find_combination(loaded, key), Terms(), [threshold])
    before = decision_in_force(engine)
    choice = evidence.choose(ByHand(threshold))
    supersedes = before.id if before else None
    return record(
        engine,
        decision_from(evidence, choice, who="Ada", reason=reason, project="handbook", supersedes=supersedes),
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::sqlalchemy.exc.SADeprecationWarning")
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::ResourceWarning")
def test_the_chosen_runs_are_found_by_their_tags_and_superseded_ones_say_by_what(
    engine: Engine, tmp_path: Path
) -> None:
    add_sweep(engine, {DENSE: question_set(3), HYBRID: question_set(4)}, settings={"thresholds": [0.45, 0.55]})
    ledger = DecisionLedger(f"sqlite:///{tmp_path / 'mlflow.db'}", "bluffline", tmp_path / "artifacts")
    first = _decide(engine, DENSE, 0.55)
    with pytest.raises(TrackingError, match="holds no run of E/dense"):
        ledger.tag(engine, first)
    ledger.push(engine, 1)

    runs = ledger.tag(engine, first)
    client, experiment = ledger._connect()
    found = [client.get_run(run).data for run in runs]
    assert [run.params.get("threshold") for run in found] == [None, "0.55"]  # the combination's, then its threshold's
    assert all(run.tags["bluffline.decision"] == first.key for run in found)
    assert found[0].tags["bluffline.decision.reason"] == "bluffs are dear"
    assert found[0].tags["bluffline.decision.who"] == "Ada"
    assert found[0].tags["bluffline.decision.threshold"] == "0.55"
    where = f"tags.`bluffline.decision` = '{first.key}'"
    assert {run.info.run_id for run in client.search_runs([experiment], where)} == set(runs)
    second = _decide(engine, HYBRID, 0.511)
    others = ledger.tag(engine, second)
    assert len(others) == 1  # no run has been measured at 0.511
    assert client.get_run(runs[1]).data.tags["bluffline.decision.superseded"] == second.key
    assert "bluffline.decision.superseded" not in client.get_run(others[0]).data.tags

    third = _decide(engine, DENSE, 0.55)  # the first choice again
    assert ledger.tag(engine, third) == runs
    again = client.get_run(runs[0]).data.tags
    assert again["bluffline.decision"] == third.key and "bluffline.decision.superseded" not in again
    assert client.get_run(others[0]).data.tags["bluffline.decision.superseded"] == third.key
    assert ledger.tag(engine, third) == runs  # doing it twice changes nothing


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_server_that_is_away_is_named_and_the_decision_stays(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    add_sweep(engine, {DENSE: question_set(3)})
    decision = _decide(engine, DENSE, 0.55)
    with pytest.raises(TrackingError, match=AWAY):
        DecisionLedger(AWAY, "bluffline", tmp_path).tag(engine, decision)
    in_force = decision_in_force(engine)
    assert in_force is not None and in_force.id == decision.id


def test_a_long_reason_fits_a_tag(engine: Engine) -> None:
    add_sweep(engine, {DENSE: question_set(3)})
    said = tags(_decide(engine, DENSE, 0.55, reason="x" * 9000))
    assert all(len(value) <= 4000 for value in said.values())
