"""Measuring a team's own retriever: ask it, find what it returned in the documents, embed that for the gate, record.

It is one combination: its chunking and its models are its own, so that it is crossed with none of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from corpus.check import CheckReport
from corpus.faults import Fault
from corpus.questions import Query
from experiments.own.asking import ask_all
from experiments.own.chunk_table import TableChunk, read_chunks
from experiments.own.kept_answers import kept_answers
from experiments.own.locating import Locator
from experiments.own.responses import MOST_FAILED, Answer, OwnError
from experiments.own.results_file import read_results
from experiments.own.spec import OwnRetriever, Results
from experiments.own_outcomes import Gathered, facts, gather, judge
from experiments.own_tables import input_faults
from experiments.progress import Progress
from experiments.project import Project
from experiments.recorder import Recorder, Say
from experiments.sweep import Inputs
from experiments.workbench import Workbench
from store.tables import CombinationRow

_FAULTS_TOLD = 3


class OwnRetrievers:
    """The retrievers of a team's own in one sweep."""

    def __init__(
        self, project: Project, inputs: Inputs, bench: Workbench, recorder: Recorder, *, sweep_key: str, say: Say
    ) -> None:
        """Prepare to ask them.

        Args:
            project: The project.
            inputs: Its documents and questions.
            bench: Where texts are embedded.
            recorder: Where results go.
            sweep_key: Of the running sweep; names the kept answers of a retriever without a version.
            say: Told what a person should read.
        """
        self._project, self._inputs, self._bench, self._recorder = project, inputs, bench, recorder
        self._sweep_key, self._say = sweep_key, say
        self._specs = {own.name: own for own in project.settings.own}
        self._locator: Locator | None = None

    def waiting(self, name: str) -> int:
        """Questions that are still to be asked."""
        own = self._specs[name]
        if isinstance(own.source, Results):
            return 0
        kept = kept_answers(own, self._project.var, self._sweep_key)
        return sum(kept.get(text) is None for text in {query.text for query in self._inputs.queries})

    def measure(self, row: CombinationRow, model: str, progress: Progress, *, fresh: bool) -> None:
        """Ask one, and record what came of it.

        Args:
            row: Its combination.
            model: Whose distances the gate reads.
            progress: Told of every question and text.
            fresh: Ask again for what was answered before.

        Raises:
            OwnError: If it cannot be asked, or its chunk table cannot be read.
            ModelError: If the gate's model could not be loaded.
        """
        own, queries = self._specs[row.retriever], self._inputs.queries
        self._bench.encoder(model)  # before anything is asked: without it nothing could be judged
        if self._locator is None:
            self._locator = Locator(self._inputs.documents)
        chunks = self._chunks(own, self._locator)
        gathered = gather(queries, self._answers(own, progress, fresh=fresh), chunks, self._locator)
        if not gathered.tally.judged:
            self._recorder.cannot_be_judged(row, facts(own, queries, gathered, chunks is not None), _why(gathered))
            return
        embedded, asked = self._bench.compared(gathered.texts, model, f"texts of {own.name}", progress)
        retrieval = judge(own, queries, gathered, chunks, self._locator, embedded, asked)
        self._recorder.record(row, retrieval, self._bench.encoder(model).stamp)

    def _answers(self, own: OwnRetriever, progress: Progress, *, fresh: bool) -> list[Answer]:
        root, queries = self._project.root, self._inputs.queries
        if isinstance(own.source, Results):
            answers, faults = read_results(root / own.source.file, [query.id for query in queries], own.k)
            self._tell(faults)
            return answers
        kept = kept_answers(own, self._project.var, self._sweep_key)
        planned = self.waiting(own.name)
        if fresh:
            kept.forget()
        progress.stage(f"asking {own.name}", self.waiting(own.name), "requests", planned)
        seed = self._project.settings.seed
        try:
            texts = [query.text for query in queries]
            return ask_all(own, texts, kept, root=root, seed=seed, advance=progress.advance)
        except ValueError as error:
            raise OwnError(str(error)) from error

    def _chunks(self, own: OwnRetriever, locator: Locator) -> dict[str, TableChunk] | None:
        if own.chunks is None:
            return None
        chunks, faults = read_chunks(self._project.root / own.chunks, locator)
        if faults:
            more = f" (and {len(faults) - 1:,} more faults: `bluffline check` names them)" if len(faults) > 1 else ""
            raise OwnError(f"{faults[0].sentence}{more}")
        return chunks

    def _tell(self, faults: list[Fault]) -> None:
        for fault in faults[:_FAULTS_TOLD]:
            self._say(fault.sentence)
        if len(faults) > _FAULTS_TOLD:
            self._say(f"... and {len(faults) - _FAULTS_TOLD:,} more; `bluffline check` names them all.")


def own_faults(project: Project, report: CheckReport) -> list[Fault]:
    """Every fault of a project's own retrievers that can be found without asking one.

    Args:
        project: The project.
        report: Its documents and questions, checked.
    """
    settings = project.settings
    if not settings.own or project.file is None:
        return []
    locator = Locator(report.documents)
    files = [fault for own in settings.own for fault in _file_faults(own, project.root, report.queries, locator)]
    return [*input_faults(settings, project.root, project.file), *files]


def _file_faults(own: OwnRetriever, root: Path, queries: Sequence[Query], locator: Locator) -> list[Fault]:
    """Every fault of a retriever's chunk table and file of results."""
    chunks: dict[str, TableChunk] | None = None
    faults: list[Fault] = []
    if own.chunks is not None:
        chunks, faults = read_chunks(root / own.chunks, locator)
    if isinstance(own.source, Results):
        file = root / own.source.file
        answers, wrong = read_results(file, [query.id for query in queries], own.k)
        faults += wrong
        if not wrong:
            judged = gather(queries, answers, chunks, locator).answers
            faults += [
                Fault(str(file), None, query.id, answer.reason, "Correct the file, or leave the question out of both.")
                for query, answer in zip(queries, judged, strict=True)
                if answer.status == "error"
            ]
    return faults


def _why(gathered: Gathered) -> str:
    failed = [one for one in gathered.answers if one.status not in ("ok", "empty", "not asked")]
    first = f"; the first: {failed[0].reason}" if failed else ""
    too_many = f"more than {MOST_FAILED * 100:g} % failed, so no number would say how good it is"
    return f"{gathered.tally.words}; {too_many}{first}"
