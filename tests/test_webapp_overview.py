"""The overview: what is decided, what runs, what was measured, and starting and cancelling a sweep."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from page_contracts import assert_context_is_what_the_templates_use, assert_fragment_is_part_of_its_page
from sqlalchemy import event
from web_worlds import BM25_E, DENSE_A, DENSE_E, HYBRID_E, reviewed

from experiments import launching
from experiments.deciding.choosing import ByHand
from experiments.deciding.decisions import decision_from, record
from experiments.deciding.evidence import Terms, consider
from experiments.deciding.finding import find_combination
from experiments.reading import load_sweep
from experiments.thresholds import read_thresholds
from store import reads, syncs, writes
from store.engine import open_store
from store.writes_exchange import remove_pulled
from webapp.app import create_app
from webapp.contexts.overview import OverviewContext

FRAGMENTS = ("overview", "live")


def decide(engine, sweep_id, key=DENSE_E, threshold=0.6, supersedes=None, reason="It is safe <enough>."):
    evidence = consider(
        load_sweep(engine, sweep_id), find_combination(load_sweep(engine, sweep_id), key), Terms(), [threshold]
    )
    choice = evidence.choose(ByHand(threshold))
    return record(engine, decision_from(evidence, choice, who="Ada", reason=reason, project="p", supersedes=supersedes))


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """Four sweeps: one with another corpus, two finished, one interrupted after them; and a decision on the second."""
    opened = open_store(f"sqlite:///{tmp_path_factory.mktemp('overview') / 'store.db'}")
    reviewed(opened, corpus_hash="a" * 64, commit="1" * 40, tag="v0.1")
    reviewed(opened, commit="2" * 40, branch="try-<b>", dirty=True)
    reviewed(opened, commit="3" * 40, failed={HYBRID_E: "out of memory <here>"})
    reviewed(opened, commit="4" * 40, queued=[BM25_E, HYBRID_E], state="interrupted", reason="its process ended")
    decide(opened, 2)
    yield opened
    opened.dispose()


@pytest.fixture
def empty(tmp_path):
    opened = open_store(f"sqlite:///{tmp_path / 'empty.db'}")
    app = create_app(opened, root=tmp_path, allowed_hosts={"localhost"})
    yield opened, app.test_client()
    opened.dispose()


def text(client, path="/", status=200, **headers):
    response = client.get(path, headers=headers)
    assert response.status_code == status, response.get_data(as_text=True)[:2000]
    return response.get_data(as_text=True)


def token(client):
    return re.search(r'name="csrf_token" value="([^"]+)"', text(client))[1]


def section(page, name):
    return re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)[0]


def test_the_first_sentence_is_the_decision_and_whether_it_still_fits(client):
    page = text(client)
    verdict = re.search(r'<p class="verdict[^"]*">(.*?)</p>', page, re.DOTALL)[1]
    assert verdict.startswith("Threshold 0.6 for E dense all-MiniLM-L6-v2 is in force.")
    assert "on sweep 3" in verdict
    assert "Ada on sweep 2: It is safe &lt;enough&gt;." in page


def test_without_a_decision_it_says_how_one_is_made(empty):
    opened, client = empty
    reviewed(opened)
    page = text(client)
    assert "No threshold has been decided" in page
    assert "bluffline decide" in page
    assert "/sweeps/1/threshold" in page


def test_an_empty_store_says_what_to_run_and_offers_to_start(empty):
    _, client = empty
    page = text(client)
    assert "<code>bluffline run</code>" in page
    assert "Start a sweep" in page
    assert 'id="sweeps"' not in page


def test_every_sweep_is_listed_with_where_it_comes_from_and_its_best(client):
    listed = section(text(client), "sweeps")
    rows = re.findall(r"<tr>\s*<th scope=\"row\">.*?</tr>", listed, re.DOTALL)
    assert len(rows) == 4
    newest, _, dirty, oldest = rows
    assert "interrupted" in newest
    assert '3 <span class="quiet">of 5</span>' in newest
    assert "dirty" in dirty
    assert "try-&lt;b&gt;" in dirty
    assert '<span class="tag">v0.1</span>' in oldest
    assert re.search(r'<span class="ci">\[0\.\d\d, 0\.\d\d\]</span>', dirty)
    assert "changed" in dirty  # the documents, against the row below
    assert "changed</span>" not in oldest


def test_the_best_combination_is_shown_at_the_chosen_k(client, engine):
    page = section(text(client, "/?k=1"), "sweeps")
    values = {row.key: numbers["recall_at_1"].value for row in reads.combinations(engine, 2)
              for numbers in [reads.measures(engine, 2)[row.id]]}  # fmt: skip
    best = max(values, key=values.get)
    assert f"<td>{best.split('/')[0]} {best.split('/')[1]}" in page
    assert "R@1" in page


def test_documents_that_the_newest_sweep_could_not_read_are_listed_with_their_reasons(empty):
    opened, client = empty
    reviewed(opened)
    assert "Failed documents" not in text(client)
    settings = dict(reads.sweep(opened, 1).settings)
    failed = [{"file": "<old>.md", "problem": "The file is empty.", "advice": "Write the document."}]
    reviewed(opened, settings={**settings, "left_out": 1, "failed_documents": failed})
    page = text(client)
    assert "1 document could not be read when sweep 2 began and was left out: no number speaks of it." in page
    assert '<th scope="row" class="mono">&lt;old&gt;.md</th><td>The file is empty.</td>' in page
    assert '<a href="/documents?sweep=2">All its documents</a>' in page
    (row,) = csv.DictReader(io.StringIO(text(client, "/overview/documents.csv")))
    assert row == {
        "sweep": "2",
        "document": "<old>.md",
        "reason": "The file is empty.",
        "advice": "Write the document.",
    }
    reviewed(opened)
    assert "Failed documents" not in text(client)  # the newest sweep read everything


def test_a_sweep_that_ended_early_says_what_to_do_and_shows_what_there_is(client):
    page = text(client)
    assert "Sweep 4 was interrupted." in page
    assert "3 of 5 combinations are recorded. Start it again at the same commit: it goes on where it stopped." in page
    assert "Reason: its process ended." in page


def test_a_half_written_sweep_of_another_machine_is_not_to_be_started_again_here(empty):
    opened, client = empty
    reviewed(opened, queued=[BM25_E], state="interrupted", reason="half-written: 4 of 5 combinations logged",
             pulled_from="bluffline")  # fmt: skip
    page = text(client)
    assert "Reason: half-written: 4 of 5 combinations logged." in page
    assert "Start it again" not in page


def test_failed_combinations_stand_with_their_reasons(client):
    page = text(client)
    assert "1 of 5 combinations failed and has no numbers" in page
    assert "out of memory &lt;here&gt;" in page


def test_the_trend_follows_the_decided_combination_and_breaks_where_documents_changed(client):
    page = section(text(client), "trend")
    assert '<option value="' + DENSE_E + '" selected>' in page
    figure = json.loads(re.search(r'id="trend-figure-data">(.*?)</script>', page)[1])
    assert [len(trace["x"]) for trace in figure["data"]] == [1, 3]
    assert figure["data"][0]["customdata"] == ["/sweeps/1"]
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["documents changed"]
    assert figure["data"][1]["marker"]["color"][0] == "var(--paper)"  # uncommitted changes are hollow
    assert "<b>" not in json.dumps(figure)  # a style would break the page's policy


def test_any_measure_of_any_combination_can_be_followed(client):
    page = section(text(client, f"/?measure=chunks&combination={BM25_E}"), "trend")
    assert "chunks of E bm25 is 1,068" in page
    assert "the best combination is" in section(text(client, "/?combination=best"), "trend")


def test_the_best_of_each_sweep_says_that_it_flatters(client):
    assert "picked after the fact" in section(text(client, "/?combination=best"), "trend")


def test_bluffs_are_followed_at_the_threshold_in_force(client, engine):
    page = section(text(client, "/?measure=at_bluffs"), "trend")
    decided, chosen = (
        json.loads(text(client, f"/overview/trend.json?measure=at_bluffs{query}"))["rows"] for query in ("", "&t=0.7")
    )
    assert "bluffs at 0.6 of E dense" in page
    assert "The threshold is that of the decision in force" in page
    assert 'name="t" inputmode="decimal" size="6" autocomplete="off" value="" placeholder="0.6"' in page
    assert [(row["sweep"], row["threshold"], row["n"]) for row in decided] == [(n, "0.6", 30) for n in (4, 3, 2, 1)]
    loaded = load_sweep(engine, 3)
    (wanted,) = read_thresholds(loaded.outcomes[find_combination(loaded, DENSE_E).id], [0.6])
    row = next(row for row in decided if row["sweep"] == 3)
    assert (row["value"], row["low"], row["high"]) == (wanted.bluffs.estimate, wanted.bluffs.low, wanted.bluffs.high)
    assert chosen[0]["threshold"] == "0.7"
    assert chosen[0]["value"] >= decided[0]["value"]


@pytest.mark.parametrize(("name", "n"), [("at_near", 21), ("at_far", 9), ("at_right", 64), ("at_refused", 64)])
def test_every_number_read_at_a_threshold_has_its_interval_and_n(client, name, n):
    rows = list(csv.DictReader(io.StringIO(text(client, f"/overview/trend.csv?measure={name}&t=0.5"))))
    assert [int(row["n"]) for row in rows] == [n] * 4
    assert all(float(row["low"]) <= float(row["value"]) <= float(row["high"]) for row in rows)


def test_a_combination_without_a_decision_is_read_with_no_threshold_and_says_so(client):
    page = section(text(client, f"/?measure=at_bluffs&combination={DENSE_A}"), "trend")
    assert "bluffs with no threshold of A dense" in page
    assert "No threshold is decided for this combination, so everything is answered." in page
    assert "is 1.00 [" in page


def test_a_threshold_is_of_one_combination_never_of_the_best_of_each_sweep(client):
    page = section(text(client, "/?measure=at_bluffs&combination=best"), "trend")
    assert "choose a combination to read this number at one" in page
    assert "trend-figure" not in page


def test_a_threshold_that_is_no_distance_is_named(client):
    assert "t =" in text(client, "/?measure=at_bluffs&t=near", 400)


def test_a_decision_whose_sweep_was_deleted_says_so_and_not_its_number(empty):
    opened, client = empty
    reviewed(opened, pulled_from="elsewhere")
    reviewed(opened)
    decide(opened, 1)
    assert "by Ada on sweep 1:" in text(client)
    remove_pulled(opened, [1])
    page = text(client)
    assert "by Ada on a sweep that is not in this store any more:" in page
    assert "/sweeps/1" not in page


def test_a_size_has_no_best(client):
    page = text(client, "/?measure=chunks&combination=best", 400)
    assert "measure = &#39;chunks&#39; is not allowed" in page


def test_only_one_branch_can_be_followed(client):
    figure = json.loads(re.search(r'id="trend-figure-data">(.*?)</script>', text(client, "/?branch=main"))[1])
    assert sum(len(trace["x"]) for trace in figure["data"]) == 3


def test_a_combination_that_no_sweep_has_is_said_not_to_be_there(client):
    assert "No sweep shown here has recorded" in text(client, "/?combination=Z/bm25")


@pytest.mark.parametrize("address", ["/?k=7", "/?show=3", "/?measure=x", "/?branch=x", "/?before=x", "/?before=-1"])
def test_a_parameter_that_cannot_be_read_is_named(client, address):
    name = re.search(r"\?(\w+)=", address)[1]
    assert f"{name} =" in text(client, address, 400)


def test_older_sweeps_are_a_page_of_their_own(client):
    page = text(client, "/?before=3")
    assert len(re.findall(r"<tr>\s*<th scope=\"row\">", section(page, "sweeps"))) == 2
    assert "Newest sweeps" in page
    assert "on sweep 3" in re.search(r'<p class="verdict[^"]*">(.*?)</p>', page, re.DOTALL)[1]


def test_each_fragment_is_part_of_its_page(client):
    for fragment in FRAGMENTS:
        assert_fragment_is_part_of_its_page(client, f"/?k=4&combination={DENSE_A}", fragment)


def test_the_context_is_what_the_templates_use(app):
    assert_context_is_what_the_templates_use(app, "overview", OverviewContext)


@pytest.mark.parametrize(
    "address", ["/?measure=mrr&show=100", "/?before=4&measure=mrr", "/?measure=at_bluffs", "/overview/trend.csv"]
)
def test_the_page_takes_at_most_eight_statements(client, engine, address):
    statements = []
    event.listen(engine, "before_cursor_execute", count := lambda *args: statements.append(args[2]))
    try:
        text(client, address)
    finally:
        event.remove(engine, "before_cursor_execute", count)
    assert len(statements) <= 8, statements


def test_the_tables_are_handed_out_as_files(client):
    sweeps = list(csv.DictReader(io.StringIO(text(client, "/overview/sweeps.csv?k=4"))))
    assert [row["sweep"] for row in sweeps] == ["4", "3", "2", "1"]
    assert sweeps[2]["commit"] == "2" * 40
    assert sweeps[0]["state"] == "interrupted"
    trend = json.loads(text(client, f"/overview/trend.json?combination={DENSE_E}"))["rows"]
    assert [row["sweep"] for row in trend] == [4, 3, 2, 1]
    assert trend[2]["changed"] == "documents"
    assert all(row["low"] <= row["value"] <= row["high"] for row in trend)
    assert "| 3 | E hybrid" in text(client, "/overview/failed.md")


def test_what_runs_is_shown_with_its_progress_and_asks_for_itself_until_it_ends(empty):
    opened, client = empty
    now = datetime.now(UTC)
    reviewed(opened, queued=[BM25_E], failed={HYBRID_E: "out of memory"}, state="running", host="elsewhere", pid=7,
             started_at=now - timedelta(seconds=30), heartbeat_at=now, stage="embedding E", done=40, total=90,
             eta_seconds=75.0)  # fmt: skip
    writes.update_combination(opened, reads.combinations(opened, 1)[2].id, state="running")
    panel = section(text(client), "live")
    assert 'hx-trigger="every 1s"' in panel
    assert 'value="40"' in panel
    assert "about 1\N{NO-BREAK SPACE}min 15" in panel
    for words in ("embedding E", "40 of 90", "2 recorded", "1 running", "1 waiting", "1 failed"):
        assert words in panel
    assert 'title="out of memory">failed' in panel
    assert "Start a sweep" not in panel
    polled = client.get("/live", headers={"HX-Request": "true", "HX-Target": "section#live"})
    assert "HX-Retarget" not in polled.headers
    assert polled.get_data(as_text=True).strip().startswith('<section id="live"')
    writes.update_sweep(opened, 1, state="finished", stage=None)
    over = client.get("/live", headers={"HX-Request": "true", "HX-Target": "section#live"})
    assert over.headers["HX-Retarget"] == "#overview"
    assert '<div id="overview">' in over.get_data(as_text=True)
    assert "every 1s" not in over.get_data(as_text=True)


def test_the_live_address_itself_leads_to_the_overview(client):
    assert client.get("/live?k=4").headers["Location"] == "/?k=4"


def test_a_sweep_whose_process_is_gone_is_settled_by_looking(empty):
    opened, client = empty
    reviewed(opened, queued=[BM25_E], state="running", host=socket.gethostname(), pid=2**22 - 5,
             heartbeat_at=datetime.now(UTC))  # fmt: skip
    assert "Sweep 1 was interrupted." in text(client)
    assert reads.sweep(opened, 1).state == "interrupted"


def test_a_sweep_that_gives_no_sign_of_life_says_so(empty):
    opened, client = empty
    reviewed(opened, state="running", host="elsewhere", pid=7, heartbeat_at=datetime.now(UTC) - timedelta(minutes=9))
    assert "no sign of life for 9" in text(client)


def test_starting_needs_the_forms_token(client):
    assert client.post("/sweeps").status_code == 403


def test_a_sweep_is_started_from_the_page(empty, monkeypatch, tmp_path):
    _, client = empty
    started = {}
    monkeypatch.setattr(launching, "start_sweep", lambda engine, root, **kind: started.update(root=root, **kind))
    response = client.post("/sweeps", data={"csrf_token": token(client)})
    assert (response.status_code, response.headers["Location"]) == (303, "/#live")
    assert started == {"root": tmp_path, "has_project": False}


def test_a_start_is_refused_while_a_sweep_runs(empty):
    opened, client = empty
    secret = token(client)
    reviewed(opened, state="running", host="elsewhere", pid=7)
    response = client.post("/sweeps", data={"csrf_token": secret})
    assert response.status_code == 409
    assert "Sweep 1 is running, and two at once would only slow each other down" in response.get_data(as_text=True)


def test_a_start_that_has_not_begun_yet_is_shown_and_then_why_it_failed(empty, monkeypatch, tmp_path):
    _, client = empty
    secret = token(client)
    real = subprocess.Popen
    program = "import sys; sys.stdin.read(); print('bluffline: questions.jsonl:3: <broken>')"
    held = {}

    def instead(_arguments, **options):
        held["process"] = real([sys.executable, "-c", program], **{**options, "stdin": subprocess.PIPE})
        return held["process"]

    monkeypatch.setattr(launching.subprocess, "Popen", instead)
    client.post("/sweeps", data={"csrf_token": secret})
    panel = section(text(client), "live")
    assert "A sweep is starting" in panel
    assert "every 1s" in panel
    assert client.post("/sweeps", data={"csrf_token": secret}).status_code == 409
    held["process"].stdin.close()
    held["process"].wait(timeout=20)
    panel = section(text(client), "live")
    assert "The last start led to no sweep." in panel
    assert "bluffline: questions.jsonl:3: &lt;broken&gt;" in panel
    assert "every 1s" not in panel


def test_what_the_last_exchange_did_and_what_went_wrong_stand_beside_the_button(empty):
    opened, client = empty
    assert "Not yet exchanged with MLflow." in section(text(client), "live")
    first = syncs.begin_sync(opened, "http://x", pid=1, host="here")
    syncs.end_sync(opened, first, "finished", {"pushed": 2, "new": 1, "unchanged": 9}, [])
    assert "Exchanged with MLflow: 2 sweeps logged and 1 new sweep read." in text(client)
    second = syncs.begin_sync(opened, "http://x", pid=1, host="here")
    syncs.end_sync(opened, second, "finished", {}, ["sweep abc: sweep.json: it is <damaged>"])
    page = text(client)
    assert "Not everything could be exchanged with MLflow." in page
    assert "<li>sweep abc: sweep.json: it is &lt;damaged&gt;</li>" in page
    third = syncs.begin_sync(opened, "http://x", pid=1, host="here")
    syncs.end_sync(opened, third, "failed", {}, ["nothing answers there"])
    assert "The last exchange with MLflow was not finished." in text(client)
    assert "<li>nothing answers there</li>" in text(client)


def test_an_exchange_at_work_shows_how_far_it_is_and_one_that_died_is_told(empty):
    opened, client = empty
    running = syncs.begin_sync(opened, "http://x", pid=os.getpid(), host=socket.gethostname())
    syncs.beat_sync(opened, running, stage="fetching sweeps", done=3, total=7, eta_seconds=12.0)
    panel = section(text(client), "live")
    assert 'hx-trigger="every 1s"' in panel
    for words in ("fetching sweeps", "3 of 7", "about 12"):
        assert words in panel
    assert "Sync now" not in panel
    syncs.begin_sync(opened, "http://x", pid=999_999_999, host=socket.gethostname())
    panel = section(text(client), "live")
    assert "its process ended before it was finished" in panel
    assert "Sync now" in panel
    assert "every 1s" not in panel


def test_an_exchange_is_started_from_the_page_as_a_process_of_its_own(empty, monkeypatch):
    _, client = empty
    started = []
    monkeypatch.setattr(launching, "_command", lambda name, *_, **__: [sys.executable, "-c", f"print('{name} said')"])
    spawn = launching._spawn
    monkeypatch.setattr(launching, "_spawn", lambda *given: started.append(spawn(*given)) or started[-1])
    assert client.post("/sync").status_code == 403
    response = client.post("/sync", data={"csrf_token": token(client)})
    assert (response.status_code, response.headers["Location"]) == (303, "/#sync")
    started[0].wait(timeout=60)
    assert "<li>sync said</li>" in text(client)  # it ended without beginning: what it said is shown


def test_the_threshold_over_time_is_a_step_with_who_and_why(empty):
    opened, client = empty
    reviewed(opened)
    assert 'id="decided"' not in text(client)
    first = decide(opened, 1, threshold=0.6)
    second = decide(opened, 1, threshold=0.5, supersedes=first.id)
    decide(opened, 1, key=DENSE_A, threshold=0.4, supersedes=second.id, reason="Another <scale>.")
    page = section(text(client), "decided")
    assert re.search("3 decisions; threshold 0.4 for A dense[^.]* is in force[.]", page)
    assert "for 2 combinations, whose distances are on different scales: no step joins them." in page
    assert "<td>Ada</td><td>Another &lt;scale&gt;.</td>" in page
    figure = json.loads(re.search(r'id="decided-figure-data">(.*?)</script>', page)[1])
    assert [trace["y"] for trace in figure["data"]] == [[0.6, 0.6, 0.5, 0.5], [0.4, 0.4], [0.6, 0.5, 0.4]]
    assert figure["data"][0]["line"]["shape"] == "hv"
    assert "Ada: Another &lt;scale&gt;." in figure["data"][-1]["text"][-1]
    rows = list(csv.DictReader(io.StringIO(text(client, "/overview/thresholds.csv"))))
    assert (rows[0]["threshold"], rows[0]["who"], rows[0]["reason"]) == ("0.4", "Ada", "Another <scale>.")
    assert len(json.loads(text(client, "/overview/thresholds.json"))["rows"]) == 3


def test_one_decision_alone_has_a_day_around_it_and_no_distance_below_zero(empty):
    opened, client = empty
    reviewed(opened)
    first = decide(opened, 1, threshold=0.6)
    page = section(text(client), "decided")
    layout = json.loads(re.search(r'id="decided-figure-data">(.*?)</script>', page)[1])["layout"]
    assert layout["yaxis"]["range"] == [0, 1.0]
    begun, ended = map(datetime.fromisoformat, layout["xaxis"]["range"])
    assert begun < first.created_at.replace(tzinfo=UTC) < ended
    assert timedelta(days=1) <= ended - begun < timedelta(days=1, minutes=1)


def test_a_running_sweep_is_cancelled_from_the_page(empty):
    opened, client = empty
    reviewed(opened, state="running", host="elsewhere", pid=7, heartbeat_at=datetime.now(UTC))
    secret = token(client)
    response = client.post("/sweeps/1/cancel", data={"csrf_token": secret})
    assert response.status_code == 303
    assert reads.sweep(opened, 1).cancel_requested
    panel = section(text(client), "live")
    assert "cancelling" in panel
    assert "What is recorded stays." in panel


def test_a_sweep_that_does_not_run_cannot_be_cancelled(client):
    secret = token(client)
    response = client.post("/sweeps/2/cancel", data={"csrf_token": secret})
    assert response.status_code == 409
    assert "Sweep 2 is finished: there is nothing to cancel." in response.get_data(as_text=True)
    assert client.post("/sweeps/99/cancel", data={"csrf_token": secret}).status_code == 404


def test_the_dashboard_starts_without_torch_and_without_mlflow():
    program = (
        "import sys, webapp.app, webapp.views; "
        "heavy = {'torch', 'mlflow', 'sentence_transformers', 'transformers'} & set(sys.modules); "
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
