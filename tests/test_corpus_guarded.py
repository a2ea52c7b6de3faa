"""Files are read in processes of their own, under limits."""

import hashlib
import os
from pathlib import Path

from corpus.extraction.extracted import Extracted, ExtractionError
from corpus.extraction.guarded import extract_many
from corpus.extraction.limits import Limits


def test_a_file_read_in_a_process_of_its_own_is_what_it_is_in_this_one(tmp_path: Path) -> None:
    file = tmp_path / "a name with ö and spaces.md"
    file.write_text("# Größe\n\n「佐藤」 says \ud83d\n".encode("utf-8", "replace").decode(), encoding="utf-8")
    ((_, found),) = extract_many([file])
    assert isinstance(found, Extracted)
    assert found.text == file.read_text(encoding="utf-8")
    assert found.facts.headings == 1


def test_reasons_come_back_from_the_process(tmp_path: Path) -> None:
    (tmp_path / "empty.md").touch()
    found = dict(extract_many([tmp_path / "empty.md", tmp_path / "gone.md"]))
    reasons = {path.name: (error.kind, error.problem) for path, error in found.items() if isinstance(error, Exception)}
    assert reasons == {
        "empty.md": ("empty", "the file is empty"),
        "gone.md": ("failed", "the file cannot be read (No such file or directory)"),
    }


def test_a_file_that_takes_too_long_is_given_up_and_the_next_one_is_read(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.md").write_text("Words.", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe.md")  # opening it waits for a writer that never comes
    paths = [tmp_path / name for name in ("pipe.md", "a.md", "b.md")]
    found = dict(extract_many(paths, Limits(seconds=1.5, processes=2)))
    assert {path.name for path in found} == {"pipe.md", "a.md", "b.md"}
    slow = found[paths[0]]
    assert isinstance(slow, ExtractionError)
    assert slow.kind == "too-slow"
    assert [one.text for one in (found[paths[1]], found[paths[2]])] == ["Words.", "Words."]  # type: ignore[union-attr]


def test_a_file_that_holds_something_else_by_now_gives_no_text(tmp_path: Path) -> None:
    """Its text would be kept under the hash of what it held before."""
    file = tmp_path / "a.md"
    file.write_text("Words.", encoding="utf-8")
    same = hashlib.sha256(b"Words.").hexdigest()
    ((_, found),) = extract_many([file], contents={file: same})
    assert isinstance(found, Extracted)
    ((_, found),) = extract_many([file], contents={file: hashlib.sha256(b"Other words.").hexdigest()})
    assert isinstance(found, ExtractionError)
    assert (found.kind, found.problem) == ("failed", "the file changed while it was read")
