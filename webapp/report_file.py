"""A sweep's pages as one HTML file: opens from disk, needs no server, prints.

It is made of the dashboard's own pages, so that it says what they say; what only works with a server (forms, files,
menus) is left out, and links between the pages become links within the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from flask import Flask
from lxml import etree, html
from markupsafe import escape

from store.tables import SweepRow
from webapp.assets import PLOTLY, PLOTLY_STYLES, product_version
from webapp.report_pages import MOST_QUESTIONS, Page, Pages, questions_in

# What only works with a server, or tells how to work it.
_DROPPED_TAGS = frozenset({"nav", "button", "noscript"})
_DROPPED_CLASSES = frozenset({"filters", "links", "steps", "no-print", "no-js", "needs-js", "hint", "compare"})
_DROPPED_INPUTS = frozenset({"hidden", "checkbox", "radio", "range", "submit"})
_REFERENCES = ("for", "headers", "aria-labelledby", "aria-describedby", "aria-controls", "list", "data-figure",
               "data-threshold-line")  # fmt: skip


def report_file(asked: Pages) -> str:
    """The report.

    Args:
        asked: The pages of a sweep.

    Raises:
        ValueError: If a page cannot be shown; the message names it.
    """
    app, pages = asked.app, asked.of_report()
    places = {urlsplit(page.address).path: f"p{number}" for number, page in reversed(list(enumerate(pages)))}
    parts = [
        f'<section class="report-page" id="p{number}">\n<h1 class="report-title">{escape(page.title)}</h1>\n'
        f"{_body(asked.document(page.address), page.title, f'p{number}', places)}\n</section>"
        for number, page in enumerate(pages)
    ]
    return _DOCUMENT.format(
        title=escape(f"Sweep {asked.loaded.sweep.id} · {asked.loaded.sweep.key[:8]}"),
        styles=_static(app, PLOTLY_STYLES),
        own=_static(app, "app.css"),
        plotly=_script(_static(app, PLOTLY)),
        script=_script(_static(app, "app.js")),
        strip=_strip(asked.document(pages[0].address)),
        contents=_contents(pages),
        parts="\n".join(parts),
        left_out=_left_out(asked.loaded.sweep),
        version=escape(product_version()),
    )


def _contents(pages: Sequence[Page]) -> str:
    """Links to the pages; those of several alike stand in lines below the page they belong to."""
    lines = []
    for number, page in enumerate(pages):
        link = f'<a href="#p{number}">{escape(page.title.partition(": ")[2] or page.title)}</a>'
        lines.append(f"<h2>{link}</h2>" if page.level == 1 else f"<span>{link}</span>")
        if page.level == 2 and pages[number - 1].level == 1:  # thresholds have no page above them all
            kind = page.title.partition(":")[0] if ":" in page.title else ""
            lines[-1] = f"<h2>{escape(kind)}</h2>{lines[-1]}" if kind == "Threshold" else lines[-1]
    return "\n".join(lines)


def _strip(document: html.HtmlElement) -> str:
    """Which sweep it is: commit, corpus, questions and time, as its pages say above everything else."""
    strip = next(element for element in document.iter("section") if element.get("class") == "strip")
    _drop(strip)
    _date(strip)
    return _written(strip)


def _body(document: html.HtmlElement, title: str, place: str, places: dict[str, str]) -> str:
    """What a page says, with ids of its own."""
    main = next(document.iter("main"))
    _drop(main)
    _fill_in(main)
    _date(main)
    for element in main.iter(etree.Element):
        for name in [name for name in element.attrib if name.startswith("hx-")]:
            del element.attrib[name]
        if "id" in element.attrib:
            element.attrib["id"] = f"{place}-{element.attrib['id']}"
        for name in _REFERENCES:
            if name in element.attrib:
                element.attrib[name] = " ".join(f"{place}-{one}" for one in element.attrib[name].split())
        if element.tag in ("section", "aside") or element.get("role") == "region":
            _name_apart(element, title)
        if element.tag == "a":
            _lead_within(element, place, places)
    heading = main.find("h1")
    if heading is not None:
        main.remove(heading)
    return "".join(map(_written, main))


def _written(element: html.HtmlElement) -> str:
    return str(html.tostring(element, encoding="unicode", with_tail=False))


def _drop(root: html.HtmlElement) -> None:
    for element in list(root.iter(etree.Element)):
        is_script = element.tag == "script" and element.get("type") != "application/json"
        is_control = element.tag == "input" and element.get("type") in _DROPPED_INPUTS
        dropped = element.tag in _DROPPED_TAGS or _DROPPED_CLASSES & set(element.get("class", "").split())
        if is_script or is_control or dropped:
            element.drop_tree()


def _fill_in(main: html.HtmlElement) -> None:
    """Forms become what was filled into them."""
    for select in list(main.iter("select")):
        options = list(select.iter("option"))
        chosen = next((option for option in options if "selected" in option.attrib), *options[:1])
        _become(select, chosen.text_content())
    for field in list(main.iter("input", "textarea")):
        _become(field, field.get("value") or field.text or "")
    for form in main.iter("form"):
        form.tag = "div"
        for name in ("action", "method", "enctype"):
            form.attrib.pop(name, None)


def _date(root: html.HtmlElement) -> None:
    """Times are written out: "9 minutes ago" would be said for ever."""
    for time in list(root.iter("time")):
        _become(time, time.get("title", ""))


def _become(element: html.HtmlElement, words: str) -> None:
    tail = element.tail
    element.clear()
    element.tag, element.text, element.tail = "span", words, tail


def _name_apart(landmark: html.HtmlElement, title: str) -> None:
    """Several pages stand in one file: who jumps from landmark to landmark must hear which page one belongs to."""
    landmark.attrib.pop("aria-labelledby", None)
    if "aria-label" in landmark.attrib:
        landmark.attrib["aria-label"] = f"{landmark.attrib['aria-label']}, {title}"


def _lead_within(link: html.HtmlElement, place: str, places: dict[str, str]) -> None:
    parts = urlsplit(link.attrib.pop("href", ""))
    link.attrib.pop("download", None)
    if not parts.path and parts.fragment:
        link.attrib["href"] = f"#{place}-{parts.fragment}"
    elif parts.path in places:
        there = places[parts.path]
        link.attrib["href"] = f"#{there}-{parts.fragment}" if parts.fragment else f"#{there}"
    else:  # a page that is not in the report stays words
        link.tag = "span"


def _static(app: Flask, name: str) -> str:
    return (Path(app.static_folder or "static") / name).read_text("utf-8")


def _script(source: str) -> str:
    """A script as the content of its element: nothing in it may end the element."""
    return source.replace("</script", "<\\/script")


def _left_out(sweep: SweepRow) -> str:
    if questions_in(sweep) <= MOST_QUESTIONS:
        return ""
    return (
        f"<p class='note'>The pages of the {questions_in(sweep):,} single questions are left out (there are more than "
        f"{MOST_QUESTIONS}); the table of queries holds all of them, and so do the Parquet files.</p>"
    )


_DOCUMENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style id="plotly.js-style-global" class="no-inline-styles">{styles}</style>
<style>{own}
.report-title {{ font-size: 1.35rem; margin: 2.4rem 0 0.6rem; }}
.report-page {{ border-top: 1px solid var(--line); }}
.report-contents {{ font-size: var(--small); }}
.report-contents h2 {{ font-size: var(--small); margin: 0.8rem 0 0.2rem; }}
.report-contents span {{ display: inline-block; margin: 0 0.9rem 0.1rem 0; }}
@media print {{ .report-page {{ break-before: page; border: 0; }} }}
</style>
<script>{plotly}</script>
<script>{script}</script>
</head>
<body>
{strip}
<main id="main">
<nav class="report-contents" aria-label="Contents">
{contents}
</nav>
{left_out}
{parts}
</main>
<footer class="foot">
<span>Bluffline {version}</span> <span>Every proportion carries its Wilson 95 % interval and n.</span>
</footer>
<div id="toasts" class="toasts" role="status" aria-live="polite"></div>
</body>
</html>
"""
