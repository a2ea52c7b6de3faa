"""Combinations of other kinds: a second model, and a team's own retriever.

The second model of `rerank` and `late`: its name, its score of the best chunk, and whose window cut an answer off.
A team's own retriever need not show its chunks: whether a needle was destroyed may not be known.

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


# Plain ADD and DROP COLUMN on both databases where tables have triggers: rebuilt, `decision` would lose its own.
def upgrade() -> None:
    op.add_column("combination", sa.Column("scorer", sa.String(), nullable=True))
    op.add_column("outcome", sa.Column("truncated_by", sa.String(), nullable=True))
    op.add_column("outcome", sa.Column("scorer_score", sa.Float(), nullable=True))
    op.add_column("decision", sa.Column("scorer", sa.String(), nullable=True))
    op.add_column("decision", sa.Column("scorer_stamp", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("decision", sa.Column("fusion", sa.String(), nullable=True))
    with op.batch_alter_table("outcome") as outcome:
        outcome.alter_column("destroyed", existing_type=sa.Boolean(), nullable=True)


def downgrade() -> None:
    op.execute(sa.text("UPDATE outcome SET destroyed = false WHERE destroyed IS NULL"))
    with op.batch_alter_table("outcome") as outcome:
        outcome.alter_column("destroyed", existing_type=sa.Boolean(), nullable=False)
    op.drop_column("decision", "fusion")
    op.drop_column("decision", "scorer_stamp")
    op.drop_column("decision", "scorer")
    op.drop_column("outcome", "scorer_score")
    op.drop_column("outcome", "truncated_by")
    op.drop_column("combination", "scorer")
