"""SQuAD 1.1 and 2.0 JSON: the sentence around an annotated answer becomes the needle."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from corpus.characters import unusable
from corpus.collection import Entry
from corpus.documents import of_entry
from corpus.faults import Fault, shortened
from corpus.importing.material import Material
from corpus.json_lines import refusal
from corpus.question_rows import Row
from corpus.sentences import split_sentences

Unit = Literal["articles", "paragraphs"]
Rule = Literal["needles", "documents"]

# The whole file is one JSON value, so it is held in memory; the largest SQuAD file has 42 MB.
_MOST_MEGABYTES = 200
_ID = re.compile(r'"id"\s*:\s*"((?:[^"\\]|\\.)*)"')
_BETWEEN = "\n\n"


class _Passage(NamedTuple):
    """A paragraph, where it came to stand."""

    document: str
    start: int  # in its document
    text: str
    shift: int  # characters cut off in front of it, which the annotated offsets count


@dataclass
class _Reading:
    """What is read of a file so far."""

    file: str
    lines: Mapping[str, int]
    entries: list[Entry] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    seen: dict[str, str] = field(default_factory=dict)
    changed: int = 0

    def fault(self, name: str, value: str, problem: str, advice: str) -> None:
        where = self.lines.get(name)
        self.faults.append(Fault(self.file, where, value, problem, advice))


def read_squad(path: Path, unit: Unit = "articles", rule: Rule = "needles") -> Material:
    """Read a SQuAD file.

    A question's needle is the sentence (or the sentences) its annotated answer lies in, at its own place; answers of
    several annotators in different sentences are several needles, any of which answers. Impossible questions are
    unanswerable and near the topic.

    Args:
        path: SQuAD 1.1 or 2.0 JSON.
        unit: Whether each article or each paragraph becomes a document.
        rule: Whether sentences are needles, or the documents they stand in are judged relevant.
    """
    file = path.as_posix()
    refused = refusal(path, _MOST_MEGABYTES)
    if refused is not None:
        return Material((), file, (), [refused])
    try:
        raw = path.read_bytes().decode("utf-8-sig")
        articles = json.loads(raw)["data"]
        if not isinstance(articles, list):
            raise TypeError("`data` is no list")
    except json.JSONDecodeError as error:
        around = error.doc[max(error.pos - 20, 0) : error.pos + 20]
        problem = f"the file is not JSON ({error.msg.lower()} at column {error.colno})"
        return Material((), file, (), [Fault(file, error.lineno, around, problem, "Get the file anew.")])
    except (ValueError, KeyError, TypeError, RecursionError) as error:  # no UTF-8, or a number too long to read
        problem = "the file is no SQuAD file"
        advice = f'It holds {{"data": [{{"title", "paragraphs": [...]}}, ...]}} in UTF-8 ({type(error).__name__}).'
        return Material((), file, (), [Fault(file, None, "", problem, advice)])
    reading = _Reading(file, _lines_of_ids(raw))
    titles: dict[str, int] = {}
    for number, article in enumerate(articles):
        _article(reading, f"data[{number}]", article, titles, unit, rule)
    notes = []
    if reading.changed:
        notes.append(f"{reading.changed:,} paragraphs lost a byte order mark or white space at their ends.")
    documents = [of_entry(entry, path) for entry in reading.entries]
    return Material(documents, file, reading.rows, reading.faults, notes, lines=reading.places)


def _lines_of_ids(raw: str) -> dict[str, int]:
    """The line each id stands on: the parser does not say."""
    found: dict[str, int] = {}
    line, at = 1, 0
    for match in _ID.finditer(raw):
        line += raw.count("\n", at, match.start())
        at = match.start()
        found[json.loads(f'"{match[1]}"')] = line
    return found


def _article(reading: _Reading, where: str, article: Any, titles: dict[str, int], unit: Unit, rule: Rule) -> None:
    paragraphs = article.get("paragraphs") if isinstance(article, dict) else None
    if not isinstance(paragraphs, list):
        reading.fault("", where, "the article has no list of paragraphs", "Remove it, or get the file anew.")
        return
    title = _shown_title(article.get("title"))
    name = title
    while name in titles:
        titles[title] += 1
        name = f"{title} ({titles[title]})"
    titles[name] = 1
    passages = list(_passages(reading, where, name, paragraphs, unit))
    words = title.replace("_", " ")
    texts: dict[str, str] = {}
    for passage, _, _ in passages:
        texts[passage.document] = texts.get(passage.document, "").ljust(passage.start, "\n") + passage.text
    reading.entries += [Entry(0, document, words, text) for document, text in texts.items()]
    for passage, place, questions in passages:
        for number, question in enumerate(questions):
            _question(reading, f"{place}.qas[{number}]", question, passage, rule)


def _shown_title(title: Any) -> str:
    """A title as it becomes a document's id: in one line, of characters that can be seen."""
    words = " ".join(unquote(str(title or "")).split())
    return "".join(character for character in words if character.isprintable()) or "untitled"


def _passages(
    reading: _Reading, where: str, name: str, paragraphs: list[Any], unit: Unit
) -> Iterator[tuple[_Passage, str, list[Any]]]:
    start = 0
    for number, paragraph in enumerate(paragraphs):
        place = f"{where}.paragraphs[{number}]"
        context = paragraph.get("context") if isinstance(paragraph, dict) else None
        questions = paragraph.get("qas", []) if isinstance(paragraph, dict) else None
        if not isinstance(context, str) or not context.strip() or not isinstance(questions, list):
            reading.fault("", place, "the paragraph has no context or no list of questions", "Remove it.")
            continue
        if (wrong := unusable(context)) is not None:
            reading.fault("", place, f"the paragraph {wrong.problem}", f"{wrong.advice} Or remove the paragraph.")
            continue
        # Line ends are left as they are when that would move offsets.
        bare = context.lstrip("\ufeff \t\r\n")
        shift = len(context) - len(bare)
        text = bare.rstrip().replace("\r\n", " \n").replace("\r", "\n")
        reading.changed += text != context
        document = name if unit == "articles" else f"{name}/{number + 1:03}"
        yield _Passage(document, start if unit == "articles" else 0, text, shift), place, questions
        start += len(text) + len(_BETWEEN)


def _question(reading: _Reading, where: str, question: Any, passage: _Passage, rule: Rule) -> None:
    name = str(question.get("id") or "") if isinstance(question, dict) else ""
    asked = question.get("question") if isinstance(question, dict) else None
    if not name or not isinstance(asked, str) or not asked.strip():
        reading.fault(name, name or where, "the question has no id or no text", "Remove it, or get the file anew.")
        return
    if name in reading.seen:
        problem = f"the question's id is used already at {reading.seen[name]}"
        reading.fault(name, name, problem, "Give every question an id of its own.")
        return
    reading.seen[name] = where
    values: dict[str, object] = {"id": name, "question": asked.strip()}
    answers = question.get("answers") or []
    if question.get("is_impossible") or not answers:
        if not question.get("is_impossible") and "is_impossible" not in question:
            reading.fault(name, name, "the question has no answer", "Remove it; only SQuAD 2.0 has impossible ones.")
            return
        values["stratum"] = "near"
    elif rule == "documents":
        if not _spans(reading, name, answers, passage):
            return
        values["relevant"] = {passage.document: 1}
    else:
        spans = _spans(reading, name, answers, passage)
        if not spans:
            return
        needles = [_needle(passage, *span) for span in spans]
        values |= needles[0] if len(needles) == 1 else {"needles": needles, "require": "any"}
    number = len(reading.rows) + 1
    reading.places[number] = reading.lines.get(name, 0)
    reading.rows.append(Row(number, values))


def _spans(reading: _Reading, name: str, answers: Any, passage: _Passage) -> list[tuple[int, int]]:
    """Return the ranges of the sentences that hold the answers, each once; none where an answer is not there."""
    found: dict[tuple[int, int], None] = {}
    if not isinstance(answers, list):
        reading.fault(name, shortened(str(answers)), "the answers are no list", "Get the file anew.")
        return []
    for answer in answers:
        words, start = (answer.get("text"), answer.get("answer_start")) if isinstance(answer, dict) else (None, None)
        if not isinstance(words, str) or not words.strip() or not isinstance(start, int) or isinstance(start, bool):
            problem = "an answer has no text or no offset"
            reading.fault(name, shortened(str(answer)), problem, 'Write {"text": ..., "answer_start": ...}.')
            return []
        begin = start - passage.shift
        if begin < 0 or not passage.text.startswith(words.rstrip(), begin):
            there = passage.text[max(begin, 0) : max(begin, 0) + len(words)]
            at = passage.text.find(words)
            stands = f"It stands at {at + passage.shift}. " if at >= 0 else "It stands nowhere in the paragraph. "
            problem = f"the answer is not at its offset {start}, where '{shortened(there, 60)}' stands"
            reading.fault(name, words, problem, f"{stands}Correct `answer_start`; it counts code points.")
            return []
        found[_sentence(passage.text, begin, begin + len(words.rstrip()))] = None
    return list(found)


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the range of the sentences that a range touches, itself included."""
    touched = [one for one in split_sentences(text) if one.start < end and start < one.end]
    return min([start, *(one.start for one in touched)]), max([end, *(one.end for one in touched)])


def _needle(passage: _Passage, start: int, end: int) -> dict[str, object]:
    words = passage.text[start:end]
    bare = words.strip()
    at = passage.start + start + words.index(bare)
    return {"needle": bare, "document": passage.document, "start": at, "end": at + len(bare)}
