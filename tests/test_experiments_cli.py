"""The command line: what it prints, with which code it ends, and that no mistake of a user is a traceback."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from small_project import QUESTIONS, Told, WordEncoder, bluffline, cannot_be_found, make_project, typed

from experiments.cli import COMMANDS, main
from experiments.models import ModelError
from experiments.pairs import compare
from experiments.reading import load_sweep
from experiments.thresholds import read_thresholds
from store.engine import open_store

Command = Callable[..., Told]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    """Run a command in this process, in the project's folder."""
    encoder = WordEncoder()

    def find(_project: object, name: str) -> WordEncoder:
        if name.startswith("."):
            raise ModelError(cannot_be_found(name))
        return encoder

    monkeypatch.setattr("experiments.workbench.find_encoder", find)
    monkeypatch.setattr("experiments.tracking.Ledger.push", lambda *_: None)
    monkeypatch.delenv("BLUFFLINE_STORE_URL", raising=False)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)

    return partial(typed, capsys)


def test_help_names_every_command_and_imports_nothing_heavy() -> None:
    code = """
import sys
from experiments.cli import main
try:
    main(["--help"])
finally:
    heavy = {"torch", "mlflow", "numpy", "sqlalchemy", "pyarrow", "scipy", "flask"} & set(sys.modules)
    print("heavy:", sorted(heavy))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("heavy: []\n")
    for name, (_, line) in COMMANDS.items():
        assert f"  {name}" in done.stdout
        assert line.split(",")[0][:40] in done.stdout


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_explains_itself(command: Command, name: str) -> None:
    told = command(name, "--help")
    assert told.code == 0
    assert told.out.startswith(f"Usage: bluffline {name}")


@pytest.mark.parametrize(
    "arguments", [("nonsense",), ("show", "--nonsense"), ("show", "x"), ("ask",), ("gate", "1", "2")]
)
def test_words_that_are_no_command_are_one_line(command: Command, arguments: tuple[str, ...]) -> None:
    told = command(*arguments)
    assert told.code == 2
    assert told.out == ""
    assert told.error.startswith("bluffline: ")
    assert told.error.count("\n") == 1


def test_the_forms_of_an_export_are_listed_a_line_each(command: Command) -> None:
    lines = command("export", "--help").out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ") and line[2:3].islower()] == [
        "html",
        "json",
        "csv",
        "parquet",
        "trec",
    ]


def test_the_version_is_told(command: Command) -> None:
    assert command("--version").out.startswith("bluffline, version ")


# init


def test_init_makes_a_project_that_can_be_checked_and_measured(command: Command, tmp_path: Path) -> None:
    source = make_project(tmp_path / "source")
    told = command("init", "mine", "--documents", source / "documents", "--questions", source / "questions.jsonl")
    assert told.code == 0
    assert told.out.startswith("made mine/bluffline.toml\n2 documents, ")
    assert told.out.endswith("No faults.\nNext: bluffline run --project mine\n")
    assert 'documents = "../source/documents"' in (tmp_path / "mine" / "bluffline.toml").read_text("utf-8")
    assert (tmp_path / "mine" / ".gitignore").read_text("utf-8") == "var/\n__pycache__/\n"
    assert command("check", "--project", "mine").code == 0
    assert command("run", "--project", "mine").code == 0
    assert (tmp_path / "mine" / "var" / "bluffline.db").is_file()
    assert not (tmp_path / "var").exists()


def test_what_init_writes_as_comments_are_the_defaults(command: Command, tmp_path: Path) -> None:
    from experiments.project import open_project

    source = make_project(tmp_path / "source")
    command("init", "mine", "--documents", source / "documents", "--questions", source / "questions.jsonl")
    before = open_project(tmp_path / "mine")
    file = tmp_path / "mine" / "bluffline.toml"
    lines = file.read_text("utf-8").splitlines()
    settings = [line.removeprefix("# ") if " = " in line or line.startswith("# [") else line for line in lines]
    file.write_text("\n".join(settings), "utf-8")
    after = open_project(tmp_path / "mine")
    assert after.settings.strategies == before.settings.strategies
    assert (after.settings.ks, after.settings.thresholds) == (before.settings.ks, before.settings.thresholds)
    assert (after.settings.alpha, after.settings.seed) == (before.settings.alpha, before.settings.seed)
    assert (after.settings.bm25, after.settings.fusion) == (before.settings.bm25, before.settings.fusion)


def test_init_overwrites_nothing(command: Command, tmp_path: Path) -> None:
    make_project(tmp_path)
    before = (tmp_path / "bluffline.toml").read_text("utf-8")
    told = command("init", ".", "--documents", "documents", "--questions", "questions.jsonl")
    assert told.code == 2
    assert "is there already" in told.error
    assert (tmp_path / "bluffline.toml").read_text("utf-8") == before


def test_init_of_faulty_questions_makes_the_project_and_says_what_to_mend(command: Command, tmp_path: Path) -> None:
    source = make_project(tmp_path / "source", questions=[{"id": "1", "question": "?", "needle": "Nowhere."}])
    told = command("init", "mine", "--documents", source / "documents", "--questions", source / "questions.jsonl")
    assert told.code == 2
    assert told.out.endswith("Next: mend these, then `bluffline check`.\n")
    assert (tmp_path / "mine" / "bluffline.toml").is_file()


def test_init_where_a_folder_cannot_be_made_is_one_line(command: Command, tmp_path: Path) -> None:
    make_project(tmp_path / "source")
    (tmp_path / "file").write_text("x")
    told = command("init", "file/x", "--documents", "source/documents", "--questions", "source/questions.jsonl")
    assert told.code == 2
    assert "the project cannot be made" in told.error
    for missing in (["gone", "source/questions.jsonl"], ["source/documents", "gone"], ["source/questions.jsonl"] * 2):
        assert command("init", "x", "--documents", missing[0], "--questions", missing[1]).code == 2


# check and plan


def test_check_reports_every_fault_and_ends_with_2(command: Command, tmp_path: Path) -> None:
    wrong = [{"id": "x", "question": "?", "needle": "Nowhere."}, {"id": "n1", "question": "?", "stratum": "far"}]
    make_project(tmp_path, questions=[*QUESTIONS, *wrong])
    told = command("check")
    assert told.code == 2
    assert "questions.jsonl:7: " in told.out
    assert "questions.jsonl:8: " in told.out
    assert told.out.endswith("\n2 faults.\n")
    assert "answerable)" not in told.out


@pytest.mark.parametrize("name", ["check", "run", "plan"])
def test_a_flood_of_faults_is_cut_after_two_hundred(command: Command, tmp_path: Path, name: str) -> None:
    make_project(tmp_path, questions=[{"id": str(n), "question": "?", "needle": "Nowhere."} for n in range(1500)])
    told = command(name)
    lines = (told.out + told.error).splitlines()
    assert told.code == 2
    assert sum("questions.jsonl:" in line for line in lines) == 200
    assert "... and 1,300 more." in lines
    assert not (tmp_path / "var").exists() or name == "run"


def test_plan_says_what_would_be_done(command: Command, tmp_path: Path) -> None:
    make_project(tmp_path)
    told = command("plan")
    assert told.code == 0
    assert told.out.startswith("6 combinations: 2 strategies")


# run and show


def test_run_prints_the_sweep_its_verdicts_and_where_it_is_logged(command: Command, tmp_path: Path) -> None:
    make_project(tmp_path)
    told = command("run")
    assert told.code == 0
    assert told.out.startswith("Sweep 1: 6 combinations recorded, 0 failed; ")
    assert "no strategy is proven better at R@20" in told.out
    assert f"Logged to MLflow: sqlite:///{tmp_path}/var/mlflow.db, experiment 'bluffline'." in told.out
    assert "See it: bluffline serve, then http://127.0.0.1:5077/sweeps/1" in told.out
    assert told.error == ""
    shown = command("show")
    assert shown.out.startswith("Sweep 1, finished, no git, branch -\n2 documents ")
    assert "E/bm25" in shown.out
    assert command("show", 1).out == shown.out


def test_a_failed_combination_ends_with_3_and_is_shown_with_its_reason(command: Command, tmp_path: Path) -> None:
    make_project(tmp_path, sweep='strategies = ["E"]\nmodels = ["words", "./gone"]\nthresholds = [0.5]\n')
    told = command("run")
    assert told.code == 3
    assert told.out.startswith("Sweep 1: 3 combinations recorded, 2 failed; ")
    assert f"failed: E/dense/./gone: {cannot_be_found('./gone')}\n" in told.error
    shown = command("show")
    assert shown.code == 0
    assert f"failed: E/hybrid/./gone: {cannot_be_found('./gone')}\n" in shown.out
    report = json.loads(command("show", "--json").out)
    failed = [one for one in report["combinations"] if one["state"] == "failed"]
    assert [(one["reason"], one["numbers"], one["thresholds"]) for one in failed] == [
        (cannot_be_found("./gone"), {}, [])
    ] * 2


def test_a_ledger_that_is_away_is_told_and_the_code_is_0(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from experiments.tracking import TrackingError

    def away(*_: object) -> None:
        raise TrackingError("MLflow at http://x cannot be written to: refused")

    monkeypatch.setattr("experiments.tracking.Ledger.push", away)
    make_project(tmp_path)
    told = command("run")
    assert told.code == 0
    assert told.error == (
        "Not logged: MLflow at http://x cannot be written to: refused. Nothing is lost: "
        "`bluffline sync` logs it later.\n"
    )
    assert "Logged to MLflow" not in told.out


def test_show_json_has_every_number_and_they_are_those_of_the_store(command: Command, tmp_path: Path) -> None:
    make_project(tmp_path)
    command("run")
    report = json.loads(command("show", 1, "--json").out)
    engine = open_store(f"sqlite:///{tmp_path}/var/bluffline.db")
    loaded = load_sweep(engine, 1)
    engine.dispose()
    assert report["sweep"]["key"] == loaded.sweep.key
    assert [one["key"] for one in report["combinations"]] == [row.key for row in loaded.combinations]
    for one, row in zip(report["combinations"], loaded.combinations, strict=True):
        numbers = loaded.measures[row.id or 0]
        assert {"chunks", "tokens", "mrr", "destroyed", "truncated"} <= set(one["numbers"])
        for name, number in one["numbers"].items():
            kept = numbers[name]
            assert number == {
                "value": kept.value, "low": kept.low, "high": kept.high, "hits": kept.hits, "n": kept.n
            }  # fmt: skip
        for k in (1, 4, 8, 20):
            assert one["numbers"][f"recall_at_{k}"]["n"] == 4
        readings = read_thresholds(loaded.outcomes[row.id or 0], [None, 0.3, 0.675])
        assert [reading["threshold"] for reading in one["thresholds"]] == [None, 0.3, 0.675]
        for told, reading in zip(one["thresholds"], readings, strict=True):
            for name in ("right", "wrong", "refused", "correctly_refused", "bluffs", "bluffs_near", "bluffs_far"):
                share = getattr(reading, name)
                assert (told[name]["hits"], told[name]["n"], told[name]["low"], told[name]["high"]) == (
                    share.hits, share.n, share.low, share.high
                )  # fmt: skip
        assert set(one["extremes"]) >= {"worst_answerable", "best_unanswerable", "separable"}
    arms = {arm.key: arm.outcomes for arm in loaded.arms}
    for k in (1, 4, 8, 20):
        pairs = compare(arms, k, 0.05)
        assert len(report["pairs"][str(k)]) == len(pairs) == 15
        for told, pair in zip(report["pairs"][str(k)], pairs, strict=True):
            assert {name: told[name] for name in ("first", "second", "wins", "losses", "p", "holm_p")} == {
                name: getattr(pair, name) for name in ("first", "second", "wins", "losses", "p", "holm_p")
            }
        assert report["verdicts"][str(k)]


def test_show_of_what_is_not_there_is_one_line(command: Command, tmp_path: Path) -> None:
    make_project(tmp_path)
    told = command("show")
    assert told.code == 2
    assert told.error == ("bluffline: there is no sweep to show; the store is empty: make one with `bluffline run`\n")
    command("run")
    told = command("show", 7)
    assert (told.code, told.error) == (2, "bluffline: there is no sweep 7; the newest is 1\n")
    for nonsense in ("x", "0", "-1", "99999999999999999999999"):
        assert command("show", "--", nonsense).code == 2


# what users do wrong


@pytest.mark.parametrize("name", ["check", "plan", "run", "show", "sync"])
def test_a_broken_project_file_is_told_by_every_command(command: Command, tmp_path: Path, name: str) -> None:
    make_project(tmp_path, sweep="k = 3\nalpha = 7.0\n")
    told = command(name, *(["--push"] if name == "sync" else []))
    assert (told.code, told.out) == (2, "")
    file = tmp_path / "bluffline.toml"
    assert told.error.splitlines() == [
        f"{file}:2: [sweep] k: must be a list of whole numbers: '3'. correct it",
        f"{file}:3: [sweep] alpha: must lie between 0 and 1: '7.0'. 0.05 is usual",
    ]
    file.write_text("[sweep\n", "utf-8")
    assert "not readable as TOML" in command(name, *(["--push"] if name == "sync" else [])).error


@pytest.mark.parametrize("name", ["check", "plan", "run"])
def test_missing_and_misplaced_files_are_faults(command: Command, tmp_path: Path, name: str) -> None:
    make_project(tmp_path)
    (tmp_path / "questions.jsonl").unlink()
    assert command(name).code == 2
    (tmp_path / "questions.jsonl").mkdir()
    assert command(name).code == 2
    make_project(tmp_path / "other", more='[corpus]\ndocuments = "questions.jsonl"\n')
    told = command(name, "--project", "other")
    assert told.code == 2
    assert "questions.jsonl" in told.out + told.error
    make_project(tmp_path / "third")
    shutil.rmtree(tmp_path / "third" / "documents")
    assert command(name, "--project", "third").code == 2


def test_a_folder_that_is_no_project_is_said_so(command: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    told = command("run", "--project", "empty")
    assert told.code == 2
    assert "no project here" in told.error
    assert command("run", "--project", "gone").code == 2


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:///questions.jsonl", "cannot be opened"),
        ("sqlite:///documents", "cannot be opened"),
        ("nonsense", "cannot be read"),
        ("nosuch://db/x", "driver is missing"),
        ("sqlite:////proc/no/x.db", "cannot be made"),
    ],
)
@pytest.mark.parametrize("name", ["run", "show"])
def test_a_store_that_is_none_is_one_line(command: Command, tmp_path: Path, name: str, url: str, said: str) -> None:
    make_project(tmp_path, more=f'[store]\nurl = "{url}"\n')
    told = command(name)
    assert told.code == 2
    assert len(told.error.splitlines()) == 1
    assert said in told.error


def test_a_store_of_a_newer_version_is_refused(command: Command, tmp_path: Path) -> None:
    make_project(tmp_path)
    command("run")
    with closing(sqlite3.connect(tmp_path / "var" / "bluffline.db")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    for name in ("run", "show"):
        told = command(name)
        assert told.code == 2
        assert "newer Bluffline" in told.error


def test_a_state_folder_that_cannot_be_written_is_one_line(command: Command, tmp_path: Path) -> None:
    make_project(tmp_path)
    (tmp_path / "var").write_text("a file where the folder should be")
    told = command("run")
    assert (told.code, len(told.error.splitlines())) == (2, 1)
    make_project(tmp_path / "other", more=f'[store]\nurl = "sqlite:///{tmp_path}/s.db"\n')
    (tmp_path / "other" / "var").write_text("a file where the folder should be")
    told = command("run", "--project", "other")
    assert (told.code, len(told.error.splitlines())) == (2, 1)


def test_cancelling_ends_with_3_and_one_line(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.writes.beat", lambda *_, **__: True)
    make_project(tmp_path)
    told = command("run")
    assert (told.code, told.error) == (3, "bluffline: sweep 1 was cancelled; what it recorded is kept\n")


def test_a_fault_of_ours_is_not_hidden(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("experiments.runner.begin", broken)
    make_project(tmp_path)
    with pytest.raises(ZeroDivisionError):
        main(["run"])


def test_a_reader_that_stops_reading_is_no_error(command: Command, tmp_path: Path) -> None:
    make_project(tmp_path)
    command("run")
    for arguments in (["show", "--json"], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        try:
            done = subprocess.run(
                [sys.executable, "-m", "experiments.cli", *arguments],
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
                stdout=writing, stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
        finally:
            os.close(writing)
        assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.model
def test_the_whole_of_it_with_the_real_model_and_a_real_ledger_in_a_process_of_its_own(tmp_path: Path) -> None:
    from mlflow import MlflowClient

    make_project(tmp_path)
    environment = {"BLUFFLINE_STORE_URL": "", "MLFLOW_TRACKING_URI": ""}
    first = bluffline("run", cwd=tmp_path, **environment)
    assert first.returncode == 0
    progress = re.compile(r"(questions|strategy [AE]): \d/\d, .* left; sweep: .* texts, .* left")  # on a slow machine
    assert [line for line in first.stderr.splitlines() if not progress.fullmatch(line)] == []
    assert first.stdout.startswith("Sweep 1: 6 combinations recorded, 0 failed; ")
    second = bluffline("run", "--fresh", cwd=tmp_path, **environment)
    assert second.stdout.startswith("Sweep 2: 6 combinations recorded, 0 failed; 0 texts embedded, 0 retrievals read")
    with closing(sqlite3.connect(tmp_path / "var" / "bluffline.db")) as connection:
        files = connection.execute(
            "SELECT sweep_id, key, parquet FROM hits JOIN combination ON id = combination_id ORDER BY sweep_id, key"
        ).fetchall()
    assert [row[1:] for row in files[:6]] == [row[1:] for row in files[6:]]  # to the byte
    report = json.loads(bluffline("show", "2", "--json", cwd=tmp_path, **environment).stdout)
    client = MlflowClient(f"sqlite:///{tmp_path}/var/mlflow.db")
    experiment = client.get_experiment_by_name("bluffline").experiment_id
    for one in report["combinations"]:
        for reading in one["thresholds"]:
            label = "none" if reading["threshold"] is None else f"{reading['threshold']:g}"
            (run,) = client.search_runs(
                [experiment],
                f"params.strategy = '{one['strategy']}' and params.retriever = '{one['retriever']}' "
                f"and params.threshold = '{label}' and tags.`bluffline.sweep` = '{report['sweep']['key']}'",
            )
            for name in ("right", "wrong", "refused", "bluffs", "bluffs_near", "bluffs_far"):
                assert run.data.metrics[f"{name}_hits"] == reading[name]["hits"]
                assert run.data.metrics[name] == reading[name]["value"]
                assert run.data.metrics[f"{name}_low"] == reading[name]["low"]
            assert run.data.metrics["recall_at_1"] == one["numbers"]["recall_at_1"]["value"]
            assert run.data.metrics["mrr_high"] == one["numbers"]["mrr"]["high"]


# sync


def test_sync_exchanges_and_says_what(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from experiments.exchange.syncing import Synced
    from experiments.tracking import TrackingError

    make_project(tmp_path)
    asked: list[dict[str, object]] = []

    def answers(done: Synced) -> None:
        def exchange(*_: object, **ways: object) -> Synced:
            asked.append({name: ways[name] for name in ("push", "pull")})
            return done

        monkeypatch.setattr("experiments.exchange.syncing.sync", exchange)

    answers(Synced(unchanged=3))
    assert command("sync") == Told(0, "Everything is logged.\nNothing is new (3 sweeps there).\n", "")
    assert command("sync", "--push") == Told(0, "Everything is logged.\n", "")
    assert command("sync", "--pull") == Told(0, "Nothing is new (3 sweeps there).\n", "")
    assert asked == [{"push": True, "pull": True}, {"push": True, "pull": False}, {"push": False, "pull": True}]
    answers(Synced(pushed=1, runs=24, decisions_pushed=1, new=2, updated=1, removed=3, decisions=4, faults=("x: bad",),
                   notes=("mind this",)))  # fmt: skip
    assert command("sync") == Told(
        3,
        "Logged: 1 sweep with 24 runs, 1 decision.\nRead: 2 new, 1 changed, 3 deleted, 4 decisions.\nmind this\n",
        "bluffline: x: bad\n",
    )

    answers(Synced(pushed=2, unchanged=2))
    assert command("sync", "--push").out == "Logged: what changed of 2 sweeps (every run was there already).\n"

    def away(*_: object, **__: object) -> None:
        raise TrackingError("MLflow at http://x cannot be written to: refused")

    monkeypatch.setattr("experiments.exchange.syncing.sync", away)
    assert command("sync") == Told(3, "", "bluffline: MLflow at http://x cannot be written to: refused\n")
    assert command("sync", "--rebuild", "--push").code == 2
    assert command("sync", "--force").code == 2
