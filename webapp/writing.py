"""Answers that a local generator writes: each in a thread, watched while it is written, stopped when asked to."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Literal, cast

from flask import current_app

from experiments.asking.answering import Written, prompt_of, write
from experiments.asking.answers import Answer
from experiments.asking.asker import Asker
from experiments.asking.citations import CitationError
from experiments.asking.generation import Generator, find_generator
from experiments.asking.generator_loading import GeneratorError
from experiments.project import Project
from experiments.settings import AskSettings
from webapp import background

EXTENSION = "bluffline-writing"
KEPT = 32

Stage = Literal["waiting", "loading", "writing", "done", "failed"]
Key = tuple[str, AskSettings]


class Writing:
    """One answer while it is written, and when it is."""

    def __init__(self) -> None:
        """Begin to wait for the generator."""
        self.stage: Stage = "waiting"
        self.since = time.monotonic()
        self.tokens = 0
        self.text = ""
        self.name = ""
        self.written: Written | None = None
        self.fault = ""
        self.stopping = threading.Event()

    @property
    def lives(self) -> bool:
        """Whether it will still change."""
        return self.stage not in ("done", "failed")

    def advance(self, tokens: int, text: str) -> bool:
        """Take note of one more token; False stops the generator."""
        self.tokens, self.text = tokens, text
        self.stage = "writing"
        return not (self.stopping.is_set() or background.ending())


class Writers:
    """Lets one generator write at a time, and remembers what it wrote."""

    def __init__(self, find: Callable[[str, Path], Generator] = find_generator) -> None:
        """Prepare; no generator is looked for yet."""
        self._find = find
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._generators: dict[str, Generator] = {}
        self._writings: OrderedDict[Key, Writing] = OrderedDict()

    def of(self, project: Project, answer: Answer) -> Writing | None:
        """What is or was written from these chunks to this question; None where nobody asked for it."""
        return None if answer.refused else self._writings.get(_key(project, answer))

    def start(self, project: Project, answer: Answer, asker: Asker) -> Writing:
        """Begin to write; what is being written or is written already is not written again, what failed is.

        Raises:
            ValueError: If the gate refused, or the project has no generator.
        """
        key, spec = _key(project, answer), project.ask.generator
        if spec is None:
            raise ValueError("no generator is configured")
        with self._lock:
            known = self._writings.get(key)
            if known is not None and known.stage != "failed":
                return known
            writing = self._writings[key] = Writing()
            ended = [old for old, one in self._writings.items() if not one.lives]
            for old in ended[: max(len(self._writings) - KEPT, 0)]:
                del self._writings[old]
        background.start("writing", lambda: self._work(writing, project, spec, answer, asker))
        return writing

    def _work(self, writing: Writing, project: Project, spec: str, answer: Answer, asker: Asker) -> None:
        try:
            with self._turn:
                writing.stage, writing.since = "loading", time.monotonic()
                generator = self._found(spec, project)
                writing.name = generator.stamp.name
                settings = project.ask
                writing.written = write(
                    answer,
                    asker,
                    generator,
                    max_tokens=settings.max_tokens,
                    time_limit=settings.time_limit,
                    on_token=writing.advance,
                )
            writing.stage = "done"
        except (GeneratorError, CitationError) as error:
            writing.fault = str(error)
        except Exception as error:  # somebody else's model: whatever it raises is said, and nothing hangs
            logging.getLogger(__name__).exception("the generator failed")
            writing.fault = f"the generator failed: {type(error).__name__}: {error}"
        finally:
            if writing.stage != "done":
                writing.stage = "failed"

    def _found(self, spec: str, project: Project) -> Generator:
        if spec not in self._generators:
            found = self._find(spec, project.model_files)
            load = getattr(found, "load", None)
            if load is not None:
                load()
            self._generators = {spec: found}  # one at a time: they are large
        return self._generators[spec]


def _key(project: Project, answer: Answer) -> Key:
    """The prompt is everything an answer is written from."""
    return prompt_of(answer).text, project.ask


def writers() -> Writers:
    """The writers of the application that handles this request."""
    return cast("Writers", current_app.extensions.setdefault(EXTENSION, Writers()))
