"""Loading a causal model and its tokeniser from files, whatever kind of files they are."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from experiments.asking.prompting import Prompt


class GeneratorError(Exception):
    """A generator cannot be found, loaded or given this prompt; the message says which and why."""


def require_gguf(spec: str) -> None:
    """Say what to install before a GGUF file is touched.

    Raises:
        GeneratorError: If a package is missing that reading one needs.
    """
    missing = [name for name in ("gguf", "accelerate") if importlib.util.find_spec(name) is None]
    if missing:
        raise GeneratorError(
            f"the generator {spec} is a GGUF file, and reading one needs {' and '.join(missing)}: "
            "pip install 'bluffline[generator]'"
        )


def from_hub(name: str) -> Path:
    """The folder of a model on the hub: out of the hub's cache, else fetched.

    Raises:
        GeneratorError: If it is in neither.
    """
    os.environ.setdefault("HF_HUB_ETAG_TIMEOUT", "5")
    os.environ.setdefault("HF_HUB_DOWNLOAD_TIMEOUT", "30")
    from huggingface_hub import snapshot_download  # noqa: PLC0415 - half a second of imports
    from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: PLC0415

    wanted = ["*.json", "*.txt", "*.model", "*.jinja", "*.safetensors"]
    try:
        try:
            return Path(snapshot_download(name, allow_patterns=wanted, local_files_only=True))
        except LocalEntryNotFoundError:
            return Path(snapshot_download(name, allow_patterns=wanted))
    except Exception as error:  # network, name, permission: the hub's client raises its own families
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise GeneratorError(
            f"the generator {name} cannot be loaded: it is neither a local file or folder nor in the hub's cache, "
            f"and fetching it failed ({first})"
        ) from error


def load_parts(folder: Path, gguf: str | None) -> tuple[Any, Any]:
    """Load model and tokeniser from files alone; no code that lies beside them is run."""
    import torch  # noqa: PLC0415 - slow to import
    from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig  # noqa: PLC0415

    only_files: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    packing: dict[str, Any] = {}
    if gguf is not None:
        only_files["gguf_file"] = gguf
        packing = _unpacked()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with _quiet():
        tokenizer = AutoTokenizer.from_pretrained(str(folder), **only_files)
        model: Any = AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32, **only_files, **packing)
    # A model may come with sampling or penalties of its own; greedy is what is promised.
    ends = end_tokens(model, tokenizer)
    model.generation_config = GenerationConfig(  # type: ignore[no-untyped-call]
        do_sample=False, eos_token_id=sorted(ends) or None, pad_token_id=min(ends, default=None)
    )
    return model.to(device).eval(), tokenizer


def _unpacked() -> dict[str, Any]:
    """Unpack quantised weights on loading: packed ones would be multiplied by kernels fetched from the hub."""
    import transformers  # noqa: PLC0415

    configuration = getattr(transformers, "GgufConfig", None)  # versions without it know no other way
    return {"quantization_config": configuration(dequantize=True)} if configuration is not None else {}


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the loader's progress bars, which would stand between a command's own lines."""
    from transformers.utils import logging  # noqa: PLC0415

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def token_ids(tokenizer: Any, prompt: Prompt) -> list[int]:
    """The prompt in the model's own chat form where it has one; as one message, which every form knows."""
    if getattr(tokenizer, "chat_template", None):
        messages = [{"role": "user", "content": prompt.text}]
        encoded = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=True)
    else:
        encoded = tokenizer(prompt.text)
    return [int(token) for token in encoded["input_ids"]]


def end_tokens(model: Any, tokenizer: Any) -> set[int]:
    """The tokens with which the model says that it has ended; there may be several or none."""
    ends = {getattr(tokenizer, "eos_token_id", None)}
    configured = getattr(model.generation_config, "eos_token_id", None)
    ends |= set(configured) if isinstance(configured, list | tuple | set) else {configured}
    return {int(token) for token in ends if token is not None}
