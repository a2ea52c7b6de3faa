"""A baseline in a file: the same side again, in lines that differ where questions differ, and refused when spoilt."""

from __future__ import annotations

import json

import pytest
from made_sweeps import STAMP
from web_worlds import KEYS, reviewed

from experiments.reviewing.baselines import BaselineError, read_baseline, write_baseline
from experiments.reviewing.sides import Line, sides
from experiments.reviewing.whole_comparison import compare
from store import reads
from store.engine import open_store

LINE = Line(0.525, KEYS[2], STAMP, ("near",), "decision 3")


@pytest.fixture(scope="module")
def side(tmp_path_factory):
    engine = open_store(f"sqlite:///{tmp_path_factory.mktemp('baseline') / 'store.db'}")
    reviewed(engine, commit="1" * 40, tag="v1", failed={KEYS[4]: "out of memory"})
    found = sides(engine, reads.sweeps(engine))[0]
    engine.dispose()
    return found


@pytest.fixture
def file(side, tmp_path):
    place = tmp_path / "baseline.json"
    place.write_text(write_baseline(side, LINE), encoding="utf-8")
    return place


def test_what_is_read_is_what_was_written(side, file):
    again = read_baseline(file)
    assert again.name == "baseline.json"
    assert (again.sweep.id, again.sweep.commit, again.sweep.tag) == (None, "1" * 40, "v1")
    assert again.sweep.settings == side.sweep.settings
    assert again.line == LINE
    assert [(row.key, row.state, row.reason) for row in again.combinations] == [
        (row.key, row.state, row.reason) for row in side.combinations
    ]
    assert [row.query_id for row in again.asked] == [row.query_id for row in side.asked]
    for key, found in side.outcomes.items():
        was = {one.query_id: (one.rank, one.destroyed, round(one.nearest, 6)) for one in found}
        assert {one.query_id: (one.rank, one.destroyed, one.nearest) for one in again.outcomes[key]} == was
    assert write_baseline(again, again.line) == file.read_text("utf-8")


def test_a_side_compared_with_its_own_file_is_the_same(side, file):
    comparison = compare(read_baseline(file), side, 20, LINE)
    assert comparison.may.claim == "all"
    assert {(len(one.change.fixed), len(one.change.broken), one.change.n) for one in comparison.found} == {(0, 0, 64)}
    assert [(len(one.new), len(one.gone), one.n) for one in comparison.bluffs.found] == [(0, 0, 30)]


def test_one_question_is_one_line(side, file):
    changed = side._replace(
        outcomes={
            key: [one._replace(rank=99) if one.query_id == "q3a" else one for one in found]
            for key, found in side.outcomes.items()
        }
    )
    before, after = file.read_text("utf-8").splitlines(), write_baseline(changed, LINE).splitlines()
    different = [new for old, new in zip(before, after, strict=True) if old != new]
    assert len(different) == 2
    assert any(line.startswith('  {"id": "q3a"') for line in different)
    assert any(line.startswith(' "sha256"') for line in different)
    assert len(file.read_bytes()) < 60_000


def test_a_missing_outcome_stays_missing(side, tmp_path):
    fewer = side._replace(outcomes={key: found[1:] for key, found in side.outcomes.items()})
    file = tmp_path / "b.json"
    file.write_text(write_baseline(fewer, None), encoding="utf-8")
    again = read_baseline(file)
    assert again.line is None
    assert {len(found) for found in again.outcomes.values()} == {len(side.asked) - 1}


def edited(file, change):
    content = json.loads(file.read_text("utf-8"))
    change(content)
    file.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: content.update(format="other"), "this is no baseline of Bluffline"),
        (
            lambda content: content.update(version=2),
            ":3: it is of another version than the 1 that this Bluffline reads",
        ),
        (lambda content: content["questions"][0].update(text="reworded"), "it was changed by hand, or merged"),
        (lambda content: content.pop("sweep"), "something in it is missing or of another kind ('sweep')"),
        (lambda content: content["questions"][0]["outcomes"].pop(), "something in it is missing"),
        (lambda content: content["questions"][0]["outcomes"].__setitem__(0, [0, 0.5]), "a rank is 0"),
        (lambda content: content["questions"].append(content["questions"][0]), "a question stands there twice"),
    ],
)
def test_a_spoilt_file_is_refused_with_the_reason(file, change, words):
    edited(file, change)
    with pytest.raises(BaselineError) as error:
        read_baseline(file)
    assert words in str(error.value)
    assert str(error.value).startswith(str(file))


@pytest.mark.parametrize(
    ("content", "words"),
    [(b'{"format":\n<<<<<<< HEAD', ":2: not readable as JSON"), (b"\xff\xfe{", "in UTF-8"), (b"[]", "no baseline")],
)
def test_what_is_no_baseline_at_all_is_refused(tmp_path, content, words):
    file = tmp_path / "b.json"
    file.write_bytes(content)
    with pytest.raises(BaselineError, match=words):
        read_baseline(file)
    with pytest.raises(BaselineError, match="the baseline cannot be read"):
        read_baseline(tmp_path / "gone.json")
