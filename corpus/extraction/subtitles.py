"""Transcripts of audio and video: WebVTT and SubRip (SRT). Cues become running text that leads back to their times.

Written here because readers of these formats give up on the first faulty cue; this one leaves it out and says so.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from corpus.extraction.blocks import Block, Piece, plain, rendered
from corpus.extraction.extracted import Extracted, Extraction, ExtractionError
from corpus.extraction.limits import Limits
from corpus.extraction.text_files import decoded

_PAUSE = 2.0  # seconds of silence after which a paragraph begins
_LONG = 600  # characters after which a paragraph ends with the next sentence
_TIME = re.compile(r"(?:(\d{1,4}):)?([0-5]?\d):([0-5]?\d)[.,](\d{1,3})$")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<\d[\d:.]*>|\{\\[^{}]*\}")
_VOICE = re.compile(r"<v(?:\.[^\s.<>]*)*\s([^<>]+)>")  # no part of it may match what the next one does
_NOT_CUES = ("NOTE", "STYLE", "REGION")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)]*$")


class _Cue(NamedTuple):
    begin: float
    end: float
    speaker: str
    text: str


def read(data: bytes, limits: Limits, format_name: str) -> Extracted:
    """Return the words of a transcript, with a locator for each cue.

    Raises:
        ExtractionError: If the bytes are no text, or no cue of them can be read.
    """
    text, encoding = decoded(data)
    cues: list[_Cue] = []
    faulty: list[int] = []
    for found in _cues(text.split("\n")):
        if isinstance(found, int):
            faulty.append(found)
        else:
            cues.append(found)
    if faulty and not cues:
        problem = "no cue of the transcript has a time that can be read"
        raise ExtractionError("damaged", problem, "Export it as WebVTT anew.", faulty[0])
    whole = rendered(list(_paragraphs(_without_repeats(cues))))
    partial = (_said(faulty),) if faulty else ()
    facts = Extraction(format_name, headings=whole.headings, pages=len(cues), partial=partial)
    return Extracted(whole.text, None, whole.locators, facts, encoding)


def _said(lines: Sequence[int]) -> str:
    shown = ", ".join(map(str, lines[:10])) + (", ..." if len(lines) > 10 else "")
    cues, verb = ("cue", "is") if len(lines) == 1 else ("cues", "are")
    return f"{len(lines)} {cues} with a faulty time on line{'s' * (len(lines) > 1)} {shown} {verb} left out"


def _cues(lines: Sequence[str]) -> Iterator[_Cue | int]:
    """Yield every cue; of one with a faulty time its line number."""
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        if "-->" not in line:
            # A block that is no cue ends at a blank line: its words are not spoken.
            if line.split(" ")[0] in _NOT_CUES:
                while at < len(lines) and lines[at].strip():
                    at += 1
            at += 1
            continue
        number, at = at + 1, at + 1
        words = []
        while at < len(lines) and lines[at].strip() and "-->" not in lines[at]:
            words.append(lines[at].strip())
            at += 1
        if at < len(lines) and "-->" in lines[at] and words and words[-1].isdigit():
            words.pop()  # the next cue's number, where the blank line between the two is missing
        times = _times(line)
        if times is None:
            yield number
        elif words:
            spoken = "\n".join(words)
            voice = _VOICE.search(spoken)
            yield _Cue(*times, voice[1].strip() if voice else "", plain(html.unescape(_TAG.sub("", spoken))))


def _times(line: str) -> tuple[float, float] | None:
    begin, _, rest = line.partition("-->")
    end = rest.split()
    seconds = (_seconds(begin.strip()), _seconds(end[0] if end else ""))
    if seconds[0] is None or seconds[1] is None or seconds[1] < seconds[0]:
        return None
    return seconds[0], seconds[1]


def _seconds(time: str) -> float | None:
    found = _TIME.match(time)
    if found is None:
        return None
    hours, minutes, whole, fraction = found.groups()
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(whole) + int(fraction.ljust(3, "0")) / 1000


def _without_repeats(cues: Sequence[_Cue]) -> Iterator[_Cue]:
    """Yield the cues without lines that only stay on the screen: captions that roll show each line twice."""
    before: list[str] = []
    until = 0.0
    for cue in cues:
        lines = [" ".join(line.split()) for line in cue.text.split("\n")]
        repeated = 0
        if cue.begin - until < _PAUSE:
            repeated = next((n for n in range(min(len(lines), len(before)), 0, -1) if before[-n:] == lines[:n]), 0)
        before, until = lines, cue.end
        words = " ".join(line for line in lines[repeated:] if line)
        if words:
            yield cue._replace(text=words)


def _paragraphs(cues: Iterator[_Cue]) -> Iterator[Block]:
    """Join cues to paragraphs: sentences go on from cue to cue, up to a pause, another speaker or a good length."""
    pieces: list[Piece] = []
    last: _Cue | None = None
    for cue in cues:
        ended = last is not None and (
            cue.begin - last.end >= _PAUSE
            or cue.speaker != last.speaker
            or (sum(len(piece.text) for piece in pieces) >= _LONG and _SENTENCE_END.search(last.text))
        )
        if ended:
            yield Block(tuple(pieces))
            pieces = []
        said = f"{cue.speaker}: {cue.text}" if cue.speaker and not pieces else cue.text
        pieces.append(Piece(f" {said}" if pieces else said, f"t={cue.begin:g},{cue.end:g}"))
        last = cue
    if pieces:
        yield Block(tuple(pieces))
