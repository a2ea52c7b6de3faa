"""Whether a process that was started earlier still lives."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import psutil

_BIRTH = timedelta(seconds=2)  # when a process was born is known to about a second


def utc(moment: datetime) -> datetime:
    """A time with its zone; SQLite gives back UTC without saying so."""
    return moment.replace(tzinfo=moment.tzinfo or UTC)


def lives(pid: int, since: datetime) -> bool:
    """Whether the process is still there, and is the one that was there at `since` (UTC, with or without saying so)."""
    try:
        process = psutil.Process(pid)
        born = datetime.fromtimestamp(process.create_time(), UTC)
        return process.status() != psutil.STATUS_ZOMBIE and born <= utc(since) + _BIRTH
    except psutil.Error:
        return False
