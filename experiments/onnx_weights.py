"""BERT weights out of an ONNX file, for models that come as nothing else.

Quantised weights are multiplied out to float32 and written once as a folder that transformers reads. They are not run
as ONNX, because a dynamically quantised graph scales its activations over the whole batch: the vector of a text then
depends on the texts it was embedded with, and could be neither cached nor compared.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ONNX_FILE = "model.onnx"
CONVERTER = "1"  # raised when the same file gives other weights

_LAYER = re.compile(r"encoder\.layer\.(\d+)\.")
_PRODUCT = re.compile(r"[./](?:Gemm_)?MatMul(?:_quant)?$")
_ATTENTION = "encoder/layer.0/attention/self"
_PARTS = tuple(
    f"{part}.{kind}"
    for part in (
        *(f"attention.self.{one}" for one in ("query", "key", "value")),
        *("attention.output.dense", "attention.output.LayerNorm"),
        *("intermediate.dense", "output.dense", "output.LayerNorm"),
    )
    for kind in ("weight", "bias")
)
Weights = dict[str, NDArray[np.float32]]


class OnnxError(Exception):
    """An ONNX file cannot be read as weights; the message says why."""


def require_onnx() -> None:
    """Say what to install before a file is touched.

    Raises:
        OnnxError: If the package is missing that reading one needs.
    """
    if importlib.util.find_spec("onnx") is None:
        raise OnnxError("its weights are an ONNX file, and reading one needs onnx: pip install 'bluffline[onnx]'")


def convert(folder: Path, target: Path) -> Path:
    """Write the weights of `folder/model.onnx` as float32 beside its tokeniser, once.

    Args:
        folder: Holds `model.onnx` and the tokeniser's files.
        target: The folder to make; left as it is where it is there already.

    Returns:
        The target.

    Raises:
        OnnxError: If the graph is not that of a BERT model, or reading it needs a package that is missing.
    """
    if target.is_dir():
        return target
    graph = _graph(folder / ONNX_FILE)
    weights = _weights(graph)
    configuration = _own_configuration(folder) or _configuration(graph, weights)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".converting-") as work:
        whole = Path(work) / "whole"
        shutil.copytree(folder, whole, ignore=shutil.ignore_patterns(ONNX_FILE, ".*"))
        (whole / "config.json").write_text(json.dumps(configuration, indent=1), "utf-8")
        _save(weights, whole / "model.safetensors")
        try:
            whole.rename(target)
        except OSError as error:
            if not target.is_dir():  # else another process was faster, with the same content
                raise OnnxError(f"{target} cannot be written: {error}") from error
    return target


def _own_configuration(folder: Path) -> dict[str, Any] | None:
    file = folder / "config.json"
    if not file.is_file():
        return None
    found = json.loads(file.read_text("utf-8"))
    if not isinstance(found, dict) or found.get("model_type") != "bert":
        raise OnnxError(f"{file} is not of a BERT model, and no other is read from ONNX")
    return found


def _save(weights: Weights, file: Path) -> None:
    from safetensors.numpy import save_file  # noqa: PLC0415 - only a conversion needs it

    save_file(weights, file, metadata={"format": "pt"})


def _graph(file: Path) -> Any:
    require_onnx()
    import onnx  # noqa: PLC0415 - optional, and slow to import

    try:
        return onnx.load(str(file)).graph
    except Exception as error:  # protobuf raises its own families
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise OnnxError(f"{file} cannot be read as ONNX: {first}") from error


def _weights(graph: Any) -> Weights:
    """Every weight by the name BERT gives it.

    A linear layer's weight has lost its name in the export, but the node that multiplies with it is named by the
    layer. It stands transposed.
    """
    from onnx import numpy_helper  # noqa: PLC0415

    raw = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    found: Weights = {}
    for node in graph.node:
        if node.op_type in {"MatMulInteger", "MatMul", "Gemm"} and len(node.input) > 1:
            matrix = _multiplied_out(raw, node.input[1])
            if matrix is not None and matrix.ndim == 2:
                layer = _PRODUCT.sub("", node.name.strip("/").replace("/", "."))
                found[f"{layer.removesuffix('.Gemm')}.weight"] = np.ascontiguousarray(
                    matrix if _is_transposed(node) else matrix.T
                )
        elif node.op_type == "Gather" and node.input[0].removesuffix("_quantized").endswith("embeddings.weight"):
            table = _multiplied_out(raw, node.input[0])
            if table is not None:
                found[node.input[0].removesuffix("_quantized")] = table
    for name, value in raw.items():
        if name.endswith((".weight", ".bias")) and value.dtype == np.float32 and name not in found:
            found[name] = value
    _require_bert(found)
    return found


def _is_transposed(node: Any) -> bool:
    return any(attribute.name == "transB" and attribute.i for attribute in node.attribute)


def _multiplied_out(raw: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.float32] | None:
    """A weight as float32: ``(quantised - zero point) * scale``; None where `name` is no weight of the file."""
    if name not in raw:
        return None
    value = raw[name]
    if not name.endswith("_quantized"):
        return value if value.dtype == np.float32 else None
    base = name.removesuffix("_quantized")
    zero = raw[f"{base}_zero_point"].astype(np.float32)
    return np.ascontiguousarray((value.astype(np.float32) - zero) * raw[f"{base}_scale"].astype(np.float32))


def _require_bert(weights: Weights) -> None:
    """Refuse what is no BERT, and a layer that lacks a part: transformers would fill it with random numbers."""
    if not any(name.endswith("embeddings.word_embeddings.weight") for name in weights):
        raise OnnxError("its ONNX graph is not that of a BERT model, and no other is read; use its safetensors instead")
    layers: dict[int, set[str]] = {}
    for name in weights:
        if match := _LAYER.search(name):
            layers.setdefault(int(match[1]), set()).add(name[match.end() :])
    whole = set(_PARTS)
    for number in range(max(layers, default=0) + 1):
        if lacking := sorted(whole - layers.get(number, set())):
            raise OnnxError(f"layer {number} of its ONNX graph lacks {lacking[0]}")


def _configuration(graph: Any, weights: Weights) -> dict[str, Any]:
    """What shapes and constants of the graph say about the model."""

    def of(end: str) -> NDArray[np.float32]:
        return next(value for name, value in weights.items() if name.endswith(end))

    words, positions = of("word_embeddings.weight"), of("position_embeddings.weight")
    hidden = words.shape[1]
    layers = {int(match[1]) for name in weights if (match := _LAYER.search(name))}
    head = "classifier.weight" in weights
    configuration: dict[str, Any] = {
        "architectures": ["BertForSequenceClassification" if head else "BertModel"],
        "model_type": "bert",
        "vocab_size": words.shape[0],
        "hidden_size": hidden,
        "num_hidden_layers": len(layers),
        "num_attention_heads": _heads(graph, hidden),
        "intermediate_size": of("encoder.layer.0.intermediate.dense.weight").shape[0],
        "max_position_embeddings": positions.shape[0],
        "type_vocab_size": of("token_type_embeddings.weight").shape[0],
        "hidden_act": "gelu" if any(node.op_type in {"Erf", "Gelu"} for node in graph.node) else "unknown",
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
    }
    if configuration["hidden_act"] == "unknown":
        raise OnnxError("its ONNX graph uses another activation than gelu, and only a config.json could say which")
    if head:
        labels = weights["classifier.weight"].shape[0]
        configuration |= {"num_labels": labels, "id2label": {str(label): f"LABEL_{label}" for label in range(labels)}}
    return configuration


def _heads(graph: Any, hidden: int) -> int:
    """The number of attention heads: the split of the hidden size that the first layer's reshape asks for."""
    from onnx import numpy_helper  # noqa: PLC0415

    numbers = [
        int(numpy_helper.to_array(attribute.t).reshape(-1)[0])
        for node in graph.node
        if node.op_type == "Constant" and _ATTENTION in node.name
        for attribute in node.attribute
        if attribute.name == "value" and numpy_helper.to_array(attribute.t).size == 1
    ]
    for heads, width in pairwise(numbers):
        if heads * width == hidden and heads > 1 and width > 1:
            return heads
    raise OnnxError("its ONNX graph does not say how many attention heads it has, and only a config.json could")
