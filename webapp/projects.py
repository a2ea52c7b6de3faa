"""The dashboard's project, for pages that need more of it than its store."""

from __future__ import annotations

from experiments.project import Project, ProjectError
from webapp.dashboard import dashboard
from webapp.errors import PageError


class NoProjectError(PageError):
    """The project's files cannot be read."""

    status = 409
    title = "The project cannot be read"

    def __init__(self, why: str) -> None:
        """Say what is wrong with it."""
        super().__init__(why, "Mend the project file; `bluffline check` says what is wrong.")


def sentences(error: ProjectError) -> str:
    """What is wrong with a project, each fault a sentence: a command's lines end without a full stop."""
    return " ".join(line if line.endswith(".") else f"{line}." for line in str(error).splitlines())


def project_here() -> Project:
    """The dashboard's project.

    Raises:
        NoProjectError: If its file is faulty.
    """
    try:
        return dashboard().project()
    except ProjectError as error:
        raise NoProjectError(sentences(error)) from error
