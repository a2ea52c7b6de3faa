"""What people see: the Flask application, one thin view module per page, contexts, figures and filters.

May import `experiments` (its pure parts), `store` and `corpus`; never torch, MLflow or sentence-transformers.
"""
