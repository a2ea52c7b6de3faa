"""A documents folder as a team might have it: every format, and every way in which a file cannot be read."""

from __future__ import annotations

import errno
import io
import json
import os
import wave
from pathlib import Path
from typing import Any

import pytest
from made_files import Text, book, pdf, prose, repacked, slides, word, workbook, zipped

FERRY = "The night ferry to Skagen sails from pier seven at half past nine."
HONEY = "Honey keeps for three thousand years as long as the jar stays shut."
QUESTIONS = (
    {"id": "ferry", "question": "When does the night ferry to Skagen sail?", "needle": FERRY},
    {"id": "far", "question": "How do I cook paella?", "stratum": "far"},
)
SETTINGS = """
[sweep]
strategies = ["A", "E"]

[extraction]
megabytes = 3
unpacked_megabytes = 50
pages = 5
time_limit = 7
ocr = false
"""
# What cannot be read, and why.
BROKEN = {
    "broken/bomb.docx": "too-large",
    "broken/damaged.pdf": "damaged",
    "broken/empty.md": "empty",
    "broken/large.txt": "too-large",
    "broken/locked.docx": "password",
    "broken/long.pdf": "too-large",
    "broken/picture.png": "unsupported",
    "broken/pictures.pdf": "image-only",
    "broken/slow.xlsx": "too-slow",
}
READ = (
    *("book.epub", "deck.pptx", "ferry.pdf", "film.srt", "notes.txt", "page.html", "prices.xlsx", "readme.md"),
    *("report.docx", "stock.csv", "talk.vtt"),
)


def closing(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let nobody list a folder: permissions would not keep out the administrator, who may run the tests."""
    listed = os.scandir

    def scandir(path: str) -> Any:
        if Path(path) == folder:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)


def odd_project(root: Path) -> Path:
    """Write a project whose documents are everything at once."""
    documents = root / "documents"
    (documents / "broken").mkdir(parents=True)
    for name, content in (_whole() | _broken()).items():
        (documents / name).write_bytes(content)
    (root / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in QUESTIONS))
    (root / "bluffline.toml").write_text(SETTINGS)
    return root


def _whole() -> dict[str, bytes]:
    return {
        "readme.md": b"# Read me\n\n## Keys\n\nThe key to the boathouse hangs behind the barometer.\n",
        "notes.txt": "Naïve notes. The café closes on Mondays.\n".encode("cp1252"),
        "page.html": b"<html><head><title>Weather</title><script>alert(1)</script></head><body><nav>Home</nav><main>"
        b"<h1>Weather</h1><p>Fog is announced by two long blasts of the horn.</p></main></body></html>",
        "ferry.pdf": pdf([_page(1), _page(2), _page(3)]),
        "report.docx": word(_report),
        "deck.pptx": slides(_deck),
        "prices.xlsx": workbook(_prices),
        "stock.csv": b"item,shelf\nrope,12\nanchor,13\n",
        "talk.vtt": f"WEBVTT\n\n00:00.000 --> 00:04.000\nWelcome to the talk about bees.\n\n"
        f"00:08.400 --> 00:12.900\n{HONEY}\n\n00:13.000 --> 00:15.000\nThank you all.\n".encode(),
        "talk.wav": _silence(16),
        "film.srt": b"1\n00:00:01,000 --> 00:00:03,000\nThe lighthouse keeper counts the ships.\n",
        "book.epub": book({"one.xhtml": "<html><body><h1>Knots</h1><p>A bowline never slips.</p></body></html>"}),
    }


def _broken() -> dict[str, bytes]:
    return {
        "broken/bomb.docx": zipped({"word/document.xml": bytes(60_000_000)}),
        "broken/damaged.pdf": pdf([_page(1)])[:300],
        "broken/empty.md": b"",
        "broken/large.txt": b"word " * 620_000,
        "broken/locked.docx": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
        + bytes(504)
        + "EncryptedPackage".encode("utf-16-le")
        + bytes(512),
        "broken/long.pdf": pdf([_page(1)] * 6),
        "broken/picture.png": b"\x89PNG\r\n\x1a\n" + bytes(50),
        "broken/pictures.pdf": pdf([[]], picture=bytes(10_000)),
        "broken/slow.xlsx": _slow_workbook(280_000),
    }


def _page(number: int) -> list[Text]:
    words = {
        1: ["Timetables of the harbour are kept by the harbour master and no one else."],
        2: [FERRY, "Bicycles are carried on the lower deck for a small fee."],
        3: ["In winter the pilots alone go out, and the quay stays dark until spring."],
    }
    heading = {1: "Harbour", 2: "Night boats", 3: "Winter"}[number]
    return [Text(70, 60, heading, 18, "F2"), *prose(70, 100, words[number])]


def _report(document: object) -> None:
    document.add_heading("Report", 1)  # type: ignore[attr-defined]
    document.add_paragraph("The mast was replaced in March by the yard in Esbjerg.")  # type: ignore[attr-defined]


def _deck(made: object) -> None:
    slide = made.slides.add_slide(made.slide_layouts[1])  # type: ignore[attr-defined]
    slide.shapes.title.text = "Crew"
    slide.placeholders[1].text = "The cook is also the radio officer."


def _prices(made: object) -> None:
    sheet = made.active  # type: ignore[attr-defined]
    sheet.title = "Price list"
    for row in (
        ("item", "price in crowns", "unit"),
        ("lamp oil", 42, "litre"),
        ("tar", 17, "kilogram"),
        ("sailcloth", 260, "bolt"),
    ):
        sheet.append(row)


def _slow_workbook(rows: int) -> bytes:
    """Millions of cells that look alike: a small file, soon made, that takes far longer than the limit to read."""
    written = f"<row>{'<c><v>7</v></c>' * 10}</row>" * rows
    sheet = f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{written}</sheetData></worksheet>'
    plain = workbook(lambda made: made.active.append([1]))
    return repacked(plain, lambda name, data: sheet.encode() if name == "xl/worksheets/sheet1.xml" else data)


def _silence(seconds: int) -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as made:
        made.setnchannels(1)
        made.setsampwidth(1)
        made.setframerate(8000)
        made.writeframes(bytes([128]) * 8000 * seconds)
    return buffer.getvalue()
