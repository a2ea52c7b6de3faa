"""The models of a project: what each is, what is kept of it, and why one that is missing is missing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from experiments.model_files import find_files
from experiments.model_specs import Kind, ModelSpec
from experiments.model_stamps import ModelError, ModelStamp
from experiments.project import Project, model_of
from store.kept import entries

# kind -> (folder below the project's state, table of its cache, what an entry is called)
_CACHES = {
    "embedding": ("vectors", "vector", "vectors"),
    "cross-encoder": ("pair_scores", "score", "scores"),
    "late-interaction": ("token_vectors", "place", "texts"),
}


class ModelEntry(NamedTuple):
    """One model.

    Attributes:
        spec: What the project says.
        measured: Whether a sweep of this project uses it.
        stamp: What it is; None where it is missing.
        size: Bytes of its weights as they came; None where it is missing.
        kept: Entries of its cache; None where it is missing or the cache cannot be read.
        problem: Why it is missing; empty where it is not.
    """

    spec: ModelSpec
    measured: bool
    stamp: ModelStamp | None
    size: int | None
    kept: int | None
    problem: str

    @property
    def kept_words(self) -> str:
        """What is kept, in words."""
        name = _CACHES[self.spec.kind][2]
        return f"{self.kept:,} {name} kept" if self.kept is not None else f"{name} cannot be read"

    @property
    def data(self) -> dict[str, Any]:
        """Everything, in JSON's types."""
        stamp = self.stamp._asdict() if self.stamp else {}
        return {
            "name": self.spec.name,
            "kind": self.spec.kind,
            "source": self.spec.source,
            "precision": self.spec.precision,
            "measured": self.measured,
            "found_in": stamp.get("source"),
            "label": self.spec.label,
            "weights": stamp.get("weights"),
            "files": stamp.get("files"),
            "dimensions": stamp.get("dimensions"),
            "window": stamp.get("window"),
            "language": stamp.get("language") or self.spec.language,
            "changes": stamp.get("changes") or None,
            "embedding_version": stamp.get("pipeline"),
            "bytes": self.size,
            "kept": self.kept,
            "problem": self.problem or None,
        }


def project_models(project: Project, names: Collection[str] = (), *, fetch: bool = False) -> Iterator[ModelEntry]:
    """Look at the models of a project, one after the other.

    Args:
        project: The project.
        names: Only these; all of them when empty.
        fetch: Whether to download what is not here yet.

    Yields:
        Those that a sweep uses, then those that are only named.
    """
    for spec, measured in _specs(project):
        if not names or spec.name in names:
            yield _looked_at(project, spec, measured, fetch)


def known_names(project: Project) -> list[str]:
    """Names of all models of a project."""
    return [spec.name for spec, _ in _specs(project)]


def _specs(project: Project) -> list[tuple[ModelSpec, bool]]:
    settings = project.settings
    used: list[tuple[str, Kind]] = [(name, "embedding") for name in settings.models]
    if "rerank" in settings.retrievers:
        used += [(name, "cross-encoder") for name in settings.rerankers]
    if "late" in settings.retrievers:
        used += [(name, "late-interaction") for name in settings.late_models]
    found = {name: (_spec(project, name, kind), True) for name, kind in used}
    for spec in settings.named_models:
        found.setdefault(spec.name, (_spec(project, spec.name, spec.kind), False))
    return list(found.values())


def _spec(project: Project, name: str, kind: Kind) -> ModelSpec:
    try:
        return model_of(project, name, kind)
    except ModelError:  # settings were read, so this cannot be; and a list must not end in a traceback
        return replace(ModelSpec(name, name), kind=kind)


def _looked_at(project: Project, spec: ModelSpec, measured: bool, fetch: bool) -> ModelEntry:
    try:
        files = find_files(spec, project.model_files, fetch=fetch)
    except ModelError as error:
        return ModelEntry(spec, measured, None, None, None, str(error))
    return ModelEntry(
        spec, measured, files.stamp, files.size, entries(_cache(project.var, files.stamp), _CACHES[spec.kind][1]), ""
    )


def _cache(var: Path, stamp: ModelStamp) -> Path:
    return var / _CACHES[stamp.kind][0] / f"{stamp.cache_name}.db"
