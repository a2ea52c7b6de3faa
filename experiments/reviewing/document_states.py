"""What became of documents: those a sweep was measured without, and how their files stand to what was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from corpus.documents import Document, LoadedDocuments
from corpus.faults import Fault

SETTING = "failed_documents"  # the name under which a sweep's settings keep them
MOST_KEPT = 200

CHANGED, GONE, NEW, UNREADABLE = "changed since", "gone since", "new on disk", "cannot be read"


class FailedDocument(NamedTuple):
    """A document that could not be read."""

    file: str  # as a document's id: relative to the documents folder
    problem: str  # a sentence
    advice: str


class Finding(NamedTuple):
    """In what a file differs from what was measured."""

    state: str
    reason: str


class Comparison(NamedTuple):
    """A measured corpus beside the files it was read from.

    Attributes:
        folder: The documents folder.
        findings: Documents whose file is not what was measured, by id; unreadable files that were never measured too.
        new: Documents that were not measured.
        fault: Why nothing could be compared; empty where it could.
    """

    folder: str
    findings: Mapping[str, Finding]
    new: tuple[Document, ...] = ()
    fault: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """Documents by what is the matter with them; states of which there are none are left out."""
        found = Counter(finding.state for finding in self.findings.values())
        found[NEW] += len(self.new)
        return {state: found[state] for state in (CHANGED, GONE, UNREADABLE, NEW) if found[state]}


def of_faults(faults: Sequence[Fault], folder: Path) -> tuple[FailedDocument, ...]:
    """Faults of documents as failed documents, in their order."""
    return tuple(FailedDocument(_name(fault.file, folder), _sentence(fault), fault.advice) for fault in faults)


def as_setting(faults: Sequence[Fault], folder: Path) -> dict[str, list[dict[str, str]]]:
    """What a sweep keeps of the documents it was measured without: the first 200; nothing where there are none."""
    kept = of_faults(faults[:MOST_KEPT], folder)
    return {SETTING: [one._asdict() for one in kept]} if kept else {}


def failed_documents(settings: Mapping[str, Any]) -> tuple[FailedDocument, ...]:
    """The documents that a sweep was measured without, as its settings keep them."""
    return tuple(FailedDocument(one["file"], one["problem"], one["advice"]) for one in settings.get(SETTING, ()))


def compare_with_files(measured: Mapping[str, tuple[str, str]], loaded: LoadedDocuments, folder: Path) -> Comparison:
    """Set a measured corpus beside what is in the documents folder now.

    Args:
        measured: Title and hash of the text of each measured document, by id.
        loaded: The folder as it is read now, with the settings of the project.
        folder: The documents folder.
    """
    failed = of_faults(loaded.faults, folder)
    whole = next((one for one in failed if one.file == folder.as_posix()), None)
    if whole is not None:  # the folder itself cannot be read: that says nothing of any single document
        return Comparison(folder.as_posix(), {}, (), f"{whole.problem} {whole.advice}")
    now = {one.id: one for one in loaded.documents}
    findings = {one.file: Finding(UNREADABLE, f"{one.problem} {one.advice}") for one in failed}
    for name, (title, sha256) in measured.items():
        if name in findings:
            continue
        if name not in now:
            findings[name] = Finding(GONE, "the documents folder does not have it any more")
        elif now[name].sha256 != sha256:
            findings[name] = Finding(CHANGED, "the file holds another text than was measured")
        elif now[name].title != title:  # titles go into the headers of chunks
            findings[name] = Finding(CHANGED, "the file has another title than was measured")
    return Comparison(
        folder.as_posix(), findings, tuple(document for document in loaded.documents if document.id not in measured)
    )


def _name(file: str, folder: Path) -> str:
    path = Path(file)
    return path.relative_to(folder).as_posix() if path != folder and path.is_relative_to(folder) else file


def _sentence(fault: Fault) -> str:
    problem = fault.problem if fault.line is None else f"line {fault.line}: {fault.problem}"
    shown = f": '{fault.value}'" if fault.value else ""
    return f"{problem[:1].upper()}{problem[1:]}{shown}."
