"""Models in a project file: `[models.NAME]` tables, and the lists of `[sweep]` that name models."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpus.faults import Fault
from experiments.model_specs import Kind, ModelSpec, plain_spec, spec_from_settings
from experiments.toml_tables import Table, line_of

_MODEL_TABLE = "write [models.NAME] and below it source, and what the files do not say"


def own_models(file: Path, tables: Any, faults: list[Fault]) -> dict[str, ModelSpec]:
    """The models of `[models.NAME]` tables, by name."""
    known: dict[str, ModelSpec] = {}
    if not isinstance(tables, Mapping):
        faults.append(Fault(str(file), line_of(file, "models"), str(tables), "models: not a table", _MODEL_TABLE))
        return known
    for name, values in tables.items():
        try:
            if not isinstance(values, Mapping):
                raise ValueError(f"model {name!r}: not a table")
            known[name] = spec_from_settings(name, values)
        except ValueError as error:
            line = line_of(file, f"models.{name}") or line_of(file, "models", name)
            faults.append(Fault(str(file), line, name, str(error), _MODEL_TABLE))
    return known


def chosen_models(
    sweep: Table, key: str, kind: Kind, default: tuple[str, ...], words: str, named: dict[str, ModelSpec]
) -> tuple[str, ...]:
    """The names of one list of models; what was written as a `wheel:` spec is added to `named` under a short name."""
    chosen = []
    for written in sweep.take_list(key, str, default, words):
        try:
            spec = named.get(written) or plain_spec(written, kind)
            if spec.kind != kind:
                raise ValueError(f"model {spec.name!r} is of kind {spec.kind}, not {kind}")
        except ValueError as error:
            sweep.fault(key, written, str(error), f"name a model of kind {kind}")
            continue
        if spec.name != spec.source:
            named.setdefault(spec.name, spec)
        chosen.append(spec.name)
    return tuple(dict.fromkeys(chosen)) or default
