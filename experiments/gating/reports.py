"""The gate told to people and scripts: text, Markdown for a pull request, JSON, and JUnit XML for a CI service."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree as ET  # written only, never parsed

from experiments.comparison_report import provenance
from experiments.gating.judging import Judged
from experiments.gating.results import Broken, Result, State
from experiments.reviewing.sides import Side
from experiments.sections import Section, as_markdown, as_text
from experiments.words import plural

_WORDS: dict[State, str] = {
    "pass": "passes",
    "fail": "fails",
    "cannot be judged": "cannot be judged",
}
_MARKS: dict[State, str] = {"pass": "✓ pass", "fail": "✗ fail", "cannot be judged": "? cannot be judged"}
_MOST_NAMED = 50  # questions of one result, for people; data has them all
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def headline(judged: Judged) -> str:
    """The whole in a sentence: how many checks there are, failed, or cannot be judged."""
    states = [result.state for result in judged.results]
    failed, unknown = states.count("fail"), states.count("cannot be judged")
    parts = [f"{failed} of {plural(len(states), 'check')} failed" if failed else "",
             f"{unknown} of {plural(len(states), 'check')} cannot be judged" if unknown else ""]  # fmt: skip
    why = ", ".join(part for part in parts if part) or f"{plural(len(states), 'check')} held"
    return f"The gate {_WORDS[judged.state]}: {why}."


def sections(judged: Judged) -> Iterator[Section]:
    """The report."""
    against = judged.baseline if isinstance(judged.baseline, str) else f"against {provenance(judged.baseline)}"
    yield Section(headline(judged), judged.asides, [provenance(judged.candidate), against])
    rows = [(_MARKS[one.state], one.rule, one.name, one.sentence) for one in judged.results]
    yield Section("Checks", items=[f"{mark}: {rule}, {name}: {sentence}" for mark, rule, name, sentence in rows])
    for one in judged.results:
        if one.state != "pass" and one.broken:
            shown = [(each.query_id, each.text, each.what) for each in one.broken[:_MOST_NAMED]]
            more = len(one.broken) - len(shown)
            yield Section(
                f"Questions behind: {one.rule}, {one.name} ({len(one.broken)})",
                [f"{more} more are in the JSON and JUnit reports."] if more else [],
                header=("Question", "Asked", "What"),
                rows=shown,
            )


def text(judged: Judged) -> str:
    """For a terminal."""
    return as_text(sections(judged))


def markdown(judged: Judged) -> str:
    """For a pull request."""
    return as_markdown(sections(judged))


def record(judged: Judged) -> dict[str, Any]:
    """Everything as data, of JSON's types."""
    return {
        "state": judged.state,
        "headline": headline(judged),
        "candidate": _side(judged.candidate),
        "baseline": None if isinstance(judged.baseline, str) else _side(judged.baseline),
        "no_baseline": judged.baseline if isinstance(judged.baseline, str) else None,
        "asides": list(judged.asides),
        "results": [
            {**one._asdict(), "broken": [each._asdict() for each in one.broken]} for one in judged.results
        ],
    }  # fmt: skip


def _side(side: Side) -> dict[str, Any]:
    row = side.sweep
    return {"name": side.name, "sweep_id": row.id, "key": row.key, "commit": row.commit, "branch": row.branch,
            "tag": row.tag, "dirty": row.dirty}  # fmt: skip


def junit(judged: Judged, now: datetime | None = None) -> str:
    """JUnit XML: a test case a rule and combination, a failure where it fails, an error where it cannot be judged.

    It has what the strictest of the schemas in use asks for: Ant's, with properties and both outputs.

    Args:
        judged: The gate.
        now: Its time stamp.
    """
    lines = [f"{_MARKS[one.state]}: {one.rule}, {one.name}: {one.sentence}" for one in judged.results]
    return _suite(judged.results, dict(_properties(judged)), [*judged.asides, *lines], now)


def junit_unjudged(why: str, now: datetime | None = None) -> str:
    """The same where there is no sweep to judge: one error."""
    result = Result("gate", "sweep", "a finished sweep", "cannot be judged", why, {})
    return _suite([result], {}, [why], now)


def _suite(results: Sequence[Result], properties: dict[str, str], lines: Sequence[str], now: datetime | None) -> str:
    states = [one.state for one in results]
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    root = ET.Element("testsuites")
    suite = ET.SubElement(root, "testsuite", {
        "name": "bluffline gate", "package": "bluffline", "id": "0", "hostname": "localhost",
        "timestamp": f"{moment:%Y-%m-%dT%H:%M:%S}", "time": "0", "tests": str(len(results)),
        "failures": str(states.count("fail")), "errors": str(states.count("cannot be judged")),
    })  # fmt: skip
    known = ET.SubElement(suite, "properties")
    for name, value in properties.items():
        ET.SubElement(known, "property", {"name": name, "value": _clean(value)})
    for one in results:
        case = ET.SubElement(suite, "testcase", {
            "name": _clean(f"{one.rule}: {one.name}"), "classname": _clean(f"bluffline.gate.{one.combination}"),
            "time": "0",
        })  # fmt: skip
        if one.state != "pass":
            kind = "failure" if one.state == "fail" else "error"
            told = ET.SubElement(case, kind, {"message": _clean(one.sentence), "type": one.state.replace(" ", "-")})
            told.text = _clean("\n".join([one.sentence, *map(_line, one.broken)]))
    ET.SubElement(suite, "system-out").text = _clean("\n".join(lines))
    ET.SubElement(suite, "system-err")
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _properties(judged: Judged) -> Iterator[tuple[str, str]]:
    yield "candidate", provenance(judged.candidate)
    baseline = judged.baseline
    yield "baseline", baseline if isinstance(baseline, str) else provenance(baseline)


def _line(broken: Broken) -> str:
    return f"{broken.query_id}: {broken.text} ({broken.what})"


def _clean(text: str) -> str:
    """Text without the characters that XML cannot hold in any form."""
    return _NOT_XML.sub("\ufffd", text)
