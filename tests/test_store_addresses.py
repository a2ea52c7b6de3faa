"""What may be shown of an address: never what lets somebody in."""

from __future__ import annotations

import pytest

from experiments.tracking import Ledger
from experiments.tracking_client import TrackingError, reason_of
from store.addresses import without_password
from store.engine import StoreError, open_store


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://ada:s3cret@host:5000/x", "http://host:5000/x"),
        ("https://s3cret@host", "https://host"),
        ("https://ada:s3@cret@host/a", "https://host/a"),
        ("postgresql+psycopg://ada:s3cret@db/x", "postgresql+psycopg://ada:***@db/x"),
        ("postgresql://db/x?user=ada&password=s3cret&a=1", "postgresql://db/x?user=ada&password=***&a=1"),
        ("cannot reach 'http://ada:s3cret@host', nor http://b:s3cret@c", "cannot reach 'http://host', nor http://c"),
        ("http://host:5000/a@b", "http://host:5000/a@b"),
        ("sqlite:////srv/a:b@c/var.db", "sqlite:////srv/a:b@c/var.db"),
    ],
)
def test_an_address_is_shown_without_its_password(address, shown):
    assert without_password(address) == shown


def test_no_message_of_the_tracking_server_holds_its_password(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    ledger = Ledger("http://ada:s3cret@127.0.0.1:9", "x", tmp_path, timeout=1)
    with pytest.raises(TrackingError) as refused:
        ledger.find()
    assert "http://127.0.0.1:9" in str(refused.value)
    assert "s3cret" not in str(refused.value) + ledger.uri + reason_of(ValueError("at http://a:s3cret@b"))


def test_no_message_of_the_store_holds_its_password():
    for url in ("nodb://ada:s3cret@host/x", "postgresql://ada:s3cret@host:port/x", "//ada:s3cret@host"):
        with pytest.raises(StoreError) as refused:
            open_store(url)
        assert "s3cret" not in str(refused.value), url
