"""Alembic's entry: migrations run on the connection that `store.engine` hands over."""

from alembic import context
from sqlmodel import SQLModel

import store.tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()

__all__ = ["store"]
