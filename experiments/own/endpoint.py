"""Asking an HTTP endpoint one question: one total deadline an attempt, a limit on what is read, and clear reasons."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

import httpx2

from experiments.own.json_paths import read_list
from experiments.own.responses import Answer, Returned, answered, checked
from experiments.own.spec import SIZE_LIMIT, Endpoint, OwnRetriever

LONGEST_WAIT = 60.0  # seconds a server may ask to wait before it is asked again
_REDIRECTS = 5  # followed to the same host only
_BODY_SHOWN = 120  # characters of an answer that is no use
_FAILED_STATUS = 400
_ANY_ZLIB = zlib.MAX_WBITS | 32  # gzip or zlib, by its header
_AGAIN = frozenset({408, 425, 429})  # of the 4xx: the same request may succeed later


class Attempt(NamedTuple):
    """One attempt: an answer, and whether a later attempt may do better."""

    answer: Answer
    again: bool = False
    wait: float | None = None  # seconds the server asked to wait


class EndpointAsker:
    """Asks one endpoint over connections that are kept open."""

    def __init__(self, own: OwnRetriever, endpoint: Endpoint) -> None:
        """Prepare to ask.

        Raises:
            ValueError: If an environment variable that the headers need is not set.
        """
        self._own, self._endpoint = own, endpoint
        self._headers = {
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "User-Agent": "bluffline",
            **endpoint.secrets(),
        }
        self._clients: dict[str, httpx2.AsyncClient] = {}

    async def close(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            await client.aclose()

    def _client(self, scheme: str) -> httpx2.AsyncClient:
        """One a scheme: reading the certificates one trusts takes as long as twenty requests, and http needs none."""
        if scheme not in self._clients:
            most = self._own.concurrency
            self._clients[scheme] = httpx2.AsyncClient(
                headers=self._headers,
                follow_redirects=False,
                timeout=None,  # an attempt has one deadline over all of it
                limits=httpx2.Limits(max_connections=most, max_keepalive_connections=most),
                # Without a certificate in it a context trusts nobody.
                verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if scheme == "http" else True,
            )
        return self._clients[scheme]

    async def attempt(self, query: str) -> Attempt:
        """Ask once."""
        begin = time.perf_counter()
        try:
            async with asyncio.timeout(self._own.deadline):
                response, body = await self._fetch(query)
        except (TimeoutError, httpx2.TimeoutException):
            return Attempt(Answer("timeout", reason=f"no answer within {self._own.deadline:g} s"), again=True)
        except httpx2.TransportError as error:
            return Attempt(Answer("error", reason=self._said(f"{type(error).__name__}: {error}")), again=True)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            return Attempt(Answer("error", reason=self._said(str(error))))
        milliseconds = (time.perf_counter() - begin) * 1000
        if response.status_code >= _FAILED_STATUS:
            again = response.status_code in _AGAIN or response.status_code >= 500
            reason = self._said(f"status {response.status_code}: {_beginning(body)}")
            return Attempt(Answer("error", reason=reason), again, _wait(response.headers.get("Retry-After")))
        try:
            returned = read_answer(body, self._endpoint.paths)[: self._own.k]
        except ValueError as error:
            reason = f"status {response.status_code}, {error}; it begins {_beginning(body)}"
            return Attempt(Answer("error", reason=self._said(reason)))
        return Attempt(answered(returned, milliseconds))

    async def _fetch(self, query: str) -> tuple[httpx2.Response, bytes]:
        own, endpoint = self._own, self._endpoint
        body = endpoint.body(query, own.k)
        address = httpx2.URL(endpoint.address(query, own.k))
        request = self._client(address.scheme).build_request(
            endpoint.method,
            address,
            content=body,
            headers=None if body is None else {"Content-Type": "application/json"},
        )
        for _ in range(_REDIRECTS + 1):
            response = await self._client(request.url.scheme).send(request, stream=True)
            try:
                if response.next_request is None:
                    return response, await _read(response)
                there = response.next_request.url
                if there.host != request.url.host or (request.url.scheme, there.scheme) == ("https", "http"):
                    raise ValueError(
                        f"status {response.status_code}: it redirects to {there.scheme}://{there.host}, which is not "
                        "followed; name that address if you trust it"
                    )
                request = response.next_request
            finally:
                await response.aclose()
        raise ValueError(f"it redirects more than {_REDIRECTS} times")

    def _said(self, reason: str) -> str:
        return self._endpoint.without_secrets(" ".join(reason.split()))[:500]


async def _read(response: httpx2.Response) -> bytes:
    """The body, never more of it in memory than may be read: a few bytes may unpack to gigabytes."""
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise ValueError(f"status {response.status_code}: the answer is packed as {encoding[:40]!r}; only gzip is read")
    unpack = None if encoding in ("", "identity") else zlib.decompressobj(_ANY_ZLIB)
    parts, size = [], 0
    async for raw in response.aiter_raw():
        try:
            part = raw if unpack is None else unpack.decompress(raw, SIZE_LIMIT - size + 1)
        except zlib.error:
            raise ValueError(f"status {response.status_code}: the answer is no {encoding}") from None
        size += len(part)
        if size > SIZE_LIMIT:
            raise ValueError(f"status {response.status_code}: the answer is larger than {SIZE_LIMIT:,} bytes")
        parts.append(part)
    if unpack is not None and not unpack.eof and size:
        raise ValueError(f"status {response.status_code}: the answer ends in the middle of its {encoding}")
    return b"".join(parts)


def read_answer(body: bytes, paths: Mapping[str, str]) -> list[Returned]:
    """The results in a JSON answer.

    Args:
        body: The answer.
        paths: Where `texts`, `ids`, `scores`, `documents`, `starts` and `ends` stand in it; texts or ids at least.

    Raises:
        ValueError: If it is no JSON, a path leads nowhere, or the lists are not of one length.
    """
    try:
        value = json.loads(body, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("the answer is nested too deeply to be read") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise ValueError(f"the answer is not JSON ({error})") from None
    columns: dict[str, list[Any]] = {name: read_list(path, value) for name, path in paths.items()}
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        counted = ", ".join(f"{count} {name}" for name, count in sizes.items())
        raise ValueError(f"the paths give lists of different lengths: {counted}")
    fields = {name: name.removesuffix("s") for name in columns}  # texts -> text
    rows = zip(*columns.values(), strict=True)
    return [
        checked(Returned(**{"text": None, **dict(zip(fields.values(), row, strict=True))}), place)
        for place, row in enumerate(rows, 1)
    ]


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _beginning(body: bytes) -> str:
    text = " ".join(body[: 4 * _BODY_SHOWN].decode("utf-8", "replace").split())
    return repr(text if len(text) <= _BODY_SHOWN else text[:_BODY_SHOWN] + "…") if text else "nothing"


def _wait(written: str | None) -> float | None:
    """Seconds that a Retry-After header asks for: a number, or a date."""
    if not written:
        return None
    try:
        if written.strip().isdigit():
            return float(written)
        return max(0.0, (parsedate_to_datetime(written) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
