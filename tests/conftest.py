"""What every test shares: a calm hypothesis and an empty store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from sqlalchemy import Engine

from store.engine import open_store

# Machines that run tests are shared and slow at times: a deadline an example would say more of them than of the code.
settings.register_profile("bluffline", deadline=None)
settings.load_profile("bluffline")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """An empty store."""
    opened = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    yield opened
    opened.dispose()
