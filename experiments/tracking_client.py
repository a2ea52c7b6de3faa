"""Connecting to a tracking server, and saying in one line what it did wrong."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from store.addresses import without_password
from store.write_ahead import write_ahead

TIMEOUT = 20.0  # seconds for one request


class TrackingError(Exception):
    """The tracking server cannot be read or written; nothing is lost, `bluffline sync` does later what is left."""


def client_of(uri: str, timeout: float = TIMEOUT) -> Any:
    """A client of MLflow that takes a server's absence for a normal event: seconds, not the minutes of its defaults.

    Args:
        uri: Tracking URI.
        timeout: Seconds for one request. MLflow's own environment variables go before it.
    """
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", f"{max(timeout, 1):.0f}")
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "ERROR")
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    from mlflow import MlflowClient  # noqa: PLC0415 - a second of imports

    if uri.startswith("sqlite:///"):
        _prepare_database(Path(uri.removeprefix("sqlite:///")))
    return MlflowClient(uri)


def _prepare_database(file: Path) -> None:
    """Make MLflow's database with a write-ahead log: a run is six commits, and each then costs a third of the syncs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file, timeout=20)) as connection:
        write_ahead(connection)


def is_remote(uri: str) -> bool:
    """Whether another process stands between us and what is tracked."""
    return uri.startswith(("http:", "https:", "databricks"))


_NO_ENTRY = "; set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN"
# What MLflow and its libraries say, and what that means; the first that is found.
_MEANINGS = (
    (r"(?:error code |too many )?\b(401|403)\b(?= != 200| Client Error| error resp)",
     f"the server answered {{}}: it does not let this user in{_NO_ENTRY}"),
    (r"\b404\b(?= Client Error)|No such file|No such artifact|not a directory", "it is not there"),
    (r"(?:error code |too many )(\d{3})|\b(\d{3}) (?:Client|Server) Error", "the server answered {}"),
    (r"imed out", "the server did not answer in time; [tracking] timeout sets how many seconds a request may take"),
    (r"Connection refused|NewConnectionError|Connection aborted|RemoteDisconnected|NameResolution",
     "nothing answers there"),
    ("ensure that the path is correct", "it is not there"),
)  # fmt: skip


def reason_of(error: BaseException) -> str:
    """What went wrong, in a line: MLflow wraps a refusal in pages of its own and its libraries' words."""
    said = without_password(" ".join(str(error).split()))
    for pattern, meaning in _MEANINGS:
        match = re.search(pattern, said)
        if match:
            return meaning.format(next((group for group in match.groups() if group), ""))
    return said[:300] or type(error).__name__
