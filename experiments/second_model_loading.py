"""Cross-encoders and late-interaction models out of the same sources as embedding models, loaded on first use."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.model_specs import ModelSpec
from experiments.models import BATCH, LazyModel, ModelError, device, to_float32, token_starts
from experiments.second_models import Pair, TokenBatch

_MARKERS = {"query": "[unused0]", "document": "[unused1]"}  # what ColBERT puts in front, where the files do not say


class CrossEncoderModel(LazyModel):
    """A cross-encoder of sentence-transformers."""

    kind = "cross-encoder"

    def score_pairs(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Raw relevance scores (logits, before any activation), shape (n,), in the order given; higher is better.

        Raises:
            ModelError: If the model cannot be loaded or gives more than one score a pair.
        """
        import torch  # noqa: PLC0415 - slow to import

        if not pairs:
            return np.zeros(0, np.float32)
        scores = self.model().predict(
            list(pairs),
            batch_size=BATCH,
            show_progress_bar=False,
            activation_fn=torch.nn.Identity(),
            convert_to_tensor=True,
        )
        return np.ascontiguousarray(scores.float().cpu().numpy()).reshape(len(pairs))

    def characters_read(self, pairs: Sequence[Pair]) -> list[int]:
        """Characters of each pair's text that fit into the window beside its question; no score is computed."""
        tokenizer = self.model().tokenizer
        questions = {question: None for question, _ in pairs}
        asked, _ = token_starts(tokenizer, list(questions), "", self.stamp.window)
        lengths = dict(zip(questions, (len(starts) for starts in asked), strict=True))
        special = 3  # [CLS] question [SEP] text [SEP]
        read = []
        for question, text in pairs:
            room = max(self.stamp.window - special - lengths[question], 0)
            read.append(token_starts(tokenizer, [text], "", room + 2)[1][0] if room else 0)
        return read

    def _load(self) -> Any:
        import torch  # noqa: PLC0415
        from sentence_transformers import CrossEncoder  # noqa: PLC0415

        dtype = torch.bfloat16 if self.stamp.precision == "bf16" else torch.float32
        loaded = CrossEncoder(
            str(self.folder),
            device=device(),
            max_length=self.stamp.window,
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"dtype": dtype},
        )
        if loaded.num_labels != 1:
            raise ValueError(f"it gives {loaded.num_labels} scores a pair, and a reranker gives one")
        return loaded


class LateInteractionModel(LazyModel):
    """A ColBERT-style model of sentence-transformers."""

    kind = "late-interaction"

    def encode_documents(self, texts: Sequence[str]) -> TokenBatch:
        """Embed texts to be found, with the model's own document marker and without what it skips (punctuation)."""
        return self._encode("document", texts)

    def encode_queries(self, texts: Sequence[str]) -> TokenBatch:
        """Embed questions, with the model's own query marker and, where it does so, padded with mask tokens."""
        return self._encode("query", texts)

    def _encode(self, kind: str, texts: Sequence[str]) -> TokenBatch:
        model = self.model()
        encode = model.encode_query if kind == "query" else model.encode_document
        encoded = encode(list(texts), batch_size=BATCH, show_progress_bar=False) if texts else []
        vectors = [one.float().cpu().numpy() for one in encoded]
        for one in vectors:
            if one.shape[1] != self.stamp.dimensions:
                raise ModelError(
                    f"the model {self.stamp.name} gives vectors of {one.shape[1]} dimensions, but its files say "
                    f"{self.stamp.dimensions}"
                )
        window = _window(model[0], kind) or self.stamp.window
        _, seen = token_starts(model.tokenizer, texts, model.prompts.get(kind) or "", window)
        return TokenBatch(vectors, seen)

    def _load(self) -> Any:
        return _load_late(self.folder, self._spec)


def _window(transformer: Any, kind: str) -> int | None:
    """Tokens it reads of a question or of a text; None where that is all the model can take."""
    expansion = transformer.query_expansion
    if kind == "query" and expansion is not None and expansion["strategy"] == "fixed":  # as wide as that, and no wider
        return int(expansion["length"])
    length = transformer.query_length if kind == "query" else transformer.document_length
    return None if length is None else int(length)


def _load_late(folder: Path, spec: ModelSpec) -> Any:
    import torch  # noqa: PLC0415 - slow to import
    from sentence_transformers import MultiVectorEncoder  # noqa: PLC0415 - five seconds of imports

    # Which questions are cut off is counted and kept with the sweep; the library says only that some were.
    logging.getLogger("sentence_transformers.base.modules.transformer").addFilter(_is_no_cut_question)
    if spec.projection is None:
        if not _has_projection(folder):
            raise ModelError(
                f"the model {spec.name} cannot be loaded: its files hold no projection layer, and a random one would "
                'be put in its place; projection = "none" does without'
            )
        model = MultiVectorEncoder(str(folder), device=device(), local_files_only=True, trust_remote_code=False)
    else:
        model = _without_projection(folder)
    if spec.precision == "bf16":
        model[0].to(torch.bfloat16)
        model[0].register_forward_hook(to_float32)
    for kind, prompt in (("query", spec.query_prompt), ("document", spec.document_prompt)):
        if prompt is not None:
            model.prompts[kind] = prompt
    return model


def _is_no_cut_question(record: logging.LogRecord) -> bool:
    return "query_expansion length" not in record.getMessage()


def _without_projection(folder: Path) -> Any:
    """ColBERT's own tokens and lengths around a bare transformer."""
    import string  # noqa: PLC0415

    from sentence_transformers import MultiVectorEncoder  # noqa: PLC0415
    from sentence_transformers.base.modules import Normalize, Transformer  # noqa: PLC0415
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask  # noqa: PLC0415

    transformer = Transformer(
        str(folder), document_length=300, query_expansion={"strategy": "fixed", "attend": False, "length": 32}
    )
    transformer.tokenizer.add_special_tokens({"additional_special_tokens": list(_MARKERS.values())})
    modules = [
        transformer,
        MultiVectorMask(skiplist_words=list(string.punctuation)),
        Normalize(module_input_name="token_embeddings"),
    ]
    prompts = {kind: f"{marker} " for kind, marker in _MARKERS.items()}
    return MultiVectorEncoder(modules=modules, device=device(), prompts=prompts)


def _has_projection(folder: Path) -> bool:
    """Whether a folder is a ColBERT checkpoint: its own form, or one with a projection among its modules."""
    modules = folder / "modules.json"
    if modules.is_file():
        return any(str(module["type"]).endswith("Dense") for module in json.loads(modules.read_text("utf-8")))
    named = json.loads((folder / "config.json").read_text("utf-8")).get("architectures") or []
    return any(name == "HF_ColBERT" or name.endswith("ForRetrieval") for name in named)


find_cross_encoder = CrossEncoderModel.find
find_token_encoder = LateInteractionModel.find
