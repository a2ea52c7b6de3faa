"""Decisions, which are only ever added.

The triggers make that true for whoever has the database open, not only for this program. A later migration that lets
Alembic rebuild the table on SQLite (batch mode) has to make them again: a rebuilt table loses its triggers.

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

REFUSAL = "a decision is never changed or deleted: record a new one, which supersedes it"

SQLITE = (
    f"CREATE TRIGGER decision_no_update BEFORE UPDATE ON decision BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END",
    f"CREATE TRIGGER decision_no_delete BEFORE DELETE ON decision BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END",
    # INSERT OR REPLACE deletes the old row without firing the trigger above.
    "CREATE TRIGGER decision_no_replace BEFORE INSERT ON decision "  # noqa: S608 - constants
    "WHEN EXISTS (SELECT 1 FROM decision WHERE id = NEW.id OR key = NEW.key OR supersedes = NEW.supersedes) "
    f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END",
)
POSTGRESQL = (
    "CREATE FUNCTION decision_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$",
    "CREATE TRIGGER decision_no_change BEFORE UPDATE OR DELETE ON decision "
    "FOR EACH ROW EXECUTE FUNCTION decision_is_append_only()",
    "CREATE TRIGGER decision_no_truncate BEFORE TRUNCATE ON decision "
    "FOR EACH STATEMENT EXECUTE FUNCTION decision_is_append_only()",
)


def upgrade() -> None:
    op.create_table(
        "decision",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("supersedes", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("project", sa.String(), nullable=False),
        sa.Column("sweep_id", sa.Integer(), nullable=False),
        sa.Column("sweep_key", sa.String(length=32), nullable=False),
        sa.Column("commit", sa.String(), nullable=True),
        sa.Column("branch", sa.String(), nullable=True),
        sa.Column("dirty", sa.Boolean(), nullable=True),
        sa.Column("combination", sa.String(), nullable=False),
        sa.Column("strategy", sa.String(), nullable=False),
        sa.Column("strategy_spec", sa.String(), nullable=False),
        sa.Column("retriever", sa.String(), nullable=False),
        sa.Column("retriever_settings", sa.String(), nullable=True),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("stamp", sa.JSON(), nullable=False),
        sa.Column("threshold", sa.Float(), nullable=False),
        sa.Column("gate_size", sa.Integer(), nullable=False),
        sa.Column("corpus_hash", sa.String(length=64), nullable=False),
        sa.Column("questions_hash", sa.String(length=64), nullable=False),
        sa.Column("hit_rule", sa.String(), nullable=False),
        sa.Column("pipeline", sa.String(), nullable=False),
        sa.Column("picked_by", sa.String(), nullable=False),
        sa.Column("costs", sa.JSON(), nullable=False),
        sa.Column("unanswerable_share", sa.Float(), nullable=False),
        sa.Column("target", sa.Float(), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["supersedes"], ["decision.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
        sa.UniqueConstraint("supersedes"),
    )
    for statement in {"sqlite": SQLITE, "postgresql": POSTGRESQL}.get(op.get_bind().dialect.name, ()):
        op.execute(statement)


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER decision_no_replace")
        op.execute("DROP TRIGGER decision_no_delete")
        op.execute("DROP TRIGGER decision_no_update")
    op.drop_table("decision")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION decision_is_append_only()")
