"""The queries page: cells, filters, order, flips, files, and what it refuses; and the page of one question."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape

import pytest
from drill_world import ASKED, HOSTILE, OVENS_ID, STONES, drilled
from page_contracts import assert_context_is_what_the_templates_use, assert_fragment_is_part_of_its_page, text
from sqlalchemy import event
from worlds import BLIND, SECTIONS, sweep_row

from corpus.fingerprint import questions_hash
from experiments.recording import from_parquet
from experiments.reviewing.fates import fate
from store import reads, writes
from store.engine import open_store
from store.tables import QueryRow
from webapp.app import create_app
from webapp.contexts.queries import QueriesContext
from webapp.contexts.query import QueryContext

PAGE = "/sweeps/1/queries"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    opened = open_store(f"sqlite:///{tmp_path_factory.mktemp('queries') / 'store.db'}")
    drilled(opened)
    # The same combinations, with A and E in each other's place: what A loses, E finds, and the other way round.
    drilled(
        opened,
        strategies=(
            BLIND.__class__("A", "boundaries", header=True, overlap=0, budget=200),
            SECTIONS.__class__("E", "blind", header=False, overlap=0, budget=60),
        ),
        commit="d" * 40,
    )
    drilled(opened, failed={"E/bm25": "no <memory>"}, state="interrupted", reason="killed", commit="e" * 40)
    empty = sweep_row(key="empty", settings={"thresholds": [0.5], "k": [1]}, questions_hash=questions_hash(ASKED))
    writes.add_sweep(opened, empty, [])
    yield opened
    opened.dispose()


@pytest.fixture(scope="module")
def ids(engine):
    return {row.key: row.id for row in reads.combinations(engine, 1)}


def rows(client, path):
    return list(csv.DictReader(io.StringIO(text(client, path))))


def listed(page):
    """Ids of the questions listed."""
    return [unescape(found) for found in re.findall(r'<span class="what">([^<]*?)(?: · \w+)?</span></th>', page)]


def tabs(page):
    return dict(
        re.findall(r'<a href="[^"]*" hx-get="[^"]*"(?: aria-current="true")?>([^<]+) <span class="n">(\d+)', page)
    )


def test_contexts_are_what_the_templates_use(app):
    assert_context_is_what_the_templates_use(app, "queries", QueriesContext)
    assert_context_is_what_the_templates_use(app, "query", QueryContext)


def test_fragments_are_parts_of_their_pages(client):
    assert_fragment_is_part_of_its_page(client, f"{PAGE}?t=0.3&which=bluffs&sort=-right", "queries")
    assert_fragment_is_part_of_its_page(client, f"{PAGE}/stones/course?t=0.3", "query")


def test_every_question_stands_in_the_list_with_a_cell_for_each_combination(client):
    page = text(client, PAGE)
    assert listed(page) == [one.id for one in ASKED]
    body = page.split("<tbody>")[1].split("</tbody>")[0]
    assert all(row.count('<td class="rank ') == 9 for row in body.split("<tr>")[1:])


def test_the_file_says_of_every_cell_what_its_outcome_says(client, engine, ids):
    found = {(row["query_id"], row["combination"]): row for row in rows(client, "/sweeps/1/queries.csv?t=0.3")}
    assert len(found) == len(ASKED) * 9
    names = {combination: key for key, combination in ids.items()}
    for combination, outcomes in reads.outcomes(engine, 1).items():
        for outcome in outcomes:
            row = found[outcome.query_id, names[combination]]
            assert row["fate"] == fate(outcome, 0.3).kind
            assert row["rank"] == ("" if outcome.rank is None else str(outcome.rank))
            assert row["threshold"] == "0.3"


def test_a_stricter_threshold_refuses_more_and_bluffs_less(client):
    def count(kind, threshold):
        return sum(row["fate"] == kind for row in rows(client, f"/sweeps/1/queries.csv?t={threshold}"))

    assert count("refused", 0.1) > count("refused", 2) == 0
    assert count("bluff", 0.1) < count("bluff", "none")


def test_tabs_count_what_they_lead_to(client):
    page = text(client, f"{PAGE}?t=0.3")
    counts = tabs(page)
    for words, which in (("lost everywhere", "lost"), ("destroyed", "destroyed"), ("bluffs at 0.3", "bluffs")):
        assert len(listed(text(client, f"{PAGE}?t=0.3&which={which}"))) == int(counts[words])
    assert int(counts["all"]) == len(ASKED)
    assert 0 < int(counts["destroyed"]) < len(ASKED)


def test_destroyed_is_what_a_shown_strategy_destroys(client):
    assert "stones/course" in listed(text(client, f"{PAGE}?which=destroyed"))
    assert listed(text(client, f"{PAGE}?which=destroyed&strategy=E")) == []
    assert "No question fits" in text(client, f"{PAGE}?which=destroyed&strategy=E")


def test_lost_everywhere_needs_an_answer_to_lose(client, engine):
    for query_id in listed(text(client, f"{PAGE}?t=0.3&which=lost")):
        fates = {row["fate"] for row in rows(client, "/sweeps/1/queries.csv?t=0.3") if row["query_id"] == query_id}
        assert not fates & {"kept", "silent", "bluff"}


def test_phrasing_stratum_and_words_narrow_the_list_together(client):
    assert set(listed(text(client, f"{PAGE}?phrasing=ticket"))) == {q.id for q in ASKED if q.phrasing == "ticket"}
    assert set(listed(text(client, f"{PAGE}?stratum=near"))) == {q.id for q in ASKED if q.stratum == "near"}
    assert set(listed(text(client, f"{PAGE}?stratum=answerable"))) == {q.id for q in ASKED if q.needle}
    assert listed(text(client, f"{PAGE}?words=WHICH+oven")) == ["stones/ticket"]
    assert listed(text(client, f"{PAGE}?words=tides.md&phrasing=course")) == ["moon-course"]
    assert listed(text(client, f"{PAGE}?words=holds stones&phrasing=course")) == ["stones/course"]


def test_the_list_sorts_by_id_by_how_many_are_right_and_by_a_column(client, ids):
    assert listed(text(client, f"{PAGE}?sort=id")) == sorted(one.id for one in ASKED)
    assert listed(text(client, f"{PAGE}?sort=-id")) == sorted((one.id for one in ASKED), reverse=True)
    right = [int(found) for found in re.findall(r'<td class="num">(\d+)<span', text(client, f"{PAGE}?sort=-right"))]
    assert right == sorted(right, reverse=True)
    column = f"c{ids['A/dense/keywords']}"
    table = {r["query_id"]: r for r in rows(client, "/sweeps/1/queries.csv") if r["combination"] == "A/dense/keywords"}
    ranks = [table[one]["rank"] for one in listed(text(client, f"{PAGE}?sort={column}&stratum=answerable"))]
    numbers = [int(rank) for rank in ranks if rank]
    assert numbers == sorted(numbers)
    assert ranks[len(numbers) :] == [""] * (len(ranks) - len(numbers))


def test_flips_against_another_sweep_are_marked_and_counted(client):
    page = text(client, f"{PAGE}?against=2&which=flipped&t=none&strategy=A&strategy=E")
    assert "stones/course" in listed(page)
    assert "▼ ✕" in page and "turned" in page
    assert re.search(r"Against sweep 2, \d+ of 15 questions turned for the worse and \d+ for the better", page)
    before = [row for row in rows(client, "/sweeps/1/queries.csv?against=2&t=none") if row["before"]]
    assert {row["combination"].split("/")[0] for row in before} <= {"A", "E"}
    for row in before:
        assert (row["before"] in ("kept", "silent")) != (row["fate"] in ("kept", "silent"))


def test_without_a_choice_flips_are_against_the_sweep_before(client):
    assert "Against sweep 1," in text(client, "/sweeps/2/queries?which=flipped")
    assert "Against sweep" not in text(client, "/sweeps/2/queries")


def test_combinations_are_filtered_and_named(client):
    page = text(client, f"{PAGE}?strategy=E&retriever=dense&retriever=bm25")
    assert "2 of 9 combinations" in page
    assert page.count('class="rank-head"') == 2
    assert "under both combinations" in page


def test_links_to_questions_carry_the_list(client):
    page = text(client, f"{PAGE}?phrasing=ticket&sort=-right&t=0.3")
    assert f'href="{PAGE}/stones/ticket?phrasing=ticket&amp;sort=-right&amp;t=0.3"' in page


def test_questions_are_other_peoples_words(client):
    for path in (PAGE, f"{PAGE}/stones/ticket", f"{PAGE}/stones/course?open=1,4,7", f"{PAGE}/near-literal"):
        page = text(client, path)
        assert HOSTILE not in page and "<script>alert(1)" not in page and "<b>heat" not in page
    assert "&lt;img src=x onerror=alert(2)&gt;" in text(client, PAGE)


def test_more_than_two_hundred_questions_come_in_pages(tmp_path, client):
    engine = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    drilled(engine, questions_hash="many")
    many = [QueryRow(questions_hash="many", query_id=f"q{n:03d}", position=100 + n, text=f"t{n}") for n in range(400)]
    writes.add_questions(engine, many)
    small = create_app(engine, root=tmp_path, allowed_hosts={"localhost"}).test_client()
    first, last = text(small, PAGE), text(small, f"{PAGE}?page=3")
    assert len(listed(first)) == 200 and "1 to 200 of 415" in first and 'rel="next"' in first
    assert len(listed(last)) == 15 and "401 to 415 of 415" in last and 'rel="prev"' in last
    assert "page may be a whole number from 1 to 3" in text(small, f"{PAGE}?page=4", 400)
    engine.dispose()


@pytest.mark.parametrize("form", ["csv", "json", "md"])
def test_tables_are_handed_out(client, form):
    for path in (f"/sweeps/1/queries.{form}?which=destroyed", f"/sweeps/1/hits.{form}?query=stones/course"):
        body = text(client, path)
        assert json.loads(body)["rows"] if form == "json" else len(body.splitlines()) > 2


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("t=3", "t may be a number from 0 to 2"),
        ("t=low", "t may be a number from 0 to 2"),
        ("which=odd", "which may be one of all, lost, destroyed, bluffs, flipped."),
        ("phrasing=course2", "phrasing may be one of course, ticket."),
        ("stratum=mid", "stratum may be one of answerable, near, far."),
        ("sort=c999", "sort may be one of id, right"),
        ("against=1", "against may be one of"),
        ("model=x", "model may be one or more of keywords."),
    ],
)
def test_what_cannot_be_read_is_named(client, query, said):
    assert said in text(client, f"{PAGE}?{query}", 400)


def test_sweeps_that_broke_off_or_hold_nothing_say_so(client):
    page = text(client, "/sweeps/3/queries")
    assert "This sweep is interrupted (killed)." in page and "no &lt;memory&gt;" in page
    assert "8 of 9 combinations" in page
    assert "bluffline run" in text(client, "/sweeps/4/queries")
    assert "There is no such sweep" in text(client, "/sweeps/9/queries", 404)


@pytest.mark.parametrize(
    "path",
    [f"{PAGE}?which=flipped&against=2", f"{PAGE}/stones/course?which=flipped&against=2", f"{PAGE}/near-literal"],
)
def test_a_page_takes_at_most_eight_statements(client, engine, path):
    asked = []
    event.listen(engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    text(client, path)
    assert len([one for one in asked if one.lstrip().upper().startswith("SELECT")]) <= 8


# ---- one question ---------------------------------------------------------------------------------------------


def columns(page):
    """The combinations whose hits are shown: name and html."""
    return dict(re.findall(r'<section class="answer" aria-label="([^"]+)">(.*?)</section>', page, re.S))


def test_the_hits_shown_are_those_recorded(client, engine, ids):
    path = f"{PAGE}/stones/course?open={ids['E/dense/keywords']},{ids['B/bm25']}&t=none"
    shown = columns(text(client, path))
    assert list(shown) == ["B bm25", "E dense"]
    for name, key in (("E dense", "E/dense/keywords"), ("B bm25", "B/bm25")):
        recorded = from_parquet(reads.hits(engine, [ids[key]])[ids[key]])
        hits = next(one for one in recorded if one.query_id == "stones/course").hits
        assert shown[name].count('class="hit') == min(4, len(hits))
        assert shown[name].count("<details") == max(0, len(hits) - 4)
        for hit in hits:
            assert f"{hit.distance:.3f}" in shown[name]
            assert hit.locator in unescape(shown[name])
    file = rows(client, f"/sweeps/1/hits.csv?query=stones/course&open={ids['B/bm25']}&t=0.3")
    hits = next(one for one in from_parquet(reads.hits(engine, [ids["B/bm25"]])[ids["B/bm25"]])
                if one.query_id == "stones/course").hits  # fmt: skip
    assert [(row["document"], int(row["start"]), float(row["distance"])) for row in file] == [
        (hit.document, hit.start, hit.distance) for hit in hits
    ]
    assert [row["kept"] for row in file] == [str(n < 4 and hit.distance < 0.3).lower() for n, hit in enumerate(hits)]


def test_the_line_runs_between_what_is_kept_and_what_is_not(client, ids):
    shown = columns(text(client, f"{PAGE}/stones/course?open={ids['E/dense/keywords']}&t=0.5"))["E dense"]
    before, behind = shown.split('<div class="cutline">threshold 0.5')
    distances = [float(found) for found in re.findall(r'title="cosine distance">(\d\.\d+)', before)]
    assert distances and all(distance < 0.5 for distance in distances)
    rest = [float(found) for found in re.findall(r'title="cosine distance">(\d\.\d+)', behind)]
    assert rest and rest[0] >= 0.5


def test_where_distances_do_not_grow_with_the_rank_each_hit_says_on_which_side_it_is(client, ids):
    shown = columns(text(client, f"{PAGE}/stones/course?open={ids['E/bm25']}&t=0.3"))["E bm25"]
    if "over the line" in shown:
        assert "cutline" not in shown.split("the gate looks no further")[0]


def test_with_no_threshold_there_is_no_line(client, ids):
    assert "cutline" not in text(client, f"{PAGE}/stones/course?open={ids['E/dense/keywords']}&t=none")


def test_a_needle_is_marked_in_hits_with_header_and_overlap_set_apart(client, ids):
    page = columns(text(client, f"{PAGE}/stones/course?open={ids['E/dense/keywords']},{ids['B/dense/keywords']}"))
    assert "<mark>An oven 🔥🔥 holds &lt;b&gt;heat&lt;/b&gt; in its stones.</mark>" in page["E dense"]
    assert '<span class="header-line">[Ovens &lt;i&gt;all&lt;/i&gt; &gt; Heat &amp; &lt;script&gt;' in page["E dense"]
    assert '<span class="overlap">' in page["B dense"] and "header-line" not in page["B dense"]
    assert ">needle</span>" in page["E dense"]


def test_half_a_needle_is_not_shown_as_one(client, ids):
    page = columns(text(client, f"{PAGE}/stones/course?open={ids['A/dense/keywords']}"))["A dense"]
    assert 'class="half"' in page
    assert "No chunk of this strategy holds the needle whole" in page
    assert "destroyed by the cuts" in page


def test_the_needle_stands_in_its_document_with_a_link_that_marks_it(client):
    page = text(client, f"{PAGE}/stones/course?strategy=E")
    place = page.split('<section class="place"')[1].split("</section>")[0]
    assert "<mark>An oven 🔥🔥 holds &lt;b&gt;heat&lt;/b&gt; in its stones.</mark>" in place
    at = f"{STONES.start},{STONES.end}"
    assert f"#char={at}" in place
    link = unescape(re.search(r'href="(/documents/[^"]+)"', place)[1])
    assert link.startswith("/documents/guides/ovens%20&%20%3Cmore%3E.md?") and f"char={at}" in link
    assert f'id="char={at}"' in text(client, link.partition("#")[0])


def test_strategies_that_cut_the_needle_apart_are_shown_where_they_do(client):
    page = text(client, f"{PAGE}/stones/course")
    place = page.split('<section class="place"')[1].split("</section>")[0]
    assert '<span class="chunk-cut">A 2</span>' in place
    assert "A cuts it apart" in place
    assert "chunk-cut" not in text(client, f"{PAGE}/stones/course?strategy=E").split('<section class="place"')[1]


def test_both_wordings_stand_next_to_each_other_with_their_ranks(client):
    page = text(client, f"{PAGE}/stones/course?phrasing=course")
    wordings = re.findall(r'<section class="phrasing" aria-label="Wording ([^"]+)">(.*?)</section>', page, re.S)
    assert [name for name, _ in wordings] == ["stones/course", "stones/ticket"]
    assert all(body.count('<td class="rank ') == 9 for _, body in wordings)
    assert f'href="{PAGE}/stones/ticket?phrasing=course"' in wordings[1][1]
    assert len(re.findall(r'class="phrasing"', text(client, f"{PAGE}/door"))) == 1


def test_an_unanswerable_question_says_what_it_matched(client):
    page = text(client, f"{PAGE}/near-literal?t=none")
    assert "The corpus does not answer this question. With no threshold, all 9 combinations bluff." in page
    lures = page.split('<div class="lures">')[1].split('id="hits"')[0]
    assert "literal match" in lures
    assert "the corpus says “the ferry bring" in lures or "the corpus says “new stones in spring”" in lures
    assert '<span class="shared">spring</span>' in lures
    assert "9 combinations" in lures or len(re.findall('<article class="lure">', lures)) > 1


def test_stepping_follows_the_list_as_filtered_and_sorted(client):
    query = "?phrasing=ticket&sort=-id&t=0.3"
    order = listed(text(client, PAGE + query))
    page = text(client, f"{PAGE}/{order[1]}{query}")
    assert unescape(re.search(r'rel="prev" class="button" href="([^"]+)"', page)[1]) == f"{PAGE}/{order[0]}{query}"
    assert unescape(re.search(r'rel="next" class="button" href="([^"]+)"', page)[1]) == f"{PAGE}/{order[2]}{query}"
    assert f"2 of {len(order)}" in page
    assert 'rel="prev"' not in text(client, f"{PAGE}/{order[0]}{query}")
    assert 'rel="next"' not in text(client, f"{PAGE}/{order[-1]}{query}")
    assert "not in the filtered list" in text(client, f"{PAGE}/door{query}")


def test_hits_are_opened_and_closed_by_their_cell(client, ids):
    one = ids["A/bm25"]
    page = text(client, f"{PAGE}/door?open={ids['E/bm25']}")
    url = next(
        unescape(found) for found in re.findall(r'hx-get="([^"]+)"', page) if f"open={ids['E/bm25']}%2C{one}" in found
    )
    assert list(columns(text(client, url))) == ["A bm25", "E bm25"]
    assert columns(text(client, f"{PAGE}/door?open=none")) == {}
    assert "Choose combinations above" in text(client, f"{PAGE}/door?open=none")
    assert len(columns(text(client, f"{PAGE}/door"))) == 3


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        (f"{PAGE}/nobody", 404, "Sweep 1 did not ask &#39;nobody&#39;."),
        (f"{PAGE}/door?open=999", 400, "open may be ids of combinations of this sweep"),
        (f"{PAGE}/door?open=1,2,3,4,5,6,7", 400, "open may be at most 6"),
        (f"{PAGE}/door?open=x", 400, "open may be one or more whole numbers"),
        ("/sweeps/1/hits.csv", 404, "did not ask &#39;&#39;"),
        ("/sweeps/9/queries/door", 404, "There is no such sweep"),
    ],
)
def test_a_question_that_cannot_be_shown_says_why(client, path, status, said):
    assert said in text(client, path, status)


def test_a_question_of_a_sweep_without_outcomes_is_shown_as_it_was_asked(client):
    assert "No combination has an outcome of this question" in text(client, "/sweeps/4/queries/moon-course")


def test_a_document_that_is_not_on_record_leaves_the_rest_of_the_page(tmp_path):
    engine = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    drilled(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM document")
    client = create_app(engine, root=tmp_path, allowed_hosts={"localhost"}).test_client()
    page = text(client, f"{PAGE}/stones/course")
    assert 'class="place"' not in page
    assert OVENS_ID.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in page
    engine.dispose()
