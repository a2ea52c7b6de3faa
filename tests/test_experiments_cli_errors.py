"""What goes wrong on the command line, in one line."""

import sqlite3

import pytest
from sqlalchemy.exc import OperationalError

from experiments.cli.errors import told


def test_what_the_database_refused_is_one_line_without_the_statement_and_its_values(capsys):
    statement = "SELECT a,\n b FROM decision WHERE reason = ?"
    with pytest.raises(SystemExit) as ended, told():
        raise OperationalError(statement, ("a private reason",), sqlite3.OperationalError("database is locked"))
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.splitlines() == [
        "bluffline: the store cannot be read or written: database is locked. Is another process writing, the disk "
        "full, or the folder read-only?"
    ]


def test_a_cache_that_cannot_be_written_says_what_may_be_wrong(capsys):
    with pytest.raises(SystemExit), told():
        raise sqlite3.OperationalError("attempt to write a readonly database")
    assert capsys.readouterr().err == (
        "bluffline: a file under the project's var/ cannot be read or written: attempt to write a readonly database. "
        "Is another process writing, the disk full, or the folder read-only?\n"
    )
