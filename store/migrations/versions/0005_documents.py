"""Files of the documents folder with their states, runs of the indexer, and how a document's text came out of its file.

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

NEW_COLUMNS = ("file_sha256", "extractor", "locators", "extraction")


def upgrade() -> None:
    with op.batch_alter_table("document") as batch:
        batch.add_column(sa.Column("file_sha256", sa.String(length=64), nullable=True))
        batch.add_column(sa.Column("extractor", sa.String(), nullable=True))
        batch.add_column(sa.Column("locators", sa.JSON(), nullable=True))
        batch.add_column(sa.Column("extraction", sa.JSON(), nullable=True))
    op.create_table(
        "file",
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("file_sha256", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("advice", sa.Text(), nullable=True),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("times", sa.JSON(), nullable=False),
        sa.Column("indexed_sha256", sa.String(length=64), nullable=True),
        sa.Column("text_sha256", sa.String(length=64), nullable=True),
        sa.Column("title", sa.String(), nullable=True),
        sa.Column("encoding", sa.String(), nullable=True),
        sa.Column("extractor", sa.String(), nullable=True),
        sa.Column("pipeline", sa.String(), nullable=True),
        sa.Column("stamp", sa.JSON(), nullable=True),
        sa.Column("characters", sa.Integer(), nullable=True),
        sa.Column("sections", sa.Integer(), nullable=True),
        sa.Column("pages", sa.Integer(), nullable=True),
        sa.Column("tables", sa.Integer(), nullable=True),
        sa.Column("chunks", sa.JSON(), nullable=True),
        sa.Column("extraction", sa.JSON(), nullable=True),
        sa.Column("locators", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(["text_sha256"], ["text.sha256"]),
        sa.PrimaryKeyConstraint("document_id"),
    )
    op.create_index("ix_file_state", "file", ["state"], unique=False)
    op.create_table(
        "indexing",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=True),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("eta_seconds", sa.Float(), nullable=True),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_indexing_state", "indexing", ["state"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_indexing_state", table_name="indexing")
    op.drop_table("indexing")
    op.drop_index("ix_file_state", table_name="file")
    op.drop_table("file")
    with op.batch_alter_table("document") as batch:
        for name in NEW_COLUMNS:
            batch.drop_column(name)
