"""A team's own retriever as one combination of a sweep: whole sweeps against a real server, a function, and files."""

import json

import pytest
from own_server import Paragraphs, searching, serving
from small_project import DOCUMENTS, QUESTIONS, WordEncoder, bluffline, make_project, small_project

from experiments.reading import load_sweep
from experiments.recording import from_parquet
from experiments.report import report
from experiments.runner import run_sweep
from store import reads
from store.engine import open_store

SWEEP = 'strategies = ["E"]\nretrievers = ["dense", "ours"]\nthresholds = [0.3, 0.675]\nk = [1, 4]\n'


def table(url, more=""):
    return f"""
[retrievers.ours]
url = "{url}/search"
request = {{ query = "{{query}}", limit = "{{k}}" }}
texts = "results.*.text"
ids = "results.*.id"
scores = "results.*.score"
retries = 0
{more}
"""


OFFSETS = 'documents = "results.*.document"\nstarts = "results.*.start"\nends = "results.*.end"\n'


@pytest.fixture(autouse=True)
def encoder(monkeypatch):
    found = WordEncoder()
    monkeypatch.setattr("experiments.workbench.find_encoder", lambda *_: found)
    monkeypatch.setattr("experiments.workbench.embedding_latency", lambda _encoder, questions: [1.0] * len(questions))
    monkeypatch.setattr("experiments.tracking.Ledger.push", lambda *_: None)  # the ledger has tests of its own
    return found


def swept(folder, more, sweep=SWEEP, **options):
    project = small_project(folder, sweep=sweep, more=more)
    engine = open_store(project.store_url)
    said = []
    result = run_sweep(engine, project, say=said.append, **options)
    loaded = load_sweep(engine, result.sweep_id)
    (row,) = [row for row in loaded.combinations if row.strategy == "own"]
    return loaded, row, result, said


def outcomes_of(loaded, row, folder):
    engine = open_store(f"sqlite:///{folder / 'var' / 'bluffline.db'}")
    return {one.query_id: one for one in from_parquet(reads.hits(engine, [row.id])[row.id])}


def failing_on(*texts, status=500):
    search = searching(DOCUMENTS)

    def reply(path, body, number):
        return (status, {}, b"broken") if json.loads(body)["query"] in texts else search(path, body, number)

    return reply


def test_a_server_is_one_combination_beside_the_grid_and_judged_by_the_same_rule(tmp_path):
    with serving(searching(DOCUMENTS)) as server:
        loaded, row, result, _ = swept(tmp_path, table(server.url))
    assert [one.key for one in loaded.combinations] == ["E/dense/sentence-transformers/all-MiniLM-L6-v2", "own/ours"]
    assert (row.state, result.recorded, result.failed, result.unjudged) == ("recorded", 2, 0, 0)
    outcomes = outcomes_of(loaded, row, tmp_path)
    assert outcomes["c1"].rank == 1
    hit = outcomes["c1"].hits[0]
    assert DOCUMENTS[hit.document][hit.start : hit.end].startswith("The KV cache keeps")
    assert (hit.section, hit.contains, hit.text) == ("Cache", True, None)
    assert outcomes["c1"].needle_distance is not None
    assert {name: outcomes[name].nearest is None for name in ("u1", "u2")} == {"u1": False, "u2": True}
    numbers = loaded.measures[row.id]
    assert numbers["recall_at_4"].n == 4
    assert numbers["ms_request"].n == len(QUESTIONS)
    own = row.stamp["own"]
    assert own["tally"] == {"ok": 4, "empty": 2, "timeout": 0, "error": 0, "not_asked": 0, "n": 6}
    assert own["located"]["text"] == sum(len(outcome.hits) for outcome in outcomes.values())


def test_what_its_chunks_destroy_is_not_known_without_them(tmp_path):
    with serving(searching(DOCUMENTS)) as server:
        loaded, row, *_ = swept(tmp_path, table(server.url))
    assert {one.destroyed for one in loaded.outcomes[row.id]} == {None}
    assert loaded.measures[row.id]["destroyed"].n == 0
    assert loaded.measures[row.id]["destroyed"].value is None
    assert "chunks" not in loaded.measures[row.id]
    assert (loaded.measures[row.id]["truncated"].value, loaded.measures[row.id]["truncated"].n) == (None, 0)


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_a_chunk_table_makes_destroyed_known(tmp_path, suffix):
    chunks = [chunk for chunk in Paragraphs(DOCUMENTS).chunks if "KV cache" not in chunk["text"]]
    cache = next(chunk for chunk in Paragraphs(DOCUMENTS).chunks if "KV cache" in chunk["text"])
    halves = [{**cache, "id": "half", "end": cache["start"] + 20, "text": cache["text"][:20]}]
    write_table(tmp_path / f"chunks.{suffix}", [*chunks, *halves])
    with serving(searching(DOCUMENTS)) as server:
        loaded, row, *_ = swept(tmp_path, table(server.url, f'chunks = "chunks.{suffix}"'))
    lost = {one.query_id: one.destroyed for one in loaded.outcomes[row.id] if one.needle_id}
    # The server returned a chunk that its table does not have: what was returned whole is not destroyed.
    assert lost == {"n1": False, "n2": False, "c1": False, "b1": False}
    assert loaded.measures[row.id]["chunks"].value == len(chunks) + 1
    assert row.stamp["own"]["chunks_known"] is True


def test_a_needle_that_no_chunk_of_the_table_holds_is_destroyed(tmp_path):
    cut = [
        {"id": f"{name}-{start}", "document": name, "start": start, "end": min(start + 30, len(text))}
        for name, text in DOCUMENTS.items()
        for start in range(0, len(text), 30)
    ]
    write_table(tmp_path / "chunks.jsonl", cut)
    (tmp_path / "run.trec").write_text("".join(f"{one['id']} Q0 {cut[3]['id']} 1 0.5 t\n" for one in QUESTIONS))
    loaded, row, *_ = swept(tmp_path, '[retrievers.ours]\nresults = "run.trec"\nchunks = "chunks.jsonl"\n')
    assert loaded.measures[row.id]["destroyed"].hits == 3
    assert row.stamp["own"]["located"]["offsets"] == 6


def write_table(file, rows):
    import csv

    import pyarrow as pa
    import pyarrow.parquet as pq

    if file.suffix == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    elif file.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), file)
    else:
        with file.open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def test_offsets_are_used_where_they_come_and_said(tmp_path):
    with serving(searching(DOCUMENTS)) as server:
        _, row, *_ = swept(tmp_path, table(server.url, OFFSETS))
    located = row.stamp["own"]["located"]
    assert located["offsets"] > 0
    assert located["text"] == located["ambiguous"] == located["not located"] == 0


def test_offsets_that_say_something_else_are_an_error_of_the_question(tmp_path):
    def shifted(path, body, number):
        status, headers, content = searching(DOCUMENTS)(path, body, number)
        answer = json.loads(content)
        for result in answer["results"]:
            result["start"] += 1
        return status, headers, json.dumps(answer).encode()

    with serving(shifted) as server:
        _, row, result, _ = swept(tmp_path, table(server.url, OFFSETS))
    assert row.state == "cannot be judged"
    assert "result 1: vectors.md says 'he norm" in row.reason
    assert result.unjudged == 1


def test_half_a_sentence_is_no_answer_and_a_text_that_stands_nowhere_is_shown(tmp_path):
    answers = {
        "n1": ["The norm of a vector is never"],
        "n2": ["Vectors > Norms\nThe norm of a vector   is never negative. It is zero"],  # a header of its own
        "c1": ["a text of somebody else"],
        "b1": ["vector"],  # stands at many places
        "u1": [],
        "u2": ["A batch shares one pass"],
    }
    lines = [json.dumps({"query_id": name, "results": results}) for name, results in answers.items()]
    (tmp_path / "results.jsonl").write_text("\n".join(lines), "utf-8")
    loaded, row, *_ = swept(tmp_path, '[retrievers.ours]\nresults = "results.jsonl"\n')
    outcomes = outcomes_of(loaded, row, tmp_path)
    assert {name: outcomes[name].rank for name in ("n1", "n2", "c1", "b1")} == {
        "n1": None,
        "n2": 1,  # it holds the needle's words, which the documents say once
        "c1": None,
        "b1": None,
    }
    assert outcomes["c1"].hits[0].text == "a text of somebody else"
    assert outcomes["n1"].hits[0].text is None
    assert row.stamp["own"]["located"] == {"offsets": 0, "text": 2, "ambiguous": 1, "not located": 2}
    assert row.stamp["own"]["tally"]["empty"] == 1
    assert outcomes["u1"].nearest is None  # nothing returned: refused


def test_a_question_without_an_answer_is_neither_found_nor_missed(tmp_path):
    questions = [{"id": f"x{n}", "question": f"Question {n}?", "stratum": "far"} for n in range(20)]
    with serving(failing_on("What does the KV cache keep?")) as server:
        project = small_project(tmp_path, sweep=SWEEP, more=table(server.url), questions=[*QUESTIONS, *questions])
        engine = open_store(project.store_url)
        run_sweep(engine, project)
    loaded = load_sweep(engine, 1)
    row = loaded.combinations[-1]
    assert row.state == "recorded"
    assert loaded.measures[row.id]["recall_at_4"].n == 3
    assert row.stamp["own"]["answerable"] == {"answered": 3, "asked": 4}
    assert row.stamp["own"]["failures"] == {"c1": "error: status 500: 'broken'"}
    pair = report(loaded)["pairs"]["4"][0]
    assert pair["n"] == 3  # only questions that both answered


def test_the_verdict_compares_it_with_the_leading_strategy(tmp_path):
    with serving(searching(DOCUMENTS)) as server:
        loaded, *_ = swept(tmp_path, table(server.url))
    said = report(loaded)["verdicts"]["4"]
    assert said[0].startswith("With 4 questions over 3 needles, E with dense finds")
    assert any("ours (your own) and E with dense cannot be resolved" in sentence for sentence in said)


def test_more_than_five_percent_without_an_answer_cannot_be_judged(tmp_path):
    with serving(failing_on("What does the KV cache keep?")) as server:
        loaded, row, result, said = swept(tmp_path, table(server.url))
    assert row.state == "cannot be judged"
    assert row.reason.startswith("5 of 6 requests answered: 3 ok, 2 empty, 0 timeouts, 1 error; more than 5 %")
    assert row.id not in loaded.measures
    assert row.id not in loaded.outcomes
    assert (result.recorded, result.failed, result.unjudged) == (1, 0, 1)
    assert said == [f"cannot be judged: own/ours: {row.reason}"]


def test_a_killed_sweep_does_not_ask_again_and_another_sweep_does(tmp_path, monkeypatch):
    with serving(searching(DOCUMENTS)) as server:
        with monkeypatch.context() as patched:
            patched.setattr("experiments.own_measuring.gather", _killed)
            with pytest.raises(KeyboardInterrupt):
                swept(tmp_path, table(server.url))
        assert len(server.received) == 6
        _, row, result, _ = swept(tmp_path, table(server.url))
        assert (row.state, result.sweep_id) == ("recorded", 1)
        assert len(server.received) == 6
        _, row, result, _ = swept(tmp_path, table(server.url))
        assert result.sweep_id == 2
        assert row.measured_in is None  # what it is at the moment nobody knows
        assert len(server.received) == 12


def _killed(*_):
    raise KeyboardInterrupt


def test_a_version_says_that_it_is_the_same_retriever_and_fresh_asks_all_the_same(tmp_path):
    with serving(searching(DOCUMENTS)) as server:
        swept(tmp_path, table(server.url, 'version = "1"'))
        _, row, *_ = swept(tmp_path, table(server.url, 'version = "1"'))
        assert row.measured_in is not None
        assert row.stamp["own"]["version"] == "1"
        assert len(server.received) == 6
        swept(tmp_path, table(server.url, 'version = "1"'), fresh=True)
        assert len(server.received) == 12
        swept(tmp_path, table(server.url, 'version = "2"'))
        assert len(server.received) == 18


MODULE = """
def find(query, k):
    if "paella" in query:
        return []
    return ["The norm of a vector is never negative.", {"text": "Angles", "score": 0.1}][:k]


def find_all(queries, k):
    return [find(query, k) for query in queries]


def broken(query, k):
    raise RuntimeError("no index")
"""


def test_a_function_of_the_project_is_called(tmp_path):
    (tmp_path / "team_search_a.py").write_text(MODULE, "utf-8")
    for name, batch in (("find", ""), ("find_all", "batch = true")):
        more = f'[retrievers.ours]\ncallable = "team_search_a:{name}"\n{batch}\n'
        loaded, row, *_ = swept(tmp_path, more)
        assert row.stamp["own"]["tally"] == {"ok": 5, "empty": 1, "timeout": 0, "error": 0, "not_asked": 0, "n": 6}
        assert loaded.measures[row.id]["recall_at_1"].hits == 2
        assert loaded.measures[row.id]["ms_request"].n == (0 if batch else 6)


def test_a_function_that_raises_or_is_not_there_says_so(tmp_path):
    (tmp_path / "team_search_b.py").write_text(MODULE, "utf-8")
    _, row, *_ = swept(tmp_path, '[retrievers.ours]\ncallable = "team_search_b:broken"\n')
    assert row.state == "cannot be judged"
    assert row.reason.endswith("the first: RuntimeError: no index")
    _, row, *_ = swept(tmp_path, '[retrievers.ours]\ncallable = "team_search_b:gone"\n')
    assert row.state == "failed"
    assert "team_search_b:gone cannot be imported: AttributeError" in row.reason


def test_a_run_with_unknown_chunks_and_a_file_without_some_questions_cannot_be_judged(tmp_path):
    write_table(tmp_path / "chunks.jsonl", Paragraphs(DOCUMENTS).chunks)
    known = Paragraphs(DOCUMENTS).chunks[0]["id"]
    run = [f"{one['id']} Q0 {known if one['id'] != 'n1' else 'c-99'} 1 0.5 tag\n" for one in QUESTIONS]
    (tmp_path / "run.trec").write_text("".join(run), "utf-8")
    more = '[retrievers.ours]\nresults = "run.trec"\nchunks = "chunks.jsonl"\n'
    _, row, *_ = swept(tmp_path, more)
    assert "the first: result 1: the chunk 'c-99' is not in the chunk table" in row.reason
    (tmp_path / "run.trec").write_text("".join(run[1:]), "utf-8")
    _, row, *_ = swept(tmp_path, more)
    assert "5 of 6 requests answered" in row.reason
    assert "the first: the question is not in run.trec" in row.reason


def test_check_names_every_fault_of_the_tables_at_once(tmp_path):
    (tmp_path / "run.trec").write_text("n1 Q0 c-99 1 0.5 tag\nn2 Q0\n", "utf-8")
    write_table(tmp_path / "chunks.jsonl", [{"id": "a", "text": "Angles"}, {"id": "a", "document": "x"}])
    make_project(
        tmp_path,
        sweep='retrievers = ["dense", "run", "call", "http"]\n',
        more="""
[retrievers.run]
results = "run.trec"
chunks = "chunks.jsonl"
[retrievers.call]
callable = "nowhere.module:find"
[retrievers.http]
url = "http://127.0.0.1:1/search?q={query}"
texts = "results"
headers = { Authorization = "Bearer ${NOT_SET_ANYWHERE}" }
""",
    )
    done = bluffline("check", cwd=tmp_path)
    assert done.returncode == 2
    for said in (
        "chunks.jsonl:2: neither a text nor document, start and end",
        "run.trec:2: 2 columns",
        "nowhere.module:find cannot be imported: ModuleNotFoundError",
        "the environment variable NOT_SET_ANYWHERE is not set",
    ):
        assert said in done.stdout, done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('[retrievers.ours]\nurl = "ftp://x/{query}"\ntexts = "a"\n', "must begin with http:// or https://"),
        ('[retrievers.ours]\nurl = "http://me:pw@x/{query}"\ntexts = "a"\n', "must not hold a password"),
        ('[retrievers.ours]\nurl = "http://x/{query}"\n', "nothing says where the texts stand"),
        ('[retrievers.ours]\nurl = "http://x/"\ntexts = "a"\n', "no question is sent"),
        ('[retrievers.ours]\nurl = "http://x/{query}"\ntexts = "a..b"\n', "is no path"),
        ('[retrievers.ours]\ncallable = "module"\n', "does not name a function"),
        ('[retrievers.ours]\ncallable = "m:f"\nresults = "x"\n', "must have exactly one of callable, url and results"),
        ('[retrievers.ours]\ncallable = "m:f"\nretries = 2\n', "unknown setting"),
        ('[retrievers.ours]\ncallable = "m:f"\ndeadline = 0\n', "must be above 0"),
        ('[retrievers.ours]\ncallable = "m:f"\nk = 2\n', "say nothing of R@4"),
        ('[retrievers.dense]\ncallable = "m:f"\n', "cannot be the name of a retriever"),
        ('[strategies.own]\ncuts = "blind"\n', "stands for retrievers of one's own"),
    ],
)
def test_a_faulty_table_is_named_with_its_file(tmp_path, more, said):
    from experiments.project import ProjectError, open_project

    with pytest.raises(ProjectError) as error:
        open_project(make_project(tmp_path, sweep=SWEEP, more=more))
    assert said in str(error.value)
    assert "bluffline.toml" in str(error.value)


def test_json_in_a_text_is_a_request_too(tmp_path):
    from experiments.project import open_project

    written = 'request = \'{"q": "{query}", "n": {k}, "f": ["{query}!"]}\''
    make_project(tmp_path, sweep=SWEEP, more=f'[retrievers.ours]\nurl = "http://x/"\ntexts = "a"\n{written}\n')
    (own,) = open_project(tmp_path).settings.own
    assert json.loads(own.source.body('"a"', own.k)) == {"q": '"a"', "n": 4, "f": ['"a"!']}
    assert hash(own) == hash(open_project(tmp_path).settings.own[0])  # answers are remembered by project
