"""HTML: the main text as a reader sees it, without navigation, scripts and hidden nodes.

Parsed by selectolax's Lexbor, which builds the same tree as browsers do. Nothing is fetched, run or resolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from corpus.extraction.blocks import CELLS, Block, heading, paragraph, rendered
from corpus.extraction.extracted import Extracted, Extraction
from corpus.extraction.limits import Limits
from corpus.extraction.text_files import decoded

_NEVER = frozenset(
    """
    script style template noscript svg canvas iframe object embed audio video map head button select option input
    textarea dialog nav frame frameset datalist
    """.split()  # noqa: SIM905 - a list of so many names is no easier to read
)
_ALWAYS = frozenset(("html", "body", "main", "article"))
_BLOCKS = frozenset(
    """
    address article aside blockquote body caption center dd details dir div dl dt fieldset figcaption figure footer form
    header hr html legend li main menu ol p pre search section summary table tbody td tfoot th thead tr ul
    h1 h2 h3 h4 h5 h6
    """.split()  # noqa: SIM905
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BOILERPLATE_ROLES = frozenset(
    ("navigation", "banner", "contentinfo", "search", "menu", "menubar", "dialog", "toolbar")
)
# Whole words of a class or an id, so that "navy" and "advertise" are none.
_BOILERPLATE = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navbox|navigation|menu|sidebar|breadcrumbs?|cookies?|editsection|noprint|skip-link|"
    r"sr-only|visually-hidden|screen-reader-text)(?:$|[\s_-])",
    re.IGNORECASE,
)
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))", re.IGNORECASE)
_HIDING_RULE = re.compile(r"(?:^|[}\s])([^{}@]+)\{([^{}]*)\}")
_SIMPLE_SELECTOR = re.compile(r"\s*([.#][\w-]+)\s*$")
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_:.-]{2,40})")
_SPACES = re.compile(r"[ \t\n\r\f\xa0]+")
_META_BYTES = 4_096


class Page(NamedTuple):
    """What stands on a page."""

    blocks: list[Block]
    title: str | None
    tables: int


def read(data: bytes, limits: Limits, format_name: str) -> Extracted:
    """Return the main text of a page.

    Raises:
        ExtractionError: If the bytes are no text.
    """
    text, encoding = decode_html(data)
    page = read_page(text)
    whole = rendered(page.blocks, page.title if page.blocks else None)
    return Extracted(
        whole.text,
        page.title,
        whole.locators,
        Extraction(format_name, headings=whole.headings, tables=page.tables),
        encoding,
    )


def decode_html(data: bytes) -> tuple[str, str]:
    """Decode a page: its byte order mark decides, then what it says of itself where that is true, then its bytes."""
    if not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        head = data[:_META_BYTES]
        said = _META_CHARSET.search(head) or _XML_ENCODING.match(head)
        if said:
            name = said[1].decode("ascii").lower()
            # Browsers read these names as Windows-1252, which has the quotation marks they lack.
            name = "cp1252" if name in ("iso-8859-1", "latin-1", "latin1", "ascii", "us-ascii") else name
            try:
                return data.decode(name), name
            except (LookupError, ValueError):
                pass
    return decoded(data)


def read_page(text: str) -> Page:
    """Return the blocks of a page's main text."""
    try:
        tree = LexborHTMLParser(text)
    except SelectolaxError:  # any text is a page, so only memory can be what is missing
        raise MemoryError from None
    root = tree.root
    if root is None:
        return Page([], None, 0)
    titles = tree.css("head > title")
    title = " ".join(titles[0].text().split()) if titles else None
    hidden = _hidden_selectors(tree)
    main = next((node for node in tree.css("main, [role=main]") if not _is_hidden(node, hidden)), None)
    top = main or tree.body or root
    reader = _PageReader(hidden, within_main=main is not None)
    blocks = list(reader.blocks(top))
    if not blocks and main is not None:  # an empty frame that scripts would have filled
        blocks = list(_PageReader(hidden, within_main=False).blocks(tree.body or root))
    first = [block for block in blocks if block.level == 1]
    # One heading of the first level is the title; what the window says often has the site's name behind it.
    if len(first) == 1:
        title = first[0].text
    return Page(blocks, title or None, reader.tables)


def _hidden_selectors(tree: LexborHTMLParser) -> frozenset[str]:
    """Return the classes and ids that the page's own rules hide, as ``.name`` and ``#name``."""
    found: set[str] = set()
    for style in tree.css("style"):
        rules = re.sub(r"/\*.*?\*/", "", style.text(), flags=re.DOTALL)
        rules = re.sub(r"@[^{}]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", rules)  # of other media, mostly print
        for selectors, body in _HIDING_RULE.findall(rules):
            if _HIDDEN_STYLE.search(body):
                simple = (_SIMPLE_SELECTOR.match(one) for one in selectors.split(","))
                found.update(one[1] for one in simple if one)
    return frozenset(found)


def _is_hidden(node: LexborNode, hidden: frozenset[str]) -> bool:
    attributes = node.attributes
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    if _HIDDEN_STYLE.search(attributes.get("style") or ""):
        return True
    names = [f".{name}" for name in (attributes.get("class") or "").split()]
    return bool(hidden) and not hidden.isdisjoint([*names, f"#{attributes.get('id') or ''}"])


class _PageReader:
    """Walks a tree without recursion, however deep it is."""

    def __init__(self, hidden: frozenset[str], *, within_main: bool) -> None:
        self.tables = 0
        self._hidden = hidden
        self._within_main = within_main
        self._words: list[str] = []
        self._level = 0  # of the heading being read
        self._prefix = ""
        self._lists: list[int | None] = []  # numbers of open lists
        self._pre = 0
        self._row: list[str] | None = None
        self._table_depth = 0

    def blocks(self, top: LexborNode) -> Iterator[Block]:
        """Yield headings and paragraphs below a node."""
        node: LexborNode | None = top
        while node is not None:
            entered = self._enters(node)
            if entered:
                yield from self._open(node)
            if entered and node.child is not None:
                node = node.child
                continue
            while node is not None:
                if node.is_element_node and (entered or node.child is not None):
                    yield from self._close(node)
                if node.mem_id == top.mem_id:
                    node = None
                elif node.next is not None:
                    node = node.next
                    break
                else:
                    node = node.parent
                    entered = True
        yield from self._flush()

    def _enters(self, node: LexborNode) -> bool:
        if node.is_text_node:
            text = node.text_content or ""
            self._words.append(text if self._pre else _SPACES.sub(" ", text))
            return False
        if not node.is_element_node or node.tag in _NEVER or _is_hidden(node, self._hidden):
            return False
        return node.tag in _ALWAYS or not self._is_boilerplate(node)

    def _is_boilerplate(self, node: LexborNode) -> bool:
        attributes = node.attributes
        named = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        if attributes.get("role") in _BOILERPLATE_ROLES or _BOILERPLATE.search(named):
            return True
        if self._within_main or node.tag not in ("header", "footer"):
            return False
        # Headers and footers of the page are not text, those of an article and one that holds the title are.
        return not _within(node, ("article", "section")) and node.css_first("h1") is None

    def _open(self, node: LexborNode) -> Iterator[Block]:
        tag = node.tag or ""
        if tag == "br":
            self._words.append("\n")
        elif tag == "img" and (alt := (node.attributes.get("alt") or "").strip()):
            self._words.append(f" {alt} ")
        elif tag in ("td", "th") and self._row is not None:
            self._words.append("\0")  # ends a cell
        elif tag in _BLOCKS and self._table_depth and self._row is not None:
            self._words.append(" ")
            if tag == "table":
                self._table_depth += 1
        elif tag in _BLOCKS:
            yield from self._flush()
            self._enter_block(tag)

    def _enter_block(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._level = _HEADINGS[tag]
        elif tag == "pre":
            self._pre += 1
        elif tag in ("ul", "menu", "dir"):
            self._lists.append(None)
        elif tag == "ol":
            self._lists.append(0)
        elif tag == "li":
            if self._lists and self._lists[-1] is not None:
                self._lists[-1] += 1
                self._prefix = f"{self._lists[-1]}. "
            else:
                self._prefix = "- "
        elif tag == "table":
            self._table_depth += 1
            self.tables += 1
        elif tag == "tr":
            self._row = []

    def _close(self, node: LexborNode) -> Iterator[Block]:
        tag = node.tag or ""
        if tag == "tr" and self._row is not None and self._table_depth == 1:
            cells = "".join(self._words).split("\0")
            texts = [" ".join(cell.split()) for cell in cells]
            self._words = [CELLS.join(text for text in texts if text)]
            self._row = None
            yield from self._flush(is_row=True)
        elif tag == "table":
            self._table_depth = max(0, self._table_depth - 1)
        elif tag in _BLOCKS and self._row is None:
            yield from self._flush()
        if tag in _HEADINGS:
            self._level = 0
        elif tag == "pre":
            self._pre = max(0, self._pre - 1)
        elif tag in ("ul", "ol", "menu", "dir") and self._lists and self._row is None:
            self._lists.pop()

    def _flush(self, *, is_row: bool = False) -> Iterator[Block]:
        text = "".join(self._words).replace("\0", " ")
        self._words = []
        if not self._pre and not is_row:
            text = "\n".join(" ".join(line.split()) for line in text.split("\n"))
        if not text.strip():
            return
        if self._level:
            yield heading(self._level, text)
        elif self._pre:
            yield paragraph(text.strip("\n"))
        else:
            yield paragraph(self._prefix + text.strip())
        self._prefix = ""


def _within(node: LexborNode, tags: tuple[str, ...]) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.tag in tags:
            return True
        parent = parent.parent
    return False
