"""Comparing two sweeps: which two, whether they may be, what broke and what was fixed."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest
from page_contracts import assert_context_is_what_the_templates_use, assert_fragment_is_part_of_its_page
from sqlalchemy import event
from web_worlds import BM25_E, DENSE_A, DENSE_E, HYBRID_E, KEYS, outcomes_of, reviewed

from experiments.recording import outcome_rows
from store import reads
from store.engine import open_store
from store.tables import OutcomeRow
from webapp.app import create_app
from webapp.contexts.compare import CompareContext, NothingContext

PAGE = "/compare?a=1&b=2"
FLIPPED = re.compile(r'<th scope="row">(?:<a href="[^"]+">)?(q\w+)<')  # a row of the questions' table


def rewritten(engine, sweep_id, key, change):
    """Give a combination of a sweep other outcomes."""
    from sqlalchemy import delete
    from sqlmodel import Session, col

    row = next(row for row in reads.combinations(engine, sweep_id) if row.key == key)
    outcomes = [change(place, one) for place, one in enumerate(outcomes_of(key))]
    with Session(engine) as session:
        session.execute(delete(OutcomeRow).where(col(OutcomeRow.combination_id) == row.id))
        session.add_all(outcome_rows(row.id, outcomes))
        session.commit()


def lost(place, one):
    """The first ten questions that were found fall to rank 50."""
    return replace(one, rank=50) if one.needle_id and one.rank and place < 24 else one


def nearer(place, one):
    """Three far questions come near enough to be answered."""
    return replace(one, nearest=0.8) if one.stratum == "far" and one.query_id in ("far1", "far2", "far5") else one


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """1 and 2: the same but for one combination that lost and one that is not in both; 3: other documents;
    4: another hit rule; 5: interrupted; 6: failed."""
    opened = open_store(f"sqlite:///{tmp_path_factory.mktemp('compare') / 'store.db'}")
    reviewed(opened, commit="1" * 40, tag="v0.1")
    reviewed(opened, commit="2" * 40, branch="try", dirty=True, failed={HYBRID_E: "out of memory <here>"},
             versions={"bluffline": "0.2.0"})  # fmt: skip
    reviewed(opened, commit="3" * 40, corpus_hash="9" * 64)
    reviewed(opened, commit="4" * 40, hit_rule="rule/2")
    reviewed(opened, commit="5" * 40, queued=[BM25_E], state="interrupted", reason="its process ended")
    reviewed(opened, keys=[], commit="6" * 40, state="failed", reason="nothing to do")
    rewritten(opened, 2, DENSE_E, lost)
    rewritten(opened, 2, BM25_E, nearer)
    rewritten(opened, 3, DENSE_E, lost)
    yield opened
    opened.dispose()


def text(client, path=PAGE, status=200):
    response = client.get(path)
    assert response.status_code == status, response.get_data(as_text=True)[:2000]
    return response.get_data(as_text=True)


def verdict(page):
    return " ".join(re.search(r'<p class="verdict[^"]*">(.*?)</p>', page, re.DOTALL)[1].split())


def broken_questions():
    return [
        one.query_id for place, one in enumerate(outcomes_of(DENSE_E)) if lost(place, one).rank == 50 and one.rank <= 20
    ]


def test_the_first_sentence_says_whether_they_may_be_compared_and_then_what_changed(client):
    said = verdict(text(client))
    assert said.startswith("Sweeps 1 and 2 may be compared: same documents, questions, hit rule and pipeline.")
    assert f"E dense (0 fixed, {len(broken_questions())} broken, Holm p" in said
    assert "finds fewer than before" in said
    assert "For the other 3 no change is proven." in said


def test_nothing_changed_between_sweeps_with_the_same_outcomes(client):
    assert "nothing changed: all 4 combinations find the same questions" in verdict(text(client, "/compare?a=1&b=5"))


def test_broken_questions_come_first_with_their_ranks_and_lead_to_their_page(client):
    page = text(client, PAGE + f"&combination={DENSE_E}")
    assert sorted(FLIPPED.findall(page)) == sorted(broken_questions())
    assert f'href="/sweeps/2/queries/{broken_questions()[0]}"' in page
    assert client.get("/sweeps/2/queries?which=flipped&against=1").status_code == 200
    assert 'href="/sweeps/2/queries?which=flipped&amp;against=1"' in page
    assert page.index("Questions that broke") < page.index('id="combinations"')
    ranks = {one.query_id: one.rank for one in outcomes_of(DENSE_E)}
    row = re.search(rf">{broken_questions()[0]}<.*?</tr>", page, re.DOTALL)[0]
    assert re.search(rf"</span> {ranks[broken_questions()[0]]} <span aria-label=\"then\">→</span> 50", row)


def test_each_combination_has_its_counts_its_difference_and_its_tests(client):
    page = text(client)
    row = re.search(r'<th scope="row">E dense</th>.*?</tr>', page, re.DOTALL)[0]
    assert f'<span class="alarm">{len(broken_questions())}</span>' in row
    assert "finds fewer" in row
    assert re.search(r'\u22120\.\d\d</span> <span class="ci">\[\u22120\.\d\d, \u22120\.\d\d\]', row)
    assert "&lt; 0.001" in row


def test_a_combination_that_only_one_sweep_measured_is_named_with_the_reason(client):
    page = text(client)
    assert re.search(r"<b>E hybrid</b> failed in sweep 2: out of memory &lt;here&gt;", page)


def test_what_may_explain_a_difference_is_listed(client):
    page = text(client)
    for words in ("version of bluffline", "0.2.0", "2" * 12 + " with uncommitted changes"):
        assert words in page


def test_other_documents_are_counted_and_not_tested(client):
    page = text(client, "/compare?a=1&b=3")
    assert "may not be compared in full: the documents changed" in verdict(page)
    assert "no test is made" in verdict(page)
    assert ">Holm p</th>" not in page
    assert "not tested" in page
    assert "What prevents more" in page
    assert len(FLIPPED.findall(page)) == len(broken_questions())


def test_another_hit_rule_pairs_nothing_and_shows_both_numbers(client):
    page = text(client, "/compare?a=1&b=4")
    assert "may not be compared: the hit rule changed" in verdict(page)
    assert "Questions that broke" not in page
    assert "side by side" in page
    assert len(re.findall(r'<svg class="whisker', page)) == 2 * len(KEYS)


def test_without_a_decision_or_a_threshold_bluffs_are_said_not_to_be_compared(client):
    assert "Bluffs are not compared: no decision is in force, and no threshold was given." in text(client)


def test_bluffs_are_compared_at_the_threshold_in_the_address(client, engine):
    page = text(client, PAGE + "&threshold=0.9")
    assert "At threshold 0.9 (as asked), 3 unanswerable questions that had been refused are bluffed on now" in page
    row = re.search(r'<th scope="row">E bm25</th>\s*<td class="num"><span class="cell">.*?</tr>', page, re.DOTALL)[0]
    assert '<span class="alarm">3</span>' in row
    assert re.search(r'<a href="/sweeps/2/queries/far\d">far\d</a>', page)
    rows = list(csv.DictReader(io.StringIO(text(client, "/compare/bluffs.csv?a=1&b=2&threshold=0.9"))))
    changed = {row["combination"]: (row["new"], row["gone"]) for row in rows if row["new"] != "0"}
    assert changed == {BM25_E: ("3", "0")}
    data = json.loads(text(client, "/compare/report.json?a=1&b=2&threshold=0.9"))
    assert (data["threshold"], data["threshold_of"]) == (0.9, "as asked")


def test_a_sweep_that_is_not_complete_is_said_to_be_so(client):
    assert "Sweep 5 was interrupted: what it recorded is compared." in text(client, "/compare?a=1&b=5")


def test_by_default_the_newest_finished_sweep_is_compared_with_the_one_before_on_the_same_conditions(client):
    assert verdict(text(client, "/compare?b=2")).startswith("Sweeps 1 and 2")
    assert verdict(text(client, "/compare")).startswith("Sweeps 2 and 4")


@pytest.mark.parametrize("a", ["v0.1", "1111111", "1"])
def test_a_sweep_is_named_by_its_tag_its_commit_or_its_number(client, a):
    assert verdict(text(client, f"/compare?a={a}&b=try")).startswith("Sweeps 1 and 2 may be compared")


def test_two_sweeps_are_swapped_by_a_link(client):
    swap = re.search(r'class="button" href="([^"]+)">Swap', text(client, PAGE + "&k=4"))[1].replace("&amp;", "&")
    page = text(client, swap)
    assert verdict(page).startswith("Sweeps 2 and 1")
    assert "finds more than before" in verdict(text(client, swap.replace("k=4", "k=20")))
    assert '<option value="4" selected>' in page


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        (
            "/compare?a=99",
            404,
            "there is no sweep &#39;99&#39;; the store holds 5 sweeps (5, 4, 3, 2, 1); branches main, try;",
        ),
        ("/compare?a=6", 404, "sweep 6 holds no numbers: it is failed"),
        ("/compare?a=nothing", 404, "there is no sweep &#39;nothing&#39;; the store holds"),
        ("/compare?a=ffff%00&b=1", 404, "there is no sweep"),
        (PAGE + "&threshold=x", 400, "threshold ="),
        (PAGE + "&k=5", 400, "k may be one of 1, 4, 8, 20"),
        (PAGE + "&combination=Z/bm25", 400, "combination = &#39;Z/bm25&#39;"),
        (PAGE + "&sort=x", 400, "sort ="),
    ],
)
def test_what_cannot_be_read_is_named_with_what_is_allowed(client, address, status, words):
    assert words in text(client, address, status)


def test_sorting_puts_the_most_broken_first(client):
    page = text(client, PAGE + "&sort=-broken")
    names = re.findall(r'<tr>\s*<th scope="row">([^<]+)</th>\s*<td class="num"><span class="cell">', page)
    assert names[0] == "E dense"
    assert 'aria-sort="descending"' in page


def test_one_sweep_is_not_two(tmp_path):
    opened = open_store(f"sqlite:///{tmp_path / 'one.db'}")
    app = create_app(opened, root=tmp_path, allowed_hosts={"localhost"})
    assert "No sweep here holds numbers" in text(app.test_client(), "/compare")
    reviewed(opened)
    assert "Only sweep 1 holds numbers" in text(app.test_client(), "/compare")
    assert "There is nothing to compare" in text(app.test_client(), "/compare/report.md", 404)
    opened.dispose()


def test_the_tables_are_handed_out_as_files(client):
    rows = list(csv.DictReader(io.StringIO(text(client, "/compare/combinations.csv?a=1&b=2"))))
    assert [row["combination"] for row in rows] == [DENSE_E, DENSE_A, "A/bm25", BM25_E]
    assert int(rows[0]["broken"]) == len(broken_questions())
    moved = json.loads(text(client, "/compare/questions.json?a=1&b=2"))["rows"]
    assert {row["query_id"] for row in moved} == set(broken_questions())
    assert {row["after"] for row in moved} == {50}


def test_the_whole_report_is_markdown_to_paste_and_json_to_compute_with(client):
    report = text(client, "/compare/report.md?a=1&b=2")
    assert report.startswith("## Sweep 1 against sweep 2 at R@20")
    assert "### Broken" in report
    assert "| E dense |" in report
    data = json.loads(text(client, "/compare/report.json?a=1&b=2&k=4"))
    assert (data["claim"], data["k"], data["shared_questions"]) == ("all", 4, 64)
    assert data["not_compared"][0]["combination"] == "E hybrid"
    moved = json.loads(text(client, "/compare/report.json?a=1&b=2"))["questions"]
    assert {one["query_id"] for one in moved} == set(broken_questions())


def test_the_fragment_is_part_of_its_page(client):
    assert_fragment_is_part_of_its_page(client, PAGE + "&k=4&sort=p", "compare")


def test_the_contexts_are_what_the_templates_use(app):
    assert_context_is_what_the_templates_use(app, "compare", CompareContext)
    assert_context_is_what_the_templates_use(app, "compare_nothing", NothingContext)


@pytest.mark.parametrize("address", [PAGE, "/compare?a=1&b=3", "/compare/report.md?a=1&b=2"])
def test_a_comparison_takes_at_most_eight_statements(client, engine, address):
    statements = []
    event.listen(engine, "before_cursor_execute", count := lambda *args: statements.append(args[2]))
    try:
        text(client, address)
    finally:
        event.remove(engine, "before_cursor_execute", count)
    assert len(statements) <= 8, statements
