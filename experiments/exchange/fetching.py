"""Fetching files of runs, and saying of each that cannot be had which it was and why."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from experiments.row_files import UnreadableFileError
from experiments.run_writing import ARTIFACT_FOLDER
from experiments.tracking_client import TrackingError, reason_of


class Fetcher:
    """Reads artifacts of runs, and counts how many it asked for."""

    def __init__(self, client: Any, experiment_id: str, uri: str) -> None:
        """Remember whom to ask."""
        self._client, self._experiment_id, self._uri = client, experiment_id, uri
        self.asked = 0

    def file(self, run_id: str, name: str) -> bytes:
        """One file of a run.

        Raises:
            UnreadableFileError: If it cannot be had, though the server is there.
            TrackingError: If the server went away.
        """
        self.asked += 1
        with tempfile.TemporaryDirectory() as folder:
            try:
                place = self._client.download_artifacts(run_id, f"{ARTIFACT_FOLDER}/{name}", folder)
                return Path(place).read_bytes()
            except Exception as error:  # network, server, disk: MLflow lets each library's own family through
                self._require_server()
                raise UnreadableFileError(f"{name}: {reason_of(error)}") from error

    def _require_server(self) -> None:
        """One thing that cannot be had is told of, and the next is tried; not so with a server that is away."""
        try:
            self._client.get_experiment(self._experiment_id)
        except Exception as error:
            raise TrackingError(
                f"MLflow at {self._uri} cannot be read any more: {reason_of(error)}; what is left comes with the next "
                "sync"
            ) from error
