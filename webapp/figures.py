"""Figures on their way into a page: Plotly's own encoder, escaped for the script element they stand in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from flask import Flask
from markupsafe import Markup
from plotly.utils import PlotlyJSONEncoder

# What must not stand in a script element as it is; in JSON each may be written by its code point.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "'": "\\u0027"})


def figure_json(spec: Mapping[str, Any]) -> Markup:
    """A figure as JSON: arrays as lists, what is no number as null, nothing that could end the element.

    Args:
        spec: `data` and `layout` as Plotly takes them; colours are names of the style sheet, written `var(--right)`,
            which the browser resolves for the theme at hand.
    """
    written = json.dumps(spec, cls=PlotlyJSONEncoder, separators=(",", ":"))
    return Markup(written.translate(_ESCAPES))  # noqa: S704 - escaped in the line above


def register(app: Flask) -> None:
    """Give templates the filter."""
    app.add_template_filter(figure_json)
