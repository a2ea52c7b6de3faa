"""What must be said beside a sweep's numbers: what they mean, where they come from, and what was cut off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments import measures
from experiments.measures import Measure
from experiments.model_stamps import stamp_words
from experiments.naming import names_of, short_model
from experiments.reading import LoadedSweep
from experiments.verdicts.gains import on_token_vectors
from experiments.verdicts.own import on_own
from experiments.words import listed, plural
from store.tables import CombinationRow
from webapp.exports import Column


def glossary(ks: Sequence[int], k: int, *, judged: bool) -> tuple[Column, ...]:
    """The columns of the page's table with their meaning."""
    shown: list[Measure] = [
        *(measures.recall(depth) for depth in ks),
        measures.MRR,
        measures.DESTROYED,
        measures.TRUNCATED,
        measures.NOT_QUOTABLE,
        measures.CHUNKS,
        measures.TOKENS,
        measures.HEADER_SHARE,
        measures.tokens(k),
        *(measures.latency(stage) for stage in measures.LATENCY_STAGES),
    ]
    return tuple(Column(one.name, one.label, description=_sentence(one, judged)) for one in shown)


def headings(k: int, *, judged: bool) -> tuple[Column, ...]:
    """Heads of the columns after R@k, by the names they sort under."""
    shown = {
        "mrr": measures.MRR,
        "destroyed": measures.DESTROYED,
        "truncated": measures.TRUNCATED,
        "unquotable": measures.NOT_QUOTABLE,
        "chunks": measures.CHUNKS,
        "tokens": measures.TOKENS,
        "header": measures.HEADER_SHARE,
        "context": measures.tokens(k),
    }
    heads = tuple(Column(name, one.label, description=_sentence(one, judged)) for name, one in shown.items())
    return (*heads, Column("ms", "ms a question", description="The medians of all stages, added up."))


def _sentence(measure: Measure, judged: bool) -> str:
    said = (measures.documentwise(measure) if judged else measure).description
    return said[:1].upper() + said[1:] + "."


def notes(loaded: LoadedSweep, sources: Mapping[str, int]) -> tuple[str, ...]:
    """Sentences under the table; nothing is said that does not apply."""
    recorded, own = loaded.recorded, on_own(loaded.recorded)
    if not recorded:
        return tuple(own)
    said = [
        *_models(recorded),
        *_bm25(loaded),
        *_second_models(loaded),
        *_over_window(recorded),
        *_measured_in(recorded, sources),
        *_identity(recorded),
    ]
    return (*own, *said)


def _models(recorded: Sequence[CombinationRow]) -> list[str]:
    """What the embedding models are: vectors of two of them are never compared."""
    stamps = {row.model: row.stamp.get("model") for row in recorded if row.model}
    return [f"{short_model(name)}: {stamp_words(stamp)}." for name, stamp in stamps.items() if name and stamp]


def _bm25(loaded: LoadedSweep) -> list[str]:
    settings = loaded.sweep.settings.get("bm25")
    uses = [row.retriever for row in loaded.recorded if row.retriever in ("bm25", "hybrid", "rerank")]
    return [f"BM25, alone and inside hybrid: {settings}."] if settings and uses else []


def _second_models(loaded: LoadedSweep) -> list[str]:
    """What they are, how far they look and what they keep."""
    stamps = {row.scorer: (row.retriever, row.stamp.get("scorer", {})) for row in loaded.recorded if row.scorer}
    said = []
    for name, (retriever, stamp) in stamps.items():
        label = f", {stamp['label']}" if stamp.get("label") else ""
        reads = f"window {stamp.get('window')} tokens, {stamp.get('precision')}"
        does = (
            f"a cross-encoder that reads hybrid's first {loaded.sweep.settings.get('rerank_depth')} chunks"
            if retriever == "rerank"
            else "late interaction: exact MaxSim over all chunks"
        )
        said.append(f"{name}{label}: {does}; {reads}.")
    return [*said, *on_token_vectors(loaded.recorded)]


def _over_window(recorded: Sequence[CombinationRow]) -> list[str]:
    """A chunk longer than the encoder reads is cut off silently by the encoder; here it is said."""
    found: dict[tuple[str, int], dict[str, tuple[int, int]]] = {}
    for row in recorded:
        model, cutting = row.stamp.get("model", {}), row.stamp.get("cutting") or {}
        over = cutting.get("over_window", 0)
        if over:
            key = str(model.get("name", "the encoder")).rpartition("/")[2], int(model.get("window", 0))
            found.setdefault(key, {})[row.strategy] = over, cutting.get("chunks", 0)
    return [
        f"Longer than the {window:,} tokens {name} reads, so that their end is never embedded: "
        + listed([f"{over:,} of {plural(chunks, 'chunk')} of {strategy}" for strategy, (over, chunks) in each.items()])
        + "."
        for (name, window), each in found.items()
    ]


def _measured_in(recorded: Sequence[CombinationRow], sources: Mapping[str, int]) -> list[str]:
    """Where a retrieval was not run but read from an earlier sweep."""
    by_source: dict[str, list[str]] = {}
    names = names_of(row.key for row in recorded)
    for row in recorded:
        if row.measured_in:
            by_source.setdefault(row.measured_in, []).append(names[row.key])
    if not by_source:
        return []
    said = []
    for key, read in sorted(by_source.items(), key=lambda pair: -sources.get(pair[0], 0)):
        where = f"sweep {sources[key]}" if key in sources else f"a sweep that is not in this store ({key[:8]})"
        which = f"all {len(read)} combinations" if len(read) == len(recorded) else listed(read)
        said.append(f"{where}: {which}")
    return [
        "Read from an earlier sweep that had the same documents, questions and settings, instead of retrieved again: "
        f"{'; '.join(said)}."
    ]


def _identity(recorded: Sequence[CombinationRow]) -> list[str]:
    """Whether the two ways to write a distance agree, which holds only for vectors of unit length."""
    errors = [row.stamp["identity_error"] for row in recorded if row.stamp.get("identity_error") is not None]
    if not errors:
        return []
    return [
        "Distances are cosine distances of vectors of unit length (checked within 1e-5 for every vector); "
        f"L2² / 2 and 1 − cos differ by at most {max(errors):.1e}."
    ]
