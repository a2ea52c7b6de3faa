"""Asking a real HTTP server: what is sent, what is read, and what is said when it does not work."""

import asyncio
import gzip
import json
import socketserver
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from own_server import OwnServer, searching, serving
from small_project import DOCUMENTS

from experiments.own import asking, endpoint
from experiments.own.asking import ask_all
from experiments.own.endpoint import read_answer
from experiments.own.kept_answers import KeptAnswers
from experiments.own.responses import tally
from experiments.own.spec import Endpoint, OwnRetriever

PATHS = {"texts": "results.*.text", "ids": "results.*.id", "scores": "results.*.score"}
REQUEST = {"query": "{query}", "limit": "{k}"}


def retriever(server: OwnServer, *, request=REQUEST, headers=(), method="POST", path="/search", **settings):
    source = Endpoint(server.url + path, method, tuple(headers), request, PATHS)
    return OwnRetriever("ours", source, **{"k": 5, "deadline": 5.0, "retries": 0, **settings})


def asked(own, queries, kept, advance=lambda _: None):
    return ask_all(own, queries, kept, root=kept.root, seed=1, advance=advance)


@pytest.fixture
def kept(tmp_path):
    answers = KeptAnswers(tmp_path / "answers" / "ours.jsonl")
    answers.root = tmp_path
    return answers


def replying(status=200, content=b'{"results": []}', **headers):
    return lambda *_: (status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def results(*texts):
    return json.dumps({"results": [{"text": text, "id": text, "score": 1} for text in texts]}).encode()


def test_texts_ids_and_scores_are_read_from_where_the_paths_lead(kept):
    with serving(searching(DOCUMENTS)) as server:
        (answer,) = asked(retriever(server), ["What does the KV cache keep?"], kept)
    assert answer.status == "ok"
    assert answer.returned[0].text.startswith("The KV cache keeps keys")
    assert answer.returned[0].id == "serving.md-2"
    assert answer.returned[0].score == 3.0
    assert answer.milliseconds > 0


def test_a_question_is_escaped_as_json_says_and_k_stays_a_number(kept):
    odd = 'a "quote", a \\ and {k}\nand \u2028 and 🜁'
    with serving(replying()) as server:
        asked(retriever(server), [odd], kept)
    assert json.loads(server.received[0][2]) == {"query": odd, "limit": 5}


def test_a_question_is_escaped_in_an_address(kept):
    with serving(replying()) as server:
        asked(retriever(server, request=None, method="GET", path="/find?q={query}&n={k}"), ["a&b =ä/?"], kept)
    assert server.received[0][0] == "/find?q=a%26b%20%3D%C3%A4%2F%3F&n=5"


def test_secrets_come_from_the_environment_and_are_in_no_record_and_no_reason(kept, monkeypatch):
    monkeypatch.setenv("SEARCH_TOKEN", "s3cret-token")
    with serving(replying(403, b"no access for Bearer s3cret-token")) as server:
        own = retriever(server, headers=[("Authorization", "Bearer ${SEARCH_TOKEN}"), ("X-Plain", "plain-secret")])
        (answer,) = asked(own, ["q"], kept)
    assert server.received[0][1]["Authorization"] == "Bearer s3cret-token"
    assert answer.reason == "status 403: 'no access for Bearer ${SEARCH_TOKEN}'"
    written = json.dumps([own.record, own.words])
    assert "s3cret" not in written
    assert "plain-secret" not in written


def test_a_variable_that_is_not_set_is_named_before_anything_is_asked(kept, monkeypatch):
    monkeypatch.delenv("SEARCH_TOKEN", raising=False)
    with serving(replying()) as server, pytest.raises(ValueError, match="SEARCH_TOKEN is not set"):
        asked(retriever(server, headers=[("Authorization", "${SEARCH_TOKEN}")]), ["q"], kept)
    assert server.received == []


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (replying(404, b"<h1>no such page</h1>"), "status 404: '<h1>no such page</h1>'"),
        (replying(content=b"<html>hello</html>"), "the answer is not JSON"),
        (replying(content=b'{"results": [{"text": "a"'), "the answer is not JSON"),
        (replying(content=b'{"hits": []}'), "the answer has no 'results', it has 'hits'"),
        (replying(content=b'{"results": "none"}'), "'results' is a text, not a list"),
        (replying(content=b'{"results": [{"id": "a", "text": 3}]}'), "result 1: its text is 3, not a text"),
        (replying(content=b'{"results": [{"score": 1}]}'), "result 1 has neither text nor id"),
        (replying(content=b'{"results": [{"text": "a", "score": NaN}]}'), "NaN is no JSON number"),
        (replying(content=b"[" * 200_000), "nested too deeply"),
        (replying(302, b"", Location="http://example.invalid/"), "redirects to http://example.invalid"),
    ],
)
def test_every_failure_says_what_came(kept, reply, reason):
    with serving(reply) as server:
        (answer,) = asked(retriever(server), ["q"], kept)
    assert answer.status == "error"
    assert reason in answer.reason
    assert len(answer.reason) < 600


def test_an_answer_that_is_too_large_is_not_read_to_its_end(kept, monkeypatch):
    monkeypatch.setattr(endpoint, "SIZE_LIMIT", 1000)
    with serving(replying(content=b" " * 100_000)) as server:
        (answer,) = asked(retriever(server), ["q"], kept)
    assert answer.reason == "status 200: the answer is larger than 1,000 bytes"


def packed(content, encoding="gzip"):
    return replying(content=content, **{"Content-Encoding": encoding})


def test_a_packed_answer_is_read_and_one_that_unpacks_to_too_much_or_is_broken_is_not(kept):
    whole = gzip.compress(results("a"))
    bomb = gzip.compress(bytes(100_000_000))
    replies = [
        packed(whole),
        packed(bomb),
        packed(gzip.compress(bomb), "gzip, gzip"),
        packed(whole[:-9]),
        packed(b"no"),
    ]
    reasons = [
        "",
        "larger than 10,000,000 bytes",
        "is packed as 'gzip, gzip'",
        "in the middle of its gzip",
        "is no gzip",
    ]
    for number, (reply, reason) in enumerate(zip(replies, reasons, strict=True)):
        with serving(reply) as server:
            (answer,) = asked(retriever(server, retries=0), [f"packed {number}"], kept)
        assert answer.status == ("error" if reason else "ok")
        assert reason in answer.reason


def test_a_redirect_on_the_same_host_is_followed(kept):
    def reply(path, _body, _number):
        return (307, {"Location": "/there"}, b"") if path == "/search" else (200, {}, results("found"))

    with serving(reply) as server:
        (answer,) = asked(retriever(server), ["q"], kept)
    assert answer.returned[0].text == "found"
    assert [path for path, _, _ in server.received] == ["/search", "/there"]
    assert json.loads(server.received[1][2])["query"] == "q"


def test_what_may_succeed_later_is_tried_again_and_what_cannot_is_not(kept, monkeypatch):
    monkeypatch.setattr(asking, "FIRST_WAIT", 0.01)
    flaky = [(503, {}, b"busy"), (429, {"Retry-After": "0"}, b"slow down"), (200, {}, results("at last"))]
    with serving(lambda *_: flaky.pop(0)) as server:
        (answer,) = asked(retriever(server, retries=2), ["q"], kept)
    assert answer.status == "ok"
    assert len(server.received) == 3
    with serving(replying(400, b"bad request")) as server:
        (answer,) = asked(retriever(server, retries=2), ["other"], kept)
    assert len(server.received) == 1
    with serving(replying(500, b"broken")) as server:
        (answer,) = asked(retriever(server, retries=1), ["another"], kept)
    assert answer.reason == "status 500: 'broken' (2 attempts)"


def test_a_server_that_asks_for_a_pause_is_given_it_up_to_a_minute(kept, monkeypatch):
    monkeypatch.setattr(asking, "FIRST_WAIT", 0.0)
    paused, replies = [], [(429, {"Retry-After": "45"}, b""), (200, {}, results("x"))]

    async def pause(seconds):
        paused.append(seconds)

    monkeypatch.setattr(asking, "sleep", pause)
    with serving(lambda *_: replies.pop(0)) as server:
        (answer,) = asked(retriever(server, retries=1), ["q"], kept)
    assert (answer.status, paused) == ("ok", [45.0])
    assert answer.milliseconds < 45_000  # the pause is not the retriever's
    with serving(replying(429, b"", Retry_After="3600")) as server:
        (answer,) = asked(retriever(server, retries=5), ["other"], kept)
    assert "asks to wait 3600 s" in answer.reason
    assert len(server.received) == 1


def test_one_request_that_hangs_does_not_stop_the_others(kept):
    others = threading.Semaphore(0)

    def reply(_path, body, _number):
        if json.loads(body)["query"] == "q0":  # hangs until all the others are answered
            return (200, {}, results("found")) if all(others.acquire(timeout=30) for _ in range(11)) else (500, {}, b"")
        others.release()
        return 200, {}, results("found")

    with serving(reply) as server:
        answers = asked(retriever(server, deadline=60.0, concurrency=2), [f"q{n}" for n in range(12)], kept)
    assert [answer.status for answer in answers] == ["ok"] * 12


def test_an_answer_that_never_comes_is_a_timeout(kept):
    release = threading.Event()

    def reply(*_):
        release.wait(60)
        return 200, {}, results("too late")

    with serving(reply) as server:
        (answer,) = asked(retriever(server, deadline=0.3), ["q"], kept)
        release.set()
    assert (answer.status, answer.reason) == ("timeout", "no answer within 0.3 s")


class Dripping(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.recv(65536)
        with suppress(OSError):  # whoever asked has gone
            self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            while not self.server.over.wait(0.1):  # for as long as somebody reads
                self.request.sendall(b" ")


def test_an_answer_that_trickles_is_cut_off_at_the_deadline_of_the_whole(kept):
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Dripping) as server:
        server.daemon_threads, server.over = True, threading.Event()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        source = Endpoint(f"http://127.0.0.1:{server.server_address[1]}/", "POST", (), REQUEST, PATHS)
        # Without a deadline over the whole this would never come back: each read is soon enough.
        (answer,) = asked(OwnRetriever("ours", source, k=5, deadline=0.5, retries=0), ["q"], kept)
        server.over.set()
        server.shutdown()
        thread.join()
    assert answer.status == "timeout"


def test_a_server_that_is_not_there_is_given_up_after_ten_questions(kept):
    with serving(replying()) as server:
        own = retriever(server)
    answers = asked(own, [f"q{n}" for n in range(30)], kept)
    went = tally(answers)
    assert went.error >= 10
    assert went.not_asked == 30 - went.error
    assert "ConnectError" in answers[0].reason or "ConnectError" in answers[-1].reason
    assert not went.judged


def test_answers_are_kept_and_failures_are_asked_again(kept):
    def reply(_path, body, _number):
        return (500, {}, b"no") if json.loads(body)["query"] == "bad" else (200, {}, results("found"))

    with serving(reply) as server:
        own = retriever(server)
        first = asked(own, ["good", "bad", "good"], kept)
        assert len(server.received) == 2  # a question that stands twice is asked once
        again = KeptAnswers(kept._file)
        again.root = kept.root
        second = asked(own, ["good", "bad"], again)
        assert len(server.received) == 3
    assert first[0] == first[2] == second[0]


def test_a_line_torn_by_a_kill_costs_that_line_only(kept):
    with serving(replying(content=results("found"))) as server:
        asked(retriever(server, concurrency=1), ["one", "two"], kept)
    data = kept._file.read_bytes()
    kept._file.write_bytes(data[:-20])
    again = KeptAnswers(kept._file)
    again.root = kept.root
    assert again.get("one") is not None
    assert again.get("two") is None
    with serving(replying(content=results("found"))) as server:
        asked(retriever(server), ["one", "two"], again)
    assert KeptAnswers(kept._file).get("two") is not None


def test_a_cancelled_sweep_stops_asking(kept):
    class CancelledError(Exception):
        pass

    def cancel(_):
        raise CancelledError

    with serving(replying()) as server, pytest.raises(CancelledError):
        asked(retriever(server, concurrency=1), [f"q{n}" for n in range(50)], kept, cancel)
    assert len(server.received) < 10


def test_a_notebook_that_runs_a_loop_can_ask_too(kept):
    async def in_a_loop(own):
        return asked(own, ["q"], kept)

    with serving(replying(content=results("found"))) as server:
        own = retriever(server)
        with ThreadPoolExecutor(1) as pool:  # this thread may have a loop of its own
            (answer,) = pool.submit(lambda: asyncio.run(in_a_loop(own))).result()
    assert answer.status == "ok"


def test_columns_of_different_lengths_are_an_error():
    body = b'{"documents": [["a", "b"]], "ids": [["1"]]}'
    with pytest.raises(ValueError, match="2 texts, 1 ids"):
        read_answer(body, {"texts": "documents.0", "ids": "ids.0"})
    assert [one.text for one in read_answer(body, {"texts": "documents.0"})] == ["a", "b"]
    assert read_answer(b'{"documents": null}', {"texts": "documents"}) == []


def test_an_element_without_what_a_path_asks_for_keeps_its_place():
    body = b'{"hits": [{"text": "a"}, {"text": "b", "id": 7}]}'
    first, second = read_answer(body, {"texts": "hits.*.text", "ids": "hits.*.id"})
    assert (first.id, second.id) == (None, "7")
