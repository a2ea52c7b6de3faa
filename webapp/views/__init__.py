"""One thin module per page: parse, read, build the context, render. A page is served once its blueprint is listed."""

from __future__ import annotations

from flask import Blueprint

from webapp.views import (
    ask,
    compare,
    decisions,
    documents,
    files,
    overview,
    pairs,
    patterns,
    queries,
    questions,
    strategies,
    threshold,
)

BLUEPRINTS: tuple[Blueprint, ...] = (
    overview.blueprint,
    compare.blueprint,
    questions.blueprint,
    ask.blueprint,
    decisions.blueprint,
    strategies.blueprint,
    threshold.blueprint,
    files.blueprint,
    documents.blueprint,
    pairs.blueprint,
    queries.blueprint,
    patterns.blueprint,
)
