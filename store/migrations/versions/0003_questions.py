"""Questions with several needles, and questions about whole documents.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Nullable: questions recorded before have one needle, which their other columns say whole.
    op.add_column("query", sa.Column("needles", sa.JSON(), nullable=True))
    op.add_column("query", sa.Column("require", sa.String(), nullable=True))
    op.add_column("query", sa.Column("relevant", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("query", "relevant")
    op.drop_column("query", "require")
    op.drop_column("query", "needles")
