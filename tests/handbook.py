"""A project in a git repository, small enough to be measured with the real embedding model in a test."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from small_project import make_project

DOCUMENTS = {
    "accounts.md": """\
# Accounts

## Passwords

A reset link works once and expires after thirty minutes. Ask for a new one on the sign-in page if it is too old. \
Passwords have at least twelve characters, and the last five cannot be used again.

## Two factors

A second factor can be an authenticator app or a hardware key. Recovery codes are shown once, when the second factor \
is set up. Whoever loses both the factor and the codes has to be identified by an administrator of the organisation.

## Roles

An owner may do everything, an editor may deploy, and a viewer may only read logs. The last owner of an organisation \
cannot leave it.
""",
    "billing.md": """\
# Billing

## Invoices

Invoices are written on the first day of each month and sent to the billing address. A company outside the country \
enters its tax number under organisation settings, and no value added tax is charged from the next invoice on.

## Payment

Cards are charged three days after the invoice was written. When a charge fails it is tried again after two, five and \
nine days, and then the organisation is paused. A paused organisation keeps its data for sixty days.
""",
    "backups.md": """\
# Backups

## Schedule

Every database is copied each night at two o'clock in the region it runs in. Copies are kept for fourteen days, and \
those of the first day of a month for a year.

## Restoring

A copy is restored into a new database beside the old one, never over it. Restoring a hundred gigabytes takes about \
twenty minutes.
""",
    "deployments.md": """\
# Deployments

## Builds

A build that takes longer than forty minutes is stopped. Its cache is kept between builds as long as the lock file \
does not change.

## Rolling back

The last ten releases can be activated again with one click, without building them anew. Database migrations are not \
undone by that.
""",
}

NEW_SECTION = """
## Refunds

An unused month is refunded within ten working days to the card it was paid with.
"""

_ANSWERABLE = (
    ("How long is a password reset link valid?", "A reset link works once and expires after thirty minutes.", "manual"),
    ("clicked the reset mail after lunch and it says expired??",
     "A reset link works once and expires after thirty minutes.", "ticket"),
    ("What does a company abroad have to enter so that it pays no value added tax?",
     "A company outside the country enters its tax number under organisation settings, and no value added tax is "
     "charged from the next invoice on.", "manual"),
    ("How long is the data of a paused organisation kept?", "A paused organisation keeps its data for sixty days.",
     "manual"),
    ("our org got paused, is everything gone now?", "A paused organisation keeps its data for sixty days.", "ticket"),
    ("When are databases copied?",
     "Every database is copied each night at two o'clock in the region it runs in.", "manual"),
    ("Is a copy restored over the old database?",
     "A copy is restored into a new database beside the old one, never over it.", "manual"),
    ("After how many minutes is a build stopped?", "A build that takes longer than forty minutes is stopped.",
     "manual"),
)  # fmt: skip
_UNANSWERABLE = (
    ("How long does a build wait in the queue before it starts?", "near"),
    ("Who may change the tax number?", "near"),
    ("How do I cook paella for six people?", "far"),
    ("When does the train to Lisbon leave?", "far"),
)
ANSWERED, REFUSED = _ANSWERABLE[0][0], _UNANSWERABLE[2][0]
NEEDLE = _ANSWERABLE[0][1]

SWEEP = 'strategies = ["A", "E"]\nretrievers = ["dense", "bm25"]\n'


def make_handbook(folder: Path) -> Path:
    """Write the project and commit it."""
    questions = [
        {"id": f"q{number}", "question": text, "needle": needle, "phrasing": phrasing}
        for number, (text, needle, phrasing) in enumerate(_ANSWERABLE, 1)
    ]
    questions += [
        {"id": f"u{number}", "question": text, "stratum": stratum}
        for number, (text, stratum) in enumerate(_UNANSWERABLE, 1)
    ]
    make_project(folder, sweep=SWEEP, documents=DOCUMENTS, questions=questions)
    (folder / ".gitignore").write_text("var/\n", encoding="utf-8")
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "Handbook")
    return folder


def commit(folder: Path, message: str) -> None:
    """Commit everything."""
    git(folder, "add", "-A")
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    git(folder, *identity, "commit", "-q", "-m", message)


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder."""
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """`bluffline serve` on a free port, in a process of its own."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    command = [sys.executable, "-m", "experiments.cli", "serve", "--project", str(folder), "--port", str(port)]
    with (folder / "var" / "serve.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        url = f"http://127.0.0.1:{port}"
        try:
            _wait(url, process)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=20)


def _wait(url: str, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"{url} does not answer; exit code {process.poll()}")
