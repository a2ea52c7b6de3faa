"""The threshold page: any threshold read, priced, certified, and the bluffs it lets by."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest
from made_outcomes import question_set
from made_sweeps import DENSE, add_sweep
from page_contracts import assert_context_is_what_the_templates_use, text
from sqlalchemy import event
from web_worlds import BM25_E, DENSE_E, HYBRID_E, KEYS, LITERAL, outcomes_of, reviewed

from experiments.deciding.certification import certify
from experiments.deciding.choosing import ByHand, choose
from experiments.deciding.costs import cost_curve
from experiments.outcomes import Outcome
from experiments.stats.selective import Costs
from experiments.thresholds import extremes, read_thresholds
from store import reads
from store.engine import open_store
from webapp.contexts import threshold_figures
from webapp.contexts.threshold import ThresholdContext
from webapp.contexts.threshold_reading import bluffs_of

PAGE = "/sweeps/1/threshold"
OUTCOMES = outcomes_of(DENSE_E)
GRID = [round(0.3 + 0.025 * step, 3) for step in range(21)]


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    opened = open_store(f"sqlite:///{tmp_path_factory.mktemp('threshold') / 'store.db'}")
    reviewed(opened)
    reviewed(opened, failed={HYBRID_E: "out of memory"}, state="interrupted", reason="its process ended")
    add_sweep(opened, {DENSE: [one for one in question_set(1) if one.needle_id]},
              settings={"retrievers": ["dense"], "models": [DENSE.split("/", 2)[2]]})  # fmt: skip
    yield opened
    opened.dispose()


def part(page, name):
    """A fragment of the page, from its root element to the next one's."""
    return page.split(f'id="{name}"', 1)[1].split("<section id=", 1)[0]


def at(threshold):
    return read_thresholds(OUTCOMES, [threshold])[0]


@pytest.mark.parametrize("threshold", [0.675, 0.5, 0.333, 0.0, 2.0])
def test_any_threshold_is_read_and_the_first_sentence_says_what_it_does(client, threshold):
    row = at(threshold)
    page = text(client, f"{PAGE}?strategy=E&retriever=dense&t={threshold}")
    verdict = re.search(r'<p class="verdict[^"]*">(.*?)</p>', page, re.DOTALL)[1]
    assert verdict.startswith(
        f"At cosine distance {threshold:g}, E with dense answers {row.right.hits} of 64 questions"
    )
    assert f"bluffs on {row.bluffs.hits} of 30 unanswerable questions" in verdict
    readout = part(page, "readout")
    for share in (
        row.right,
        row.wrong,
        row.refused,
        row.bluffs,
        row.bluffs_near,
        row.bluffs_far,
        row.correctly_refused,
    ):
        assert f"<dd>{share.hits} / {share.n} <i>[{share.low:.2f}, {share.high:.2f}]</i>" in readout


def test_a_threshold_off_the_grid_gets_its_row_in_the_sweep_and_is_marked(client):
    page = part(text(client, f"{PAGE}?strategy=E&retriever=dense&t=0.333"), "sweep")
    rows = re.findall(r"<tr( class=\"chosen\")?><th scope=\"row\"><a [^>]*>([^<]+)</a>", page)
    assert [label for mark, label in rows if mark] == ["0.333"]
    assert [label for _, label in rows] == ["none", "0.3", "0.325", "0.333", *(f"{cut:g}" for cut in GRID[2:])]


def test_no_threshold_is_a_reading_of_its_own(client):
    page = text(client, f"{PAGE}?strategy=E&retriever=dense&t=none")
    assert "With no threshold, E with dense" in page
    assert "data-threshold-line" not in page
    assert "The 30 bluffs with no threshold" in page


def test_every_cell_of_the_sweep_has_count_share_and_interval(client):
    page = part(text(client, f"{PAGE}?strategy=E&retriever=dense&t=0.5"), "sweep")
    row = at(0.5)
    line = page.split('class="chosen"')[1].split("</tr>")[0]
    for share in (row.right, row.wrong, row.refused, row.refused_could_answer, row.bluffs, row.correctly_refused,
                  row.bluffs_near, row.bluffs_far):  # fmt: skip
        assert f'>{share.hits}</span> <span class="ci">{share.estimate:.2f} [{share.low:.2f}, {share.high:.2f}]' in line


def test_the_line_stands_first_at_the_cheapest_threshold_of_what_finds_most(client):
    page = text(client, PAGE)
    assert re.search(r"At cosine distance \S+, E with (dense|hybrid)", page)
    cheapest = cost_curve(OUTCOMES, [*GRID, None], seed=7).cheapest.label
    assert f"At cosine distance {cheapest}, E with dense" in text(client, f"{PAGE}?strategy=E&retriever=dense")


def test_bluffs_are_listed_nearest_first_with_what_each_matched(client):
    page = part(text(client, f"{PAGE}?strategy=E&retriever=dense&t=2"), "bluffs")
    distances = [float(value) for value in re.findall(r'<td class="num">([\d.]+)</td>', page)]
    assert len(distances) == 30
    assert distances == sorted(distances)
    literal = page.split(LITERAL)[1].split("</tr>")[0]
    assert "literal match" in literal
    assert "Handbook › Cafeteria" in literal
    assert "near miss" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; near question" in page
    assert "<script>alert" not in page


def test_the_bluffs_at_a_line_are_those_the_row_counts():
    for threshold in (0.3, 0.55, 0.7, None):
        assert len(bluffs_of(OUTCOMES, threshold)) == at(threshold).bluffs.hits


def test_a_bluff_is_what_the_nearest_chunk_of_the_gate_matched_whatever_its_rank():
    near = next(one for one in OUTCOMES if one.stratum == "near")
    hits = tuple(hit for hit in near.hits)
    turned = Outcome(**{**{name: getattr(near, name) for name in Outcome.__slots__}, "hits": hits[::-1]})
    assert bluffs_of([turned], None)[0][1] == hits[0]


def test_costs_follow_what_is_typed(client):
    costs = Costs(100.0, 1.0, 3.0)
    curve = cost_curve(OUTCOMES, [*GRID, None], costs, 0.5, seed=7)
    here = cost_curve(OUTCOMES, [0.61], costs, 0.5, seed=7).cheapest
    page = text(client, f"{PAGE}?strategy=E&retriever=dense&t=0.61&bluff=100&wrong=1&refusal=3&share=50")
    readout = part(page, "readout")
    assert f">{curve.cheapest.label}</a>" in readout
    assert f"<b>{here.cost:,.0f}</b>".replace(",", "\u202f") in readout
    assert re.search(r"it cannot be told from [\d.]", readout)
    assert 'id="share" name="share" type="number" inputmode="decimal" value="50"' in readout


def test_a_free_bluff_is_zero_and_not_the_default(client):
    assert 'name="bluff" type="number" inputmode="decimal" value="0"' in text(client, f"{PAGE}?bluff=0")


def test_looking_at_a_threshold_does_not_make_it_the_cheapest(client):
    grid = text(client, f"{PAGE}?strategy=E&retriever=dense&t=0.5")
    off = text(client, f"{PAGE}?strategy=E&retriever=dense&t=0.4321")
    cheapest = re.compile(r"Cheapest is <a[^>]*>([\d.]+)</a>")
    assert cheapest.search(grid)[1] == cheapest.search(off)[1]


def test_near_and_far_are_certified_apart_or_told_how_many_questions_it_takes(client):
    page = part(text(client, f"{PAGE}?strategy=E&retriever=dense&t=0.5&most=10"), "readout")
    assert "not certifiable with 9 questions, about 29 needed" in page
    found = certify(OUTCOMES, GRID, 0.4)
    page = part(text(client, f"{PAGE}?strategy=E&retriever=dense&t=0.5&most=40"), "readout")
    for stratum in ("near", "far"):
        assert re.search(rf"<b>{stratum}</b> certified up to <a [^>]*>{found[stratum].threshold:g}</a>", page)


def test_calibration_and_evaluation_stand_side_by_side_and_labelled(client):
    choice = choose(OUTCOMES, GRID, ByHand(0.6), seed=7)
    page = part(text(client, f"{PAGE}?strategy=E&retriever=dense&t=0.6"), "sides")
    assert page.count(">calibration</span>") == page.count(">evaluation</span>") == 2
    for side in (choice.calibration, choice.evaluation):
        assert f">{side.row.right.hits} / {side.row.right.n}</span>" in page
    assert "out of fold" in page
    assert "this line" in page and "the cheapest" in page


def test_both_signals_are_compared_with_their_areas(client):
    page = text(client, f"{PAGE}?strategy=E&retriever=dense")
    assert "nearest distance" in page and "lead over the second chunk" in page
    assert page.count("AURC") and page.count("AUGRC")


def test_the_stacked_areas_are_what_the_table_says_at_every_threshold():
    figure = threshold_figures.outcomes_over(OUTCOMES, (0.2, 0.9))
    areas = {trace["name"]: trace for trace in figure["data"]}
    for threshold in np.linspace(0.21, 0.89, 50):
        row = at(float(threshold))
        expected = {"answered right": row.right, "answered wrong": row.wrong, "refused": row.refused,
                    "bluffs": row.bluffs, "rightly refused": row.correctly_refused}  # fmt: skip
        for name, share in expected.items():
            place = np.searchsorted(areas[name]["x"], threshold, side="left") - 1  # the step that holds here
            assert areas[name]["y"][place] == share.hits, (name, threshold)


def test_the_scale_holds_every_distance_the_grid_and_the_line():
    low, high = threshold_figures.scale(OUTCOMES, GRID, 1.234)
    seen = [one.nearest for one in OUTCOMES] + [one.chunk_distance for one in OUTCOMES if one.chunk_distance]
    assert low <= min(*seen, *GRID)
    assert high >= max(1.234, *seen)
    assert threshold_figures.scale([], [], None) == (0.0, 1.0)


def test_the_distances_show_the_two_extremes():
    found = extremes(OUTCOMES)
    figure = threshold_figures.distances(OUTCOMES, found, (0.2, 1.0), lambda _: None, "rule/1")
    said = [one["text"] for one in figure["layout"]["annotations"]]
    assert said == [f"the worst {found.worst_answerable:.3f}", f"the nearest {found.best_unanswerable:.3f}"]
    counts = [len(trace["x"]) for trace in figure["data"][:4]]
    assert counts == [sum(one.chunk_distance is not None for one in OUTCOMES), 64, 21, 9]


@pytest.mark.parametrize("which", ["sweep", "sides", "distances", "costs", "signals", "bluffs", "context"])
def test_every_table_is_a_file_in_three_formats(client, which):
    query = "?strategy=E&retriever=dense&t=0.6"
    page = text(client, PAGE + query)
    for form in ("csv", "json", "md"):
        assert f"{PAGE}/{which}.{form}?strategy=E&amp;retriever=dense&amp;t=0.6" in page
        assert text(client, f"{PAGE}/{which}.{form}{query}")
    rows = json.loads(text(client, f"{PAGE}/{which}.json{query}"))["rows"]
    assert len(rows) == {
        "sweep": 22,
        "sides": 4,
        "distances": 94,
        "costs": 22,
        "context": 4,
        "bluffs": at(0.6).bluffs.hits,
    }.get(which, len(rows))


def test_the_sweep_file_holds_hits_n_share_and_interval(client):
    rows = list(csv.DictReader(io.StringIO(text(client, f"{PAGE}/sweep.csv?strategy=E&retriever=dense&t=0.5"))))
    row, share = next(row for row in rows if row["threshold"] == "0.5"), at(0.5).bluffs_near
    assert [float(row[f"near{end}"]) for end in ("", "_n", "_share", "_low", "_high")] == [
        share.hits, share.n, share.estimate, share.low, share.high]  # fmt: skip
    assert rows[0]["threshold"] == ""


def test_a_combination_without_a_model_is_read_with_the_gates(client):
    page = text(client, f"{PAGE}?strategy=E&retriever=bm25&model=sentence-transformers/all-MiniLM-L6-v2")
    assert "E with bm25" in page
    assert "gate: the first 4 chunks, distances by all-MiniLM-L6-v2" in page


def test_a_failed_combination_is_told_with_its_reason(client):
    page = text(client, "/sweeps/2/threshold?strategy=E&retriever=hybrid", 404)
    assert "is failed: out of memory" in page
    assert "Choose another one" in page


def test_a_sweep_of_which_nothing_is_recorded_says_so(client, engine):
    sweep_id = reviewed(engine, queued=KEYS, state="running")
    page = text(client, f"/sweeps/{sweep_id}/threshold", 404)
    assert f"Sweep {sweep_id} is running. None of its 5 combinations is recorded yet." in page


def test_another_combination_keeps_the_terms_but_not_the_threshold(client):
    page = text(client, f"{PAGE}?strategy=E&retriever=dense&t=0.6&bluff=50")
    form = page.split('id="combination"')[1].split("</form>")[0]
    assert '<input type="hidden" name="bluff" value="50">' in form
    assert 'name="t"' not in form
    assert 'name="wrong"' not in form  # as usual


def test_without_unanswerable_questions_nothing_is_priced_or_chosen_and_the_page_says_why(client):
    page = text(client, "/sweeps/3/threshold")
    assert "needs unanswerable questions" in page
    assert "has no unanswerable questions" in page
    assert "Choose this threshold" not in page
    assert "- (n = 0)" in page


def test_a_threshold_is_chosen_only_on_a_finished_sweep(client):
    assert "Choose this threshold" in text(client, PAGE)
    assert "Choose this threshold" not in text(client, "/sweeps/2/threshold")


@pytest.mark.parametrize(("query", "name"), [
    ("t=-0.1", "t"), ("t=2.5", "t"), ("t=nan", "t"), ("t=wide", "t"), ("bluff=-1", "bluff"), ("share=101", "share"),
    ("most=0", "most"), ("strategy=Z", "strategy"), ("retriever=magic", "retriever"), ("model=gpt", "model"),
])  # fmt: skip
def test_a_bad_parameter_is_named_with_what_is_allowed(client, query, name):
    page = text(client, f"{PAGE}?{query}", 400)
    assert f"{name} = " in page and f"{name} may be " in page


def test_an_unknown_sweep_and_an_unknown_table_are_not_found(client):
    text(client, "/sweeps/99/threshold", 404)
    text(client, f"{PAGE}/nothing.csv", 404)


def test_the_context_is_what_the_templates_use(app):
    assert_context_is_what_the_templates_use(app, "threshold", ThresholdContext)


def test_what_moving_the_line_swaps_is_on_the_page_once(client):
    page = text(client, f"{PAGE}?t=0.6")
    wanted = re.search(r'hx-select-oob="([^"]+)"', page)[1].split(",")
    assert "#prices" in page
    for name in ("readout", *(one.removeprefix("#") for one in wanted)):
        assert page.count(f'id="{name}"') == 1, name


@pytest.mark.parametrize("path", [PAGE, f"{PAGE}?t=2", f"{PAGE}/bluffs.csv?t=2", f"{PAGE}/choose"])
def test_the_page_takes_at_most_eight_statements(client, engine, path):
    statements = []

    def count(_connection, _cursor, statement, *_):
        statements.append(statement)

    event.listen(engine, "before_cursor_execute", count)
    try:
        text(client, path)
    finally:
        event.remove(engine, "before_cursor_execute", count)
    assert len(statements) <= 8, statements


def test_moving_the_line_leaves_a_short_address(client):
    sent = f"{PAGE}?strategy=E&retriever=bm25&t=0.6&most=10&bluff=20&wrong=6&refusal=1&share=20"
    response = client.get(sent, headers={"HX-Request": "true", "HX-Target": "aside#readout"})
    assert response.headers["HX-Replace-Url"] == f"{PAGE}?strategy=E&retriever=bm25&t=0.6&bluff=20"
    response = client.get(sent, headers={"HX-Request": "true", "HX-Target": "main#main"})
    assert "HX-Push-Url" in response.headers
    assert "HX-Replace-Url" not in response.headers


def test_only_the_hits_of_the_shown_combination_are_read(client, engine, monkeypatch):
    asked = []
    original = reads.hits
    monkeypatch.setattr(reads, "hits", lambda engine, ids: (asked.append(list(ids)), original(engine, ids))[1])
    text(client, f"{PAGE}?strategy=E&retriever=bm25&t=0.5")
    known = {row.key: row.id for row in reads.combinations(engine, 1)}
    assert asked == [[known[BM25_E]]]


def test_bluffs_lead_to_their_question_and_to_the_place_they_matched(client):
    page = part(text(client, f"{PAGE}?strategy=E&retriever=dense&t=2"), "bluffs")
    question, place = (re.search(rf'href="({start}[^"]+)"', page)[1].replace("&amp;", "&")
                       for start in ("/sweeps/1/queries/", "/documents/"))  # fmt: skip
    assert "t=2" in question
    text(client, question)
    assert re.search(r"#char=\d+,\d+$", place)
    text(client, place.partition("#")[0])


def test_the_price_of_a_longer_prompt_stands_beside_what_it_buys(client):
    page = part(text(client, f"{PAGE}?strategy=E&retriever=dense&t=0.6"), "context")
    row = at(0.6)
    gate = re.search(r'<tr class="chosen"><th scope="row">4.*?</tr>', page, re.DOTALL)[0]
    assert f"{row.right.hits} / {row.right.n}" in gate
    assert f"{row.bluffs.hits} / {row.bluffs.n}" in gate
    assert "tokens, mean over the answered" in page
