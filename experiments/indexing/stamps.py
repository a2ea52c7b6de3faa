"""What an index was made with: extractor, pipeline and model. What was made with two of them cannot be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from corpus.extraction.reading import extractor_of
from experiments.model_stamps import differs
from experiments.models import Encoder, ModelError, ModelStamp
from experiments.project import Project, find_encoder
from experiments.provenance import PIPELINE
from experiments.words import plural
from store.files import FAILED
from store.tables import FileRow


class Stamps(NamedTuple):
    """What an index made now would be made with."""

    pipeline: str
    model: ModelStamp | None  # None where it cannot be found, or was not looked for
    name: str = ""  # of the model, as the project names it

    @property
    def words(self) -> str:
        """For people."""
        model = model_words(self.model._asdict()) if self.model else self.name or "no model that can be found"
        return f"{model}, pipeline {self.pipeline}"


def stamps_of(project: Project, find: Callable[[str], Encoder] | None = None) -> Stamps:
    """What an index of this project made now would be made with; the model's files are looked at, it is not loaded."""
    name = project.settings.gate_model
    try:
        return Stamps(PIPELINE, (find(name) if find else find_encoder(project, name)).stamp, name)
    except ModelError:
        return Stamps(PIPELINE, None, name)


def named_stamps(project: Project) -> Stamps:
    """The same at a glance, for a page: the model goes by its name and nobody looks for its files."""
    return Stamps(PIPELINE, None, project.settings.gate_model)


def model_words(stamp: Mapping[str, Any]) -> str:
    """A model's stamp in a few words."""
    name = str(stamp.get("name", "")).rstrip("/").rsplit("/", 1)[-1] or "a model"
    precision = f", {stamp['precision']}" if stamp.get("precision", "fp32") != "fp32" else ""
    return f"{name} (files {str(stamp.get('files', ''))[:12]}, {stamp.get('dimensions')} dimensions{precision})"


def made_with(row: FileRow) -> str:
    """What a document in the index was made with, in words."""
    return f"{model_words(row.stamp or {})}, pipeline {row.pipeline}, {row.extractor}"


def in_index(row: FileRow) -> bool:
    """Whether a file's chunks and vectors are there, of whatever age."""
    return row.stamp is not None and row.state != FAILED


def why_stale(row: FileRow, now: Stamps) -> str:
    """Why a document has to be indexed again although its file did not change; empty where it need not."""
    if not in_index(row):
        return ""
    extractor = extractor_of(str((row.extraction or {}).get("format", "")))
    if extractor is not None and row.extractor != extractor:
        return f"it was read by {row.extractor}; documents of its format are read by {extractor} now"
    if row.pipeline != now.pipeline:
        return f"it was indexed by pipeline {row.pipeline}; this is pipeline {now.pipeline}"
    stamp, model = row.stamp or {}, now.model
    if model is not None and differs(stamp, model._asdict()):
        return f"it was embedded by {model_words(stamp)}; the model at hand is {model_words(model._asdict())}"
    if model is None and now.name and stamp.get("name") != now.name:
        return f"it was embedded by {model_words(stamp)}; the project's model is {now.name}"
    return ""


def refusal(rows: Sequence[FileRow], now: Stamps) -> str:
    """Why an index must not be asked: part of it, or all, was made with something else than what is at hand.

    Returns:
        A sentence that names both stamps and what to run; empty where the index may be asked.
    """
    there = [row for row in rows if in_index(row)]
    old = [(row, why) for row in there if (why := why_stale(row, now))]
    if not old:
        return ""
    row, why = old[0]
    if len(old) == len(there):
        which = "the index, all of it, was"
    else:
        was = "was" if len(old) == 1 else "were"
        which = f"the index is half-migrated: {len(old)} of {plural(len(there), 'document')} {was}"
    return (
        f"{which} made with {made_with(row)}; at hand is {now.words} "
        f"({row.document_id}: {why}). What two of them give cannot be compared, so nothing is answered. "
        "Run `bluffline documents index` and ask again"
    )
