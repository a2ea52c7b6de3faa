"""The fields of one question: types, what must stand together and what excludes what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from corpus.characters import unusable
from corpus.faults import Fault
from corpus.needles import Claim
from corpus.question_rows import COLUMNS, Row, unknown_name

Stratum = Literal["near", "far"]
Require = Literal["any", "all"]
_OF_A_NEEDLE = ("needle", "document", "start", "end")
_MOST_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Draft:
    """The fields of one question, as far as they could be read; its needles and documents are yet to be found."""

    id: str
    text: str
    claims: tuple[Claim, ...]
    phrasing: str | None
    stratum: Stratum | None
    key_facts: tuple[str, ...]
    line: int
    require: Require
    relevant: tuple[tuple[str, int], ...]  # (document, grade)


def read_fields(row: Row, file: str) -> tuple[Draft, list[Fault]]:
    """Return the draft of a row and every fault of its fields.

    A draft with faults is no query, but its needle and key facts can be checked all the same.
    """
    fields = _Fields(row, file)
    return fields.draft(), fields.faults


class _Fields:
    """Reads the fields of one row and collects what is wrong with them."""

    def __init__(self, row: Row, file: str) -> None:
        self.row, self.file = row, file
        self.faults: list[Fault] = []

    def draft(self) -> Draft:
        for name in self.row.values:
            if name not in COLUMNS:
                self.fault(name, "unknown key", unknown_name(name))
        name, question = self.required("id"), self.required("question")
        claims, relevant = self.claims(), self.relevant()
        require = self.require()
        stratum, key_facts = self.text("stratum"), self.texts("key_facts")
        phrasing = self.text("phrasing")
        self.check_one_kind()
        if any(name in self.row.values for name in ("needle", "needles", "relevant")):
            self.check_answerable(stratum)
        else:
            self.check_unanswerable(stratum)
        line = self.row.line
        kind = cast("Stratum | None", stratum and stratum.strip())
        phrasing = phrasing and phrasing.strip()
        return Draft(name, question, claims, phrasing, kind, key_facts, line, require, relevant)

    def claims(self) -> tuple[Claim, ...]:
        """Return what is said about the needles: of `needle` with its place, or of each entry of `needles`."""
        if "needles" not in self.row.values:
            claim = self.claim()
            return () if claim is None else (claim,)
        entries = self.row.values["needles"]
        if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
            advice = 'Write [{"needle": "A sentence.", "document": "a.md"}, ...]; in CSV as JSON too.'
            self.fault(str(entries), "`needles` is not a list of objects", advice)
            return ()
        claims = []
        for entry in entries:
            within = _Fields(Row(self.row.line, entry), self.file)
            for name in entry:
                if name not in _OF_A_NEEDLE:
                    within.fault(name, "unknown key of a needle", f"Allowed are {', '.join(_OF_A_NEEDLE)}.")
            if not entry.get("needle"):
                within.fault(str(entry), "an entry of `needles` has no `needle`", "Copy the sentence into it.")
            within.check_places()
            claim = within.claim()
            self.faults += within.faults
            if claim is not None:
                claims.append(claim)
        return tuple(claims)

    def claim(self) -> Claim | None:
        """Return what is said about one needle, or None where nothing is or a part of it is unusable."""
        before = len(self.faults)
        needle, document = self.text("needle"), self.text("document")
        start, end = self.number("start"), self.number("end")
        if needle is None or len(self.faults) > before:
            return None
        bare = needle.strip()
        if needle != bare:
            advice = "Remove it: white space at its ends stands outside every chunk."
            self.fault(needle, "the needle begins or ends with white space", advice)
            start, end = (None if start is None else start + needle.index(bare)), None
        return Claim(bare, document and document.strip(), start, end)

    def require(self) -> Require:
        """Return how many of the needles are needed; `any` where nothing is said."""
        value = self.text("require")
        if value is None:
            return "any"
        if value.strip() not in ("any", "all"):
            advice = "Write any (one of the needles answers) or all (they are needed together)."
            self.fault(value, "`require` is unknown", advice)
        if "needles" not in self.row.values:
            self.fault(value, "`require` is given without `needles`", "Remove it: it is for several needles.")
        return cast("Require", value.strip())

    def relevant(self) -> tuple[tuple[str, int], ...]:
        """Return the judged documents with their grades."""
        value = self.row.values.get("relevant")
        if value is None:
            return ()
        if isinstance(value, list) and all(isinstance(name, str) for name in value):
            value = dict.fromkeys(value, 1)
        advice = 'Write {"document.md": 1, ...} with whole grades from 0, at least one above 0; in CSV as JSON too.'
        if not isinstance(value, dict) or not value:
            self.fault(str(value), "`relevant` is not an object of documents and grades", advice)
            return ()
        wrong = {name: grade for name, grade in value.items() if type(grade) is not int or grade < 0}
        for name, grade in wrong.items():
            self.fault(f"{name}: {grade}", "the grade is not a whole number from 0", advice)
        if not wrong and not any(value.values()):
            self.fault(str(value), "no document of `relevant` has a grade above 0", advice)
        return tuple((name, grade) for name, grade in value.items() if name not in wrong)

    def check_one_kind(self) -> None:
        """One question is answered by a needle, by several, or by documents; not by two of these."""
        given = [name for name in ("needle", "needles", "relevant") if name in self.row.values]
        if len(given) > 1:
            named = " and ".join(f"`{name}`" for name in given)
            self.fault(named, "the question says in two ways what answers it", "Keep one of them.")
        for name in ("document", "start", "end"):
            if name in self.row.values and given and "needle" not in given:
                value = str(self.row.values[name])
                advice = "Put it into the entry of its needle, or remove it."
                self.fault(value, f"`{name}` is given beside `{given[0]}`", advice)

    def check_answerable(self, stratum: str | None) -> None:
        if stratum is not None:
            advice = f"Remove `stratum`, or remove {self.field()} if the corpus does not answer the question."
            self.fault(stratum, f"a question with {self.answer()} has a stratum", advice)
        if self.row.values.get("key_facts"):
            advice = "Remove `key_facts`: they are for questions the corpus does not answer."
            self.fault(str(self.row.values["key_facts"]), f"a question with {self.answer()} has key facts", advice)
        if "needle" in self.row.values:
            self.check_places()

    def answer(self) -> str:
        """What the question has, in words."""
        return "relevant documents" if "relevant" in self.row.values else "a needle"

    def field(self) -> str:
        """The field that says so, as it is written."""
        return next(f"`{name}`" for name in ("needle", "needles", "relevant") if name in self.row.values)

    def check_places(self) -> None:
        """A start needs its document, an end its start."""
        for later, earlier in (("start", "document"), ("end", "start")):
            if later in self.row.values and earlier not in self.row.values:
                value = str(self.row.values[later])
                self.fault(value, f"`{later}` is given without `{earlier}`", f"Add `{earlier}`, or remove `{later}`.")

    def check_unanswerable(self, stratum: str | None) -> None:
        if stratum is None and not self.broken("stratum"):
            problem = "the question has neither a needle nor a stratum"
            advice = "Add `needle` if the corpus answers it, else `stratum`: near or far."
            self.fault(str(self.row.values.get("question", "")), problem, advice)
        elif stratum is not None and stratum.strip() not in ("near", "far"):
            self.fault(stratum, "the stratum is unknown", "Write near (the topic's neighbourhood) or far.")
        for name in ("document", "start", "end"):
            if name in self.row.values:
                value = str(self.row.values[name])
                self.fault(value, f"`{name}` is given without a needle", f"Add `needle`, or remove `{name}`.")

    def broken(self, name: str) -> bool:
        """Tell whether a field is there but no text, which has been said already."""
        return name in self.row.values and not isinstance(self.row.values[name], str)

    def required(self, name: str) -> str:
        value = self.row.values.get(name)
        if name == "id" and isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        text = self.text(name)
        if text is None and not self.broken(name):
            self.fault("", f"`{name}` is missing or blank", f"Give every question its `{name}`.")
        return (text or "").strip()

    def text(self, name: str) -> str | None:
        """Return a text, or None where it is absent or no text."""
        value = self.row.values.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            self.fault(str(value), f"`{name}` is not a text", "Put it in quotes.")
            return None
        self.check_usable(name, value)
        return value

    def check_usable(self, name: str, value: str) -> None:
        if len(value) > _MOST_CHARACTERS:
            problem = f"`{name}` is {len(value)} characters long"
            self.fault(value, problem, f"At most {_MOST_CHARACTERS} are allowed; is a closing quote missing?")
        elif (wrong := unusable(value)) is not None:
            self.fault(value, f"`{name}` {wrong.problem}", wrong.advice)

    def number(self, name: str) -> int | None:
        value = self.row.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.fault(str(value), f"`{name}` is not a whole number from 0", "Count code points from the start.")
            return None
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.row.values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            self.fault(str(value), f"`{name}` is not a list of texts", 'Write ["one phrase", "another"].')
            return ()
        for item in value:
            self.check_usable(name, item)
        return tuple(item.strip() for item in value)

    def fault(self, value: str, problem: str, advice: str) -> None:
        self.faults.append(Fault(self.file, self.row.line, value, problem, advice))
