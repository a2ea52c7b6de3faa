"""The fields of one question: types, what must stand together and what excludes what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from corpus.faults import Fault
from corpus.needles import Claim
from corpus.question_rows import COLUMNS, Row, unknown_name

Stratum = Literal["near", "far"]
_MOST_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Draft:
    """The fields of one question, as far as they could be read; its needle is yet to be found."""

    id: str
    text: str
    claim: Claim | None
    phrasing: str | None
    stratum: Stratum | None
    key_facts: tuple[str, ...]
    line: int


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
        claim = self.claim()
        stratum, key_facts = self.text("stratum"), self.texts("key_facts")
        phrasing = self.text("phrasing")
        if "needle" in self.row.values:
            self.check_answerable(stratum)
        else:
            self.check_unanswerable(stratum)
        line = self.row.line
        kind = cast("Stratum | None", stratum and stratum.strip())
        return Draft(name, question, claim, phrasing and phrasing.strip(), kind, key_facts, line)

    def claim(self) -> Claim | None:
        """Return what is said about the needle, or None where nothing is or a part of it is unusable."""
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

    def check_answerable(self, stratum: str | None) -> None:
        if stratum is not None:
            advice = "Remove `stratum`, or remove `needle` if the corpus does not answer the question."
            self.fault(stratum, "a question with a needle has a stratum", advice)
        if self.row.values.get("key_facts"):
            advice = "Remove `key_facts`: they are for questions without a needle."
            self.fault(str(self.row.values["key_facts"]), "a question with a needle has key facts", advice)
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
        elif any("\ud800" <= character <= "\udfff" for character in value):
            problem = f"`{name}` holds half a surrogate pair, which is no character"
            self.fault(value, problem, "Write the character itself, or both halves of the escape.")

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
