"""A content-addressed cache of a cross-encoder's scores, one file a model: no pair is ever scored twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing

from store.stamped import StampedFile, slices


class PairScoreCache(StampedFile):
    """Scores of one cross-encoder by the hash of question and text."""

    holds, again = "scores", "score"
    tables = ("CREATE TABLE IF NOT EXISTS score (key BLOB PRIMARY KEY, score REAL NOT NULL) WITHOUT ROWID",)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, float]:
        """The cached scores among `keys`."""
        with closing(self._connect()) as connection:
            return {
                key: score
                for marks, part in slices(keys)
                for key, score in connection.execute(
                    f"SELECT key, score FROM score WHERE key IN ({marks})",  # noqa: S608 - placeholders only
                    part,
                )
            }

    def count(self) -> int:
        """How many pairs are scored."""
        with closing(self._connect()) as connection:
            return int(connection.execute("SELECT COUNT(*) FROM score").fetchone()[0])

    def put(self, scores: Mapping[bytes, float]) -> None:
        """Add a batch, whole or not at all."""
        with closing(self._connect()) as connection, connection:
            connection.executemany("INSERT OR IGNORE INTO score VALUES (?, ?)", list(scores.items()))
