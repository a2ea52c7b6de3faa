"""What is kept: tables, the engine and its migrations, writes, reads, and the vector cache.

Imports nothing of ours. The store is the dashboard's read model; MLflow is the ledger.
"""
