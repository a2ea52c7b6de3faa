"""Exchange with the ledger: what of a sweep MLflow holds, where a pulled one came from, and how each sync went.

Revision ID: 0006
Revises: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sweep", sa.Column("mlflow_record", sa.String(length=64), nullable=True))
    op.add_column("sweep", sa.Column("pulled_from", sa.String(), nullable=True))
    op.create_index("ix_sweep_created_at", "sweep", ["created_at"])
    op.create_table(
        "sync",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("pid", sa.Integer(), nullable=True),
        sa.Column("host", sa.String(), nullable=True),
        sa.Column("uri", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=True),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("eta_seconds", sa.Float(), nullable=True),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("faults", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )


def downgrade() -> None:
    op.drop_table("sync")
    op.drop_index("ix_sweep_created_at", "sweep")
    op.drop_column("sweep", "pulled_from")
    op.drop_column("sweep", "mlflow_record")
