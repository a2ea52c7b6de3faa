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
        "bluffline: the store cannot be read or written: database is locked. Is another process writing, or the disk "
        "full?"
    ]
