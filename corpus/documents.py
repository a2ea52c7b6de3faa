"""Documents: a folder of files as canonical texts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from corpus.canonical import EXTRACTOR, front_matter_title, split_front_matter
from corpus.canonical import strip_bibliography as without_bibliography
from corpus.collection import Entry, is_collection, read_collection
from corpus.extraction.cache import ExtractionCache
from corpus.extraction.extracted import Extracted, Extraction, ExtractionError
from corpus.extraction.facts import with_text_facts
from corpus.extraction.formats import SUFFIXES
from corpus.extraction.guarded import extract_many
from corpus.extraction.limits import Limits
from corpus.extraction.reading import Reader, cache_key, extract_bytes, read_limited, reader_of
from corpus.faults import Fault, in_order
from corpus.folder_listing import SourceFile, list_folder, printable
from corpus.headings import title_heading
from corpus.locators import Locator, clipped, locate

WAITING = "waiting"  # kind of a fault: the file is only not read yet
NOT_YET = "It is searched once `bluffline documents index` has read it."
_WITH_FRONT_MATTER = ("markdown", "text")


@dataclass(frozen=True, slots=True)
class Document:
    """One canonical text.

    Attributes:
        id: POSIX path relative to the documents folder.
        title: The first ``# `` heading, else the front matter's title, else a heading underlined with ``===``,
            else the file's name without suffix.
        text: The canonical text; every offset counts code points in it.
        source: Path of the file it was read from.
        sha256: Hex digest of the canonical text in UTF-8.
        encoding: What the file was read in; empty for formats that say so themselves.
        file_sha256: Hex digest of the file's bytes.
        extractor: What made the text of the file: rules, library and their versions.
        locators: Which places of the file the text came from; empty where the text is the file itself.
        extraction: What extraction did.
    """

    id: str
    title: str
    text: str
    source: str
    sha256: str
    encoding: str
    file_sha256: str = ""
    extractor: str = ""
    locators: tuple[Locator, ...] = ()
    extraction: Extraction = field(default_factory=Extraction)

    def locator(self, start: int, end: int) -> str:
        """Return the fragment that leads to a range of the text, as ``#page=12`` or ``#char=25873,26272``."""
        return locate(self.locators, start, end)


@dataclass(frozen=True, slots=True)
class LoadedDocuments:
    """The documents that could be read, by id, the faults of the others, and the files nobody tried to read."""

    documents: tuple[Document, ...]
    faults: tuple[Fault, ...]
    skipped: tuple[str, ...] = ()


def load_documents(
    folder: Path,
    *,
    strip_front_matter: bool = True,
    strip_bibliography: Sequence[str] = (),
    limits: Limits | None = None,
    cache: Path | None = None,
    extract_new: bool = True,
) -> LoadedDocuments:
    """Read every document of a folder and its subfolders, or of a collection: one JSONL file with all of them.

    Hidden files and folders are ignored, files of formats that are no documents and linked folders are listed as
    skipped, and links that lead out of the folder are faults.

    Args:
        folder: The documents folder, or a file of many documents as `corpus.collection` reads it.
        strip_front_matter: Whether YAML or TOML front matter is cut off (its title is used all the same).
        strip_bibliography: Titles of the closing heading that is cut off with everything behind it.
        limits: What one file may cost.
        cache: Folder of what was extracted before; None extracts everything anew.
        extract_new: Whether what takes a process of its own is extracted where the cache does not hold it.
    """
    if is_collection(folder):
        return _collection(folder, (limits or Limits()).megabytes)
    listing = list_folder(folder)
    if listing.problem:
        return LoadedDocuments((), (Fault(folder.as_posix(), None, "", listing.problem, "Check the path."),))
    documents: list[Document] = []
    faults = list(listing.faults)
    faulty = {fault.file for fault in faults}
    for _, loaded in read_documents(
        listing.files,
        strip_front_matter=strip_front_matter,
        strip_bibliography=strip_bibliography,
        limits=limits,
        cache=cache,
        extract_new=extract_new,
    ):
        if isinstance(loaded, Document):
            documents.append(loaded)
        else:
            faults.append(loaded)
    if not documents and not faults:
        advice = f"Put files ending in {', '.join(SUFFIXES)} into it."
        faults.append(Fault(folder.as_posix(), None, "", "the documents folder holds no documents", advice))
    by_id = tuple(sorted(documents, key=lambda document: document.id))
    skipped = (file.name for file in listing.others if printable(file.path.as_posix()) not in faulty)
    return LoadedDocuments(by_id, in_order(faults), tuple(sorted(skipped)))


def read_documents(
    files: Sequence[SourceFile],
    *,
    strip_front_matter: bool = True,
    strip_bibliography: Sequence[str] = (),
    limits: Limits | None = None,
    cache: Path | None = None,
    extract_new: bool = True,
    try_failed: bool = False,
    begun: Callable[[SourceFile], object] = lambda _: None,
) -> Iterator[tuple[SourceFile, Document | Fault]]:
    """Read files as documents, each as soon as it is done.

    Formats that may hang or break whoever reads them are read in processes of their own, several at a time.

    Args:
        files: As `list_folder` gives them.
        strip_front_matter: As for `load_documents`.
        strip_bibliography: As for `load_documents`.
        limits: What one file may cost.
        cache: Folder of what was extracted before.
        extract_new: As for `load_documents`; what is left out is a fault of the kind `waiting`.
        try_failed: Whether to read anew what the cache knows to have failed under the same limits.
        begun: Told of each file when its reading begins, from the thread that waits for it.
    """
    kept = ExtractionCache(cache) if cache is not None else None
    for file, found in _extracted(files, limits or Limits(), kept, extract_new, try_failed, begun):
        if isinstance(found, Fault):
            yield file, found
        else:
            yield file, _document(file, found, strip_front_matter, strip_bibliography)


def _collection(path: Path, megabytes: int) -> LoadedDocuments:
    entries, faults = read_collection(path, megabytes)
    documents = sorted((of_entry(entry, path) for entry in entries), key=lambda document: document.id)
    return LoadedDocuments(tuple(documents), in_order(faults))


def of_entry(entry: Entry, path: Path) -> Document:
    """Return a document of a collection; its text is its own, wherever the file ends."""
    facts = with_text_facts(Extraction(format="text"), entry.text)
    return Document(
        id=entry.id,
        title=entry.title,
        text=entry.text,
        source=path.as_posix(),
        sha256=entry.sha256,
        encoding="utf-8",
        file_sha256=entry.sha256,
        extractor=EXTRACTOR,
        extraction=facts,
    )


class _Read(NamedTuple):
    """A file's text, with what it was made of."""

    extracted: Extracted
    file_sha256: str
    extractor: str


def _extracted(
    files: Sequence[SourceFile],
    limits: Limits,
    cache: ExtractionCache | None,
    extract_new: bool,
    try_failed: bool,
    begun: Callable[[SourceFile], object],
) -> Iterator[tuple[SourceFile, _Read | Fault]]:
    """Read files, each as soon as it can be: those in the cache and the harmless ones at once."""
    waiting: dict[Path, tuple[SourceFile, str, Reader]] = {}
    for file in files:
        try:
            reader = reader_of(file.path)
            data = read_limited(file.path, limits)
            sha256 = hashlib.sha256(data).hexdigest()
            known = failed = None
            if cache is not None and reader.guarded:
                key = cache_key(reader, limits)
                known = cache.get(sha256, key)
                failed = cache.failure(sha256, key, limits) if known is None and not try_failed else None
            if failed is not None:
                begun(file)
                yield file, fault_of(file.path, failed)
            elif known is None and reader.guarded and data:
                if extract_new:
                    waiting[file.path] = (file, sha256, reader)
                else:
                    yield file, Fault(file.path.as_posix(), None, "", "the file is not extracted yet", NOT_YET, WAITING)
            else:
                begun(file)
                yield file, _Read(known or extract_bytes(data, reader, limits), sha256, reader.extractor)
        except (ExtractionError, OSError) as error:
            yield file, fault_of(file.path, error)
    contents = {path: sha256 for path, (_, sha256, _) in waiting.items()}
    for path, found in extract_many(list(waiting), limits, lambda path: begun(waiting[path][0]), contents):
        file, sha256, reader = waiting[path]
        if isinstance(found, ExtractionError):
            if cache is not None:
                cache.put_failure(sha256, cache_key(reader, limits), limits, found)
            yield file, fault_of(path, found)
            continue
        if cache is not None:
            cache.put(sha256, cache_key(reader, limits), found)
        yield file, _Read(found, sha256, reader.extractor)


def fault_of(path: Path, error: ExtractionError | OSError) -> Fault:
    """Return why a document has no text as a fault."""
    file = path.as_posix()
    if isinstance(error, ExtractionError):
        return Fault(file, error.line, error.value, error.problem, error.advice, error.kind)
    problem = f"the file cannot be read ({error.strerror})"
    return Fault(file, None, "", problem, "Check its permissions.", "failed")


def _document(file: SourceFile, read: _Read, strip_front_matter: bool, bibliography: Sequence[str]) -> Document | Fault:
    source = file.path.as_posix()
    extracted = read.extracted
    front_matter, body = "", extracted.text
    if extracted.facts.format in _WITH_FRONT_MATTER:
        front_matter, body = split_front_matter(extracted.text)
    kept = without_bibliography(body if strip_front_matter else extracted.text, bibliography)
    if not kept.strip():
        problem = "nothing is left of the file without its front matter and bibliography"
        return Fault(source, None, "", problem, "Write the document, or remove the file.", "empty")
    title = extracted.title or _title(body, front_matter) or PurePosixPath(file.name).stem
    return Document(
        id=file.name,
        title=title,
        text=kept,
        source=source,
        sha256=hashlib.sha256(kept.encode("utf-8")).hexdigest(),
        encoding=extracted.encoding,
        file_sha256=read.file_sha256,
        extractor=read.extractor,
        locators=clipped(extracted.locators, len(kept)),
        extraction=extracted.facts,
    )


def _title(body: str, front_matter: str) -> str | None:
    heading = title_heading(body)
    if heading is not None and not heading.underlined:
        return heading.title
    return front_matter_title(front_matter) or (heading.title if heading else None)
