"""What a team's own retriever is, as its table in the project file says it; secrets are never part of it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

DEADLINE = 10.0  # seconds
CONCURRENCY = 4  # requests at once; a function is called once at a time unless told otherwise
RETRIES = 2
SIZE_LIMIT = 10_000_000  # bytes of one answer
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Function:
    """A Python callable `module:name` that takes a question and k, or with `batch` all questions at once."""

    path: str
    batch: bool = False

    @property
    def words(self) -> str:
        """For people."""
        return f"{self.path}{', all questions at once' if self.batch else ''}"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An HTTP address that answers in JSON.

    Attributes:
        url: With `{query}` and `{k}` where a GET says them; `${NAME}` stands for an environment variable.
        method: GET, POST or another.
        headers: Names and values; `${NAME}` in a value stands for an environment variable.
        request: What is sent as JSON; None sends nothing. A text may hold `{query}`; a text that is `{k}` and nothing
            else becomes the number.
        paths: Where texts, ids, scores, documents, starts and ends stand in the answer, by those names.
    """

    url: str
    method: str
    headers: tuple[tuple[str, str], ...]
    request: Any = field(hash=False)  # dicts have no hash, and projects need one
    paths: Mapping[str, str] = field(hash=False)

    @property
    def words(self) -> str:
        """For people: without what follows the question mark, which may hold a secret written plainly."""
        return f"{self.method} {self.url.partition('?')[0]}"

    @property
    def variables(self) -> tuple[str, ...]:
        """Environment variables it needs."""
        texts = [self.url, *(value for _, value in self.headers)]
        return tuple(dict.fromkeys(name for text in texts for name in _VARIABLE.findall(text)))

    def address(self, query: str, k: int) -> str:
        """The address of one request."""
        url = _VARIABLE.sub(lambda found: quote(os.environ.get(found[1], ""), safe=""), self.url)
        return url.replace("{query}", quote(query, safe="")).replace("{k}", str(k))

    def secrets(self) -> dict[str, str]:
        """The headers as they are sent. Never to be written anywhere.

        Raises:
            ValueError: If an environment variable is not set, by name.
        """
        absent = [name for name in self.variables if not os.environ.get(name)]
        if absent:
            raise ValueError(f"the environment variable {', '.join(absent)} is not set")
        return {name: _VARIABLE.sub(lambda found: os.environ[found[1]], value) for name, value in self.headers}

    def body(self, query: str, k: int) -> bytes | None:
        """What is sent with one request, as JSON; escaping is the encoder's."""
        if self.request is None:
            return None
        return json.dumps(_filled(self.request, query, k), ensure_ascii=False).encode("utf-8", "backslashreplace")

    def without_secrets(self, text: str) -> str:
        """A text with the values of the environment variables blotted out, as a server may repeat what it was sent."""
        for name in self.variables:
            value = os.environ.get(name, "")
            if value:
                text = text.replace(value, f"${{{name}}}").replace(quote(value, safe=""), f"${{{name}}}")
        for _, value in self.headers:
            if not _VARIABLE.search(value) and len(value) > 3:
                text = text.replace(value, "...")
        return text


def _filled(template: Any, query: str, k: int) -> Any:
    if isinstance(template, dict):
        return {name: _filled(value, query, k) for name, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, query, k) for value in template]
    if isinstance(template, str):
        # One pass, so that a question that says {k} is sent as it is.
        return k if template == "{k}" else re.sub(
            r"\{query\}|\{k\}", lambda found: query if found[0] == "{query}" else str(k), template
        )  # fmt: skip
    return template


@dataclass(frozen=True, slots=True)
class Results:
    """A file of what was returned: JSON lines, or a TREC run."""

    file: str

    @property
    def words(self) -> str:
        """For people."""
        return self.file


Source = Function | Endpoint | Results


@dataclass(frozen=True, slots=True)
class OwnRetriever:
    """A team's own retriever.

    Attributes:
        name: What it is called in `[sweep] retrievers`.
        source: How it is asked.
        chunks: Path of a table of its chunks, relative to the project; None where it does not show them.
        k: How many results are asked for and looked at.
        deadline: Seconds one attempt may take.
        concurrency: Questions asked at once.
        retries: Further attempts after one that may succeed later; for an endpoint only.
        version: Names what the retriever is at the moment; None where nobody can know, and nothing of an earlier sweep
            is read again.
    """

    name: str
    source: Source
    chunks: str | None = None
    k: int = 20
    deadline: float = DEADLINE
    concurrency: int = CONCURRENCY
    retries: int = RETRIES
    version: str | None = None

    @property
    def words(self) -> str:
        """For people: what is asked, for how much, and what is known of it."""
        parts = [self.source.words, f"k = {self.k}"]
        if self.chunks:
            parts.append(f"chunks {self.chunks}")
        if self.version:
            parts.append(f"version {self.version}")
        return ", ".join(parts)

    @property
    def record(self) -> dict[str, Any]:
        """The settings as they are kept with a sweep; of headers the names alone, of a url nothing after `?`."""
        kept: dict[str, Any] = {
            "asks": self.source.words,
            "k": self.k,
            "chunks": self.chunks,
            "version": self.version,
            "settings": self.identity[:16],
        }
        if not isinstance(self.source, Results):
            kept |= {"deadline": self.deadline, "concurrency": self.concurrency}
        if isinstance(self.source, Endpoint):
            kept |= {"headers": [name for name, _ in self.source.headers], "retries": self.retries}
        return kept

    @property
    def identity(self) -> str:
        """Hash of all that shapes an answer, a secret's name but never its value included."""
        source = self.source
        what: tuple[Any, ...]
        if isinstance(source, Endpoint):
            headers = sorted((name.lower(), value) for name, value in source.headers)
            what = (source.url, source.method, headers, source.request, sorted(source.paths.items()))
        elif isinstance(source, Function):
            what = (source.path, source.batch)
        else:
            what = (source.file,)
        parts = (type(source).__name__, what, self.k, self.version)
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "backslashreplace")).hexdigest()


def endpoint_faults(url: str) -> str:
    """Why an address cannot be asked; empty where it can be."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        return str(error)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "must begin with http:// or https:// and name a host"
    if parts.username or parts.password:
        return 'must not hold a password: it would be recorded; send it in headers, as in Authorization = "${NAME}"'
    return ""
