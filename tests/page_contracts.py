"""What every page must keep: its context is what its templates use, and each fragment is a part of its page."""

from __future__ import annotations

import re
from dataclasses import fields

from flask import Flask
from flask.testing import FlaskClient
from jinja2 import meta
from jinja2.nodes import Import, Include

# Names a page's own blocks may use without its context: base.html imports these.
OF_THE_BASE = {"frame", "request", "session", "g", "config"}


def names_used(app: Flask, template: str) -> set[str]:
    """Variables a template and what it includes take from the context, globals excluded."""
    environment = app.jinja_env
    source, _, _ = environment.loader.get_source(environment, template)
    tree = environment.parse(source)
    # a block is a frame of its own, in which the names its template imports count as undeclared
    found = set(meta.find_undeclared_variables(tree)) - {imported.target for imported in tree.find_all(Import)}
    for include in tree.find_all(Include):
        found |= names_used(app, include.template.value)
    return found - set(environment.globals) - OF_THE_BASE


def text(client: FlaskClient, path: str, status: int = 200) -> str:
    """A page that answers as expected."""
    response = client.get(path)
    assert response.status_code == status, response.get_data(as_text=True)[:2000]
    return response.get_data(as_text=True)


def assert_context_is_what_the_templates_use(app: Flask, view: str, context: type) -> None:
    """No field is carried that nothing shows, and nothing is shown that no field carries."""
    used = names_used(app, f"{view}/page.html")
    declared = {field.name for field in fields(context)}
    assert used == declared, f"only used: {sorted(used - declared)}; only declared: {sorted(declared - used)}"


def assert_fragment_is_part_of_its_page(client, url: str, fragment: str) -> None:
    """What htmx gets for a fragment stands unchanged in the page of the same address, under its id."""
    whole = client.get(url)
    part = client.get(url, headers={"HX-Request": "true", "HX-Request-Type": "partial", "HX-Target": f"div#{fragment}"})
    assert whole.status_code == part.status_code == 200
    text = part.get_data(as_text=True).strip()
    assert re.match(rf'<\w+[^>]*\bid="{fragment}"', text), text[:200]
    assert "<!doctype" not in text
    assert text in whole.get_data(as_text=True)
