"""The entries at the top of every page; an entry appears once its page exists."""

from __future__ import annotations

from typing import Any, NamedTuple

from flask import Flask, current_app, request, url_for

from webapp.dashboard import dashboard
from webapp.sweeps import current_sweep_id


class Entry(NamedTuple):
    """A place in the navigation: the label and the endpoint it leads to."""

    label: str
    endpoint: str
    of_a_sweep: bool = False


class NavLink(NamedTuple):
    """An entry as the template shows it."""

    label: str
    url: str
    current: bool


ENTRIES = (
    Entry("Overview", "overview.page"),
    Entry("Strategies", "strategies.page", of_a_sweep=True),
    Entry("Win/loss", "pairs.page", of_a_sweep=True),
    Entry("Threshold", "threshold.page", of_a_sweep=True),
    Entry("Queries", "queries.page", of_a_sweep=True),
    Entry("Compare", "compare.page"),
    Entry("Documents", "documents.page"),
    Entry("Questions", "questions.page"),
    Entry("Ask", "ask.page"),
    Entry("Decisions", "decisions.page"),
)


def navigation() -> tuple[NavLink, ...]:
    """The links that work here; those of a sweep only when there is one."""
    links = []
    for entry in ENTRIES:
        if entry.endpoint not in current_app.view_functions:
            continue
        values: dict[str, Any] = {}
        if entry.of_a_sweep:
            sweep_id = current_sweep_id()
            if sweep_id is None:
                continue
            values["sweep_id"] = sweep_id
        current = request.blueprint == entry.endpoint.partition(".")[0]
        links.append(NavLink(entry.label, url_for(entry.endpoint, **values), current))
    return tuple(links)


def home_url() -> str:
    """The overview, or the root while there is none."""
    return url_for("overview.page") if "overview.page" in current_app.view_functions else "/"


def dashboard_title() -> str:
    """What this dashboard is called."""
    return dashboard().title


def register(app: Flask) -> None:
    """Give templates the navigation."""
    app.jinja_env.globals.update(navigation=navigation, home_url=home_url, dashboard_title=dashboard_title)
