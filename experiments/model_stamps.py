"""What a model is, read from its files alone: a sweep whose vectors are all cached never imports torch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from experiments.model_specs import ModelSpec

# Raised by hand whenever the same files and the same text give another vector or score.
EMBEDDING = "1"

# What decides a vector, and what stamps said of it that were kept before they said it.
_DECISIVE = {"files": None, "dimensions": None, "window": None, "precision": None, "changes": "", "pipeline": "1"}

_HIDDEN = ("hidden_size", "dim", "d_model", "n_embd")  # what families of models call it
_POSITIONS = ("max_position_embeddings", "n_positions", "max_position_embedding")


class ModelError(Exception):
    """A model cannot be found or loaded; the message says which and why."""


class ModelStamp(NamedTuple):
    """What vectors depend on. Two vectors may be compared only when their stamps are equal.

    Attributes:
        name: As combinations call it.
        source: Where the files came from.
        weights: sha256 of the weights file as it came.
        files: sha256 over every file that shapes a vector: weights, pooling, tokeniser, configuration.
        dimensions: Of a vector; of a cross-encoder 1, its score.
        window: Tokens, special ones included.
        precision: Of the arithmetic.
        kind: What the model is used for.
        label: What it is, for people; empty where the name says it.
        language: Code of the language its card names; empty where it names none or several.
        changes: What the project says that the files do not: pooling, projection and prompts, in one canonical line.
        pipeline: Version of the code that made the vectors.
    """

    name: str
    source: str
    weights: str
    files: str
    dimensions: int
    window: int
    precision: str
    kind: str = "embedding"
    label: str = ""
    language: str = ""
    changes: str = ""
    pipeline: str = EMBEDDING

    @property
    def short(self) -> str:
        """The last part of the name, for tables."""
        return self.name.rstrip("/").rsplit("/", 1)[-1]

    @property
    def cache_stamp(self) -> dict[str, str | int]:
        """The part that decides what a vector is, whatever the model is called and wherever it lies."""
        stamp: dict[str, str | int] = {
            "files": self.files,
            "dimensions": self.dimensions,
            "window": self.window,
            "precision": self.precision,
        }
        return stamp | ({"changes": self.changes} if self.changes else {})

    @property
    def cache_name(self) -> str:
        """Name of the file its vectors are kept in; another precision or prompt is another file."""
        return cache_name(self._asdict())

    @property
    def file_stamp(self) -> dict[str, str | int]:
        """What stands in a file of its vectors: what decides them, and the code that made them."""
        return {**self.cache_stamp, "pipeline": self.pipeline}


def differs(stamp: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two stamps, as sweeps keep them, are of vectors that cannot be compared."""
    return any(stamp.get(part, before) != other.get(part, before) for part, before in _DECISIVE.items())


def changes_words(changes: str) -> str:
    """What a project said that the files do not, for people."""
    return ", ".join(f"{key.replace('_', ' ')} {value!r}" for key, value in json.loads(changes).items())


def stamp_words(stamp: Mapping[str, Any]) -> str:
    """What a stamp, as a sweep keeps it, says to people; fields that came later are said where they are there."""
    said = [
        *([str(stamp["label"])] if stamp.get("label") else []),
        f"weights {str(stamp['weights'])[:12]}",
        f"{stamp['dimensions']} dimensions",
        f"window of {stamp['window']} tokens",
        str(stamp["precision"]),
        *([changes_words(str(stamp["changes"]))] if stamp.get("changes") else []),
        f"embedding version {stamp.get('pipeline', _DECISIVE['pipeline'])}",
    ]
    return ", ".join(said)


def cache_name(stamp: Mapping[str, str | int]) -> str:
    """Name of the file vectors are kept in, from a stamp as a sweep keeps it."""
    files, changes = str(stamp["files"]), stamp.get("changes")
    if stamp["precision"] == "fp32" and not changes:
        return files[:16]
    return hashlib.sha256(f"{files} {stamp['precision']} {changes or ''}".encode()).hexdigest()[:16]


def stamp_of(spec: ModelSpec, folder: Path, source: str, weights: str, files: str) -> ModelStamp:
    """Read what a folder's files say.

    Args:
        spec: What was asked for.
        folder: Holds the configuration.
        source: Where the files came from.
        weights: sha256 of the weights as they came.
        files: sha256 over every file that shapes a vector.

    Raises:
        ModelError: If the configuration is not usable, or says what the spec says otherwise.
    """
    try:
        configuration = json.loads((folder / "config.json").read_text("utf-8"))
        dimensions = 1 if spec.kind == "cross-encoder" else _dimensions(folder, configuration)
        window = _window(folder, configuration)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            f"the model {spec.name} cannot be read: its configuration in {folder} is not usable"
        ) from error
    _refuse_second_pooling(spec, folder)
    changes = {
        "pooling": spec.pooling,
        "projection": spec.projection,
        "query_prompt": spec.query_prompt,
        "document_prompt": spec.document_prompt,
    }
    said = {key: value for key, value in changes.items() if value is not None}
    return ModelStamp(
        name=spec.name,
        source=source,
        weights=weights,
        files=files,
        dimensions=dimensions,
        window=window,
        precision=spec.precision,
        kind=spec.kind,
        label=spec.label or "",
        language=_card_language(folder) or spec.language or "",
        changes=json.dumps(said, sort_keys=True) if said else "",
    )


def _modules(folder: Path) -> list[dict[str, Any]]:
    file = folder / "modules.json"
    return json.loads(file.read_text("utf-8")) if file.is_file() else []


def _dimensions(folder: Path, configuration: Mapping[str, Any]) -> int:
    """Of what comes out at the end: a pooling may join several vectors, a projection has its own width."""
    metadata_file = folder / "artifact.metadata"  # of ColBERT's own checkpoints
    if metadata_file.is_file():
        return int(json.loads(metadata_file.read_text("utf-8"))["dim"])
    dimensions = int(_first(configuration, _HIDDEN))
    for module in _modules(folder):
        kind, path = str(module["type"]).rsplit(".", 1)[-1], folder / str(module["path"]) / "config.json"
        if kind not in {"Pooling", "Dense"}:
            continue
        settings = json.loads(path.read_text("utf-8"))
        if kind == "Dense":
            dimensions = int(settings["out_features"])
        else:
            dimensions = int(settings.get("embedding_dimension") or settings["word_embedding_dimension"])
            dimensions *= len(_modes(settings))
    return dimensions


def _modes(settings: Mapping[str, Any]) -> list[str]:
    """The ways a pooling joins, in the new and the old way of writing them."""
    mode = settings.get("pooling_mode")
    if mode is not None:
        return [str(mode)] if isinstance(mode, str) else [str(one) for one in mode]
    return [key for key, value in settings.items() if key.startswith("pooling_mode_") and value] or ["mean"]


def _refuse_second_pooling(spec: ModelSpec, folder: Path) -> None:
    if spec.pooling is not None and any(str(module["type"]).endswith("Pooling") for module in _modules(folder)):
        raise ModelError(
            f"the model {spec.name} cannot be loaded: pooling is set to {spec.pooling!r}, but its files say how it "
            "pools; leave the setting out"
        )


def _window(folder: Path, configuration: Mapping[str, Any]) -> int:
    """What sentence-transformers makes of these files: its own setting, else the smaller of tokeniser's and model's."""
    own, tokenizer = (
        json.loads((folder / name).read_text("utf-8")) if (folder / name).is_file() else {}
        for name in ("sentence_bert_config.json", "tokenizer_config.json")
    )
    positions = int(_first(configuration, _POSITIONS))
    return int(own.get("max_seq_length") or min(positions, tokenizer.get("model_max_length") or positions))


def _first(configuration: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next(configuration[name] for name in (*(n for n in names if n in configuration), names[0]))


def _card_language(folder: Path) -> str:
    """The one language the model's card names; empty where it names none or several."""
    card = folder / "README.md"
    if not card.is_file():
        return ""
    head = card.read_text("utf-8", errors="replace").removeprefix("\ufeff").split("---", 2)
    lines = head[1].splitlines() if len(head) == 3 and not head[0].strip() else []
    for number, line in enumerate(lines):
        if line.startswith("language:"):
            written = line.removeprefix("language:").strip().strip("[]\"'")
            following = []
            for entry in lines[number + 1 :]:
                if not entry.lstrip().startswith("- "):
                    break
                following.append(entry.strip()[2:].strip("\"' "))
            names = [name.strip("\"' ") for name in written.split(",") if name.strip()] or following
            return names[0] if len(names) == 1 and names[0] != "multilingual" else ""
    return ""
