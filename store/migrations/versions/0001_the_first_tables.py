"""The first tables.

Revision ID: 0001
Revises:
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "query",
        sa.Column("questions_hash", sa.String(length=64), nullable=False),
        sa.Column("query_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("phrasing", sa.String(), nullable=True),
        sa.Column("stratum", sa.String(), nullable=True),
        sa.Column("needle_id", sa.String(), nullable=True),
        sa.Column("needle", sa.Text(), nullable=True),
        sa.Column("document", sa.String(), nullable=True),
        sa.Column("start", sa.Integer(), nullable=True),
        sa.Column("end", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("questions_hash", "query_id"),
    )
    op.create_table(
        "sweep",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("pid", sa.Integer(), nullable=True),
        sa.Column("host", sa.String(), nullable=True),
        sa.Column("commit", sa.String(), nullable=True),
        sa.Column("branch", sa.String(), nullable=True),
        sa.Column("tag", sa.String(), nullable=True),
        sa.Column("author_date", sa.DateTime(timezone=True), nullable=True),
        sa.Column("dirty", sa.Boolean(), nullable=True),
        sa.Column("patch_hash", sa.String(), nullable=True),
        sa.Column("corpus_hash", sa.String(length=64), nullable=False),
        sa.Column("questions_hash", sa.String(length=64), nullable=False),
        sa.Column("hit_rule", sa.String(), nullable=False),
        sa.Column("pipeline", sa.String(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("needles", sa.Integer(), nullable=False),
        sa.Column("answerable", sa.Integer(), nullable=False),
        sa.Column("near", sa.Integer(), nullable=False),
        sa.Column("far", sa.Integer(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("versions", sa.JSON(), nullable=False),
        sa.Column("stage", sa.String(), nullable=True),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("eta_seconds", sa.Float(), nullable=True),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("mlflow_uri", sa.String(), nullable=True),
        sa.Column("mlflow_run_id", sa.String(), nullable=True),
        sa.Column("mlflow_error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    with op.batch_alter_table("sweep", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sweep_branch"), ["branch"], unique=False)
        batch_op.create_index(batch_op.f("ix_sweep_commit"), ["commit"], unique=False)
        batch_op.create_index(batch_op.f("ix_sweep_corpus_hash"), ["corpus_hash"], unique=False)
        batch_op.create_index(batch_op.f("ix_sweep_fingerprint"), ["fingerprint"], unique=False)
        batch_op.create_index(batch_op.f("ix_sweep_questions_hash"), ["questions_hash"], unique=False)
        batch_op.create_index(batch_op.f("ix_sweep_state"), ["state"], unique=False)

    op.create_table(
        "text",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("sha256"),
    )
    op.create_table(
        "combination",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("sweep_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("strategy", sa.String(), nullable=False),
        sa.Column("retriever", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("retrieval_key", sa.String(length=64), nullable=True),
        sa.Column("measured_in", sa.String(), nullable=True),
        sa.Column("stamp", sa.JSON(), nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("mlflow_run_id", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["sweep_id"], ["sweep.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("sweep_id", "key"),
    )
    with op.batch_alter_table("combination", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_combination_retrieval_key"), ["retrieval_key"], unique=False)
        batch_op.create_index(batch_op.f("ix_combination_sweep_id"), ["sweep_id"], unique=False)

    op.create_table(
        "document",
        sa.Column("corpus_hash", sa.String(length=64), nullable=False),
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("encoding", sa.String(), nullable=False),
        sa.Column("characters", sa.Integer(), nullable=False),
        sa.Column("sections", sa.Integer(), nullable=False),
        sa.Column("text_sha256", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["text_sha256"],
            ["text.sha256"],
        ),
        sa.PrimaryKeyConstraint("corpus_hash", "document_id"),
    )
    op.create_table(
        "hits",
        sa.Column("combination_id", sa.Integer(), nullable=False),
        sa.Column("parquet", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["combination_id"], ["combination.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("combination_id"),
    )
    op.create_table(
        "measure",
        sa.Column("combination_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("low", sa.Float(), nullable=True),
        sa.Column("high", sa.Float(), nullable=True),
        sa.Column("hits", sa.Integer(), nullable=True),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["combination_id"], ["combination.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("combination_id", "name"),
    )
    op.create_table(
        "outcome",
        sa.Column("combination_id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.String(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=True),
        sa.Column("destroyed", sa.Boolean(), nullable=False),
        sa.Column("truncated", sa.Boolean(), nullable=False),
        sa.Column("quotable", sa.Boolean(), nullable=True),
        sa.Column("nearest", sa.Float(), nullable=True),
        sa.Column("needle_distance", sa.Float(), nullable=True),
        sa.Column("chunk_distance", sa.Float(), nullable=True),
        sa.Column("gap", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["combination_id"], ["combination.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("combination_id", "query_id"),
    )
    with op.batch_alter_table("outcome", schema=None) as batch_op:
        batch_op.create_index("ix_outcome_query", ["query_id", "combination_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("outcome", schema=None) as batch_op:
        batch_op.drop_index("ix_outcome_query")

    op.drop_table("outcome")
    op.drop_table("measure")
    op.drop_table("hits")
    op.drop_table("document")
    with op.batch_alter_table("combination", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_combination_sweep_id"))
        batch_op.drop_index(batch_op.f("ix_combination_retrieval_key"))

    op.drop_table("combination")
    op.drop_table("text")
    with op.batch_alter_table("sweep", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sweep_state"))
        batch_op.drop_index(batch_op.f("ix_sweep_questions_hash"))
        batch_op.drop_index(batch_op.f("ix_sweep_fingerprint"))
        batch_op.drop_index(batch_op.f("ix_sweep_corpus_hash"))
        batch_op.drop_index(batch_op.f("ix_sweep_commit"))
        batch_op.drop_index(batch_op.f("ix_sweep_branch"))

    op.drop_table("sweep")
    op.drop_table("query")
