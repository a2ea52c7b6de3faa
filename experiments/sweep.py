"""Beginning a sweep: its inputs, its fingerprints, and what earlier sweeps have already measured of it."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from corpus.check import CheckReport, check
from corpus.documents import Document
from corpus.faults import Fault
from corpus.fingerprint import corpus_hash, questions_hash, wording_hash
from corpus.questions import Query
from experiments.conditions import FUSED, Strategy
from experiments.models import ModelStamp
from experiments.own.spec import OwnRetriever, Results
from experiments.processes import lives
from experiments.project import Project
from experiments.provenance import PIPELINE, hit_rule, provenance, versions
from experiments.recording import document_rows, query_rows
from experiments.reviewing import document_states
from experiments.reviewing.wordings import WORDING
from experiments.settings import Settings
from store import reads, writes
from store.tables import CombinationRow, SweepRow


class InputError(Exception):
    """The documents or questions cannot be measured as they are. Carries every fault."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        """Keep the faults; the message is one line each."""
        self.faults = tuple(faults)
        super().__init__("\n".join(fault.sentence for fault in faults))


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a sweep measures, read and checked."""

    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    corpus_hash: str
    questions_hash: str
    hit_rule: str
    left_out: int  # faults that the user chose to measure without
    document_faults: tuple[Fault, ...] = ()  # those of them that are of documents


def read_inputs(project: Project, *, skip_faults: bool = False) -> Inputs:
    """Read and check the project's documents and questions.

    Args:
        project: The project.
        skip_faults: Measure without what is faulty instead of refusing.

    Raises:
        InputError: If something is faulty and is not to be skipped, or nothing is left to measure.
    """
    report = check_project(project)
    if report.faults and not skip_faults:
        raise InputError(report.faults)
    if not report.documents or not any(query.answerable for query in report.queries):
        nothing = Fault(
            str(project.questions), None, "", "nothing to measure", "at least one document and one answerable question"
        )
        raise InputError((*report.faults, nothing))
    return Inputs(
        report.documents,
        report.queries,
        corpus_hash(report.documents),
        questions_hash(report.queries),
        hit_rule(report.queries),
        len(report.faults),
        report.document_faults,
    )


def check_project(project: Project) -> CheckReport:
    """Everything that is wrong with a project's documents and questions."""
    return check(
        project.documents,
        project.questions,
        strip_front_matter=project.strip_front_matter,
        strip_bibliography=project.strip_bibliography,
        limits=project.extraction,
        cache=project.extracted,
    )


def gate_model(row: CombinationRow, settings: Settings) -> str:
    """The model whose distances a combination's gate reads: its own, or the first one where it has none."""
    return row.model or settings.gate_model


def retrieval_key(
    inputs: Inputs,
    strategy: Strategy,
    retriever: str,
    stamp: ModelStamp,
    settings: Settings,
    scorer: ModelStamp | None = None,
) -> str:
    """What a combination's outcomes depend on, and nothing else: neither thresholds nor k nor the commit.

    Args:
        inputs: Documents and questions.
        strategy: How they are cut.
        retriever: Its name.
        stamp: Of the model whose distances the gate reads.
        settings: Of the sweep.
        scorer: Of the second model; None where the retriever has none.
    """
    second = [] if scorer is None else [scorer.cache_stamp, settings.rerank_depth if retriever == "rerank" else None]
    return _digest(
        PIPELINE,
        inputs.hit_rule,
        inputs.corpus_hash,
        inputs.questions_hash,
        strategy.spec,
        retriever,
        stamp.cache_stamp,
        settings.bm25.spec if retriever not in ("dense", "late") else "",
        [settings.fusion.k, settings.fusion.dense, settings.fusion.bm25] if retriever in FUSED else "",
        *second,
    )


def own_retrieval_key(inputs: Inputs, own: OwnRetriever, stamp: ModelStamp, root: Path) -> str | None:
    """The same for a team's own retriever; None where nobody can know what it is at the moment.

    A file of results is known by its content; a function or an endpoint only by the version it is given. The content
    of a chunk table belongs to either.
    """
    files = [root / name for name in (own.chunks, own.source.file if isinstance(own.source, Results) else None) if name]
    if not isinstance(own.source, Results) and own.version is None:
        return None
    try:
        content = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    except OSError:
        return None
    facts = (PIPELINE, inputs.hit_rule, inputs.corpus_hash, inputs.questions_hash)
    return _digest(*facts, "own", own.identity, content, stamp.cache_stamp)


def settings_record(settings: Settings) -> dict[str, Any]:
    """Settings as they are kept with the sweep, all of JSON's types."""
    return {
        "strategies": {strategy.name: strategy.spec for strategy in settings.strategies},
        "retrievers": list(settings.retrievers),
        "models": list(settings.models),
        **_second_models(settings),
        **_named_models(settings),
        **({"own": {one.name: one.record for one in settings.own}} if settings.own else {}),
        "k": list(settings.ks),
        "thresholds": list(settings.thresholds),
        "alpha": settings.alpha,
        "seed": settings.seed,
        "bm25": settings.bm25.describe(),
        **({"hybrid": settings.fusion.describe()} if FUSED & set(settings.retrievers) else {}),
    }


def _second_models(settings: Settings) -> dict[str, Any]:
    """The settings of `rerank` and `late`, where the sweep has them."""
    kept: dict[str, Any] = {}
    if "rerank" in settings.retrievers:
        kept |= {"rerankers": list(settings.rerankers), "rerank_depth": settings.rerank_depth}
    if "late" in settings.retrievers:
        kept["late_models"] = list(settings.late_models)
    return kept


def _named_models(settings: Settings) -> dict[str, Any]:
    """What the project says about the models that the sweep has, where it says something."""
    used = {part for combination in settings.combinations for part in (combination.model, combination.scorer)}
    named = [spec for spec in settings.named_models if spec.name in used or spec.name == settings.gate_model]
    return {"named_models": {spec.name: asdict(spec) for spec in named}} if named else {}


def begin(engine: Engine, project: Project, inputs: Inputs, say: Callable[[str], None] = lambda _: None) -> int:
    """Begin a sweep, or take up the interrupted one of the same inputs, settings and code.

    Args:
        engine: The store.
        project: What is measured.
        inputs: Its documents and questions.
        say: Told why the commit is not known, where a person may have expected one.

    Returns:
        The sweep's id; it is this process's.
    """
    settle_interrupted(engine)
    came_from = provenance(project.root)
    if came_from.remark:
        say(f"{came_from.remark[:1].upper()}{came_from.remark[1:]}.")
    record = settings_record(project.settings)
    fingerprint = _digest(PIPELINE, inputs.hit_rule, inputs.corpus_hash, inputs.questions_hash, record)
    failed = document_states.as_setting(inputs.document_faults, project.documents)
    kept = {**record, WORDING: wording_hash(inputs.queries), "left_out": inputs.left_out, **failed}
    pid, host = os.getpid(), socket.gethostname()
    earlier = reads.interrupted_sweep(engine, fingerprint, came_from.commit, came_from.patch_hash)
    if earlier is not None and earlier.id is not None and writes.claim_sweep(engine, earlier.id, pid=pid, host=host):
        writes.update_sweep(engine, earlier.id, settings=kept)
        return earlier.id
    writes.add_corpus(engine, *document_rows(inputs.documents, inputs.corpus_hash))
    writes.add_questions(engine, query_rows(inputs.queries, inputs.questions_hash))
    now = datetime.now(UTC)
    strata = [query.stratum for query in inputs.queries if not query.answerable]
    needles = {query.answer_id for query in inputs.queries if query.needles}
    sweep = SweepRow(
        key=uuid.uuid4().hex,
        fingerprint=fingerprint,
        state="running",
        created_at=now,
        started_at=now,
        heartbeat_at=now,
        pid=pid,
        host=host,
        commit=came_from.commit,
        branch=came_from.branch,
        tag=came_from.tag,
        author_date=came_from.author_date,
        dirty=came_from.dirty,
        patch_hash=came_from.patch_hash,
        corpus_hash=inputs.corpus_hash,
        questions_hash=inputs.questions_hash,
        hit_rule=inputs.hit_rule,
        pipeline=PIPELINE,
        documents=len(inputs.documents),
        needles=len(needles),
        answerable=sum(query.answerable for query in inputs.queries),
        near=strata.count("near"),
        far=strata.count("far"),
        settings=kept,
        versions=versions(),
    )
    return writes.add_sweep(engine, sweep, queued(project.settings))


def queued(settings: Settings) -> list[CombinationRow]:
    """The grid as rows that wait to be measured."""
    return [
        CombinationRow(
            sweep_id=0,
            position=position,
            key=combination.key,
            strategy=combination.strategy,
            retriever=combination.retriever,
            model=combination.model,
            scorer=combination.scorer,
            state="queued",
        )
        for position, combination in enumerate(settings.combinations)
    ]


def settle_interrupted(engine: Engine, sweeps: Sequence[SweepRow] | None = None) -> bool:
    """Mark sweeps of this machine whose process is gone; what they recorded stays and is taken up again.

    Args:
        engine: The store.
        sweeps: Look at these, which were just read; at all when None.

    Returns:
        Whether there was one, so that what was read before is out of date.
    """
    running = reads.running_sweeps(engine) if sweeps is None else [row for row in sweeps if row.state == "running"]
    gone = [row for row in running if row.host == socket.gethostname() and not _lives(row)]
    if gone:
        writes.mark_interrupted(engine, gone, "its process ended before it was finished")
    return bool(gone)


def _lives(row: SweepRow) -> bool:
    """Whether the process that runs a sweep is still the one that began it."""
    if row.pid is None or row.pid == os.getpid():
        return False
    return lives(row.pid, row.heartbeat_at or row.created_at)


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
