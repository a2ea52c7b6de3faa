"""Tables of a project file: typed reads that report every fault at once, with file, line, value and advice."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpus.faults import Fault


class Table:
    """One table of the file: typed reads that collect faults instead of raising the first."""

    def __init__(self, file: Path, name: str, values: Any, faults: list[Fault]) -> None:
        """Begin to read the table `name`; what is wrong is added to `faults`."""
        self._file, self._name, self._faults = file, name, faults
        self._values: dict[str, Any] = {}
        if isinstance(values, Mapping):
            self._values = dict(values)
        else:
            self.fault("", values, "not a table", f"write [{name}] and its settings below it")

    def fault(self, key: str, value: Any, problem: str, advice: str) -> None:
        """Report one setting of this table."""
        line = line_of(self._file, self._name, key)
        where = f"[{self._name}] {key}".strip()
        self._faults.append(Fault(str(self._file), line, str(value), f"{where}: {problem}", advice))

    def take(self, key: str, kind: type | tuple[type, ...], default: Any, words: str) -> Any:
        """Read one setting; `default` where it is absent or, with a fault, of the wrong kind."""
        value = self._values.pop(key, None)
        if value is None:
            return default
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.fault(key, value, f"must be {words}", "correct it")
            return default
        return value

    def take_list(self, key: str, kind: type | tuple[type, ...], default: tuple[Any, ...], words: str) -> Any:
        """Read a list that must not be empty; a tuple."""
        values = self.take(key, list, None, f"a list of {words}")
        if values is None:
            return default
        wrong = [value for value in values if not isinstance(value, kind) or isinstance(value, bool)]
        for value in wrong:
            self.fault(key, value, f"must be a list of {words}", "correct it")
        if not values:
            self.fault(key, "[]", "must not be empty", f"name at least one, or leave {key} out")
        return tuple(values) if values and not wrong else default

    def finish(self, allowed: str) -> None:
        """Report every setting nobody read."""
        for key, value in self._values.items():
            self.fault(key, value, "unknown setting", f"allowed are {allowed}")


_UNQUOTED = str.maketrans("", "", "\"'")


def line_of(file: Path, table: str, key: str = "") -> int | None:
    """The line a setting is written on, or its table where it is not found; `table` may be a setting itself."""
    inside, found = "", None
    for number, line in enumerate(file.read_text("utf-8-sig", errors="replace").splitlines(), 1):
        written = line.split("=", 1)[0].strip()
        if written.startswith("["):
            inside = written.split("]", 1)[0].strip("[ ").translate(_UNQUOTED)
            written = ""
        name = written.translate(_UNQUOTED)
        if key and inside == table and name == key:
            return number
        if found is None and (inside == table or (not inside and name == table)):
            found = number
    return found
