import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy
from alembic import op
from sqlalchemy import inspect, text

from store.engine import MIGRATIONS, StoreError, open_store

ROOT = Path(__file__).parent.parent


def url_of(path):
    return f"sqlite:///{path}"


def run(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def tables_of(path):
    connection = sqlite3.connect(path)
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    return names


def test_a_new_store_and_its_folder_are_made(tmp_path):
    path = tmp_path / "var" / "deep" / "store.db"
    engine = open_store(url_of(path))
    assert {"sweep", "combination", "measure", "outcome", "hits"} <= tables_of(path)
    engine.dispose()


def test_sqlite_logs_ahead_waits_for_locks_and_checks_foreign_keys(engine):
    with engine.connect() as connection:
        read = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "busy_timeout", "foreign_keys", "synchronous")
        }
    assert read == {"journal_mode": "wal", "busy_timeout": 30_000, "foreign_keys": 1, "synchronous": 1}


def test_opening_a_store_again_keeps_what_is_in_it(tmp_path):
    first = open_store(url_of(tmp_path / "store.db"))
    with first.begin() as connection:
        connection.execute(text("INSERT INTO text VALUES ('abc', 'kept')"))
    first.dispose()
    second = open_store(url_of(tmp_path / "store.db"))
    with second.connect() as connection:
        assert connection.execute(text("SELECT text FROM text")).scalar_one() == "kept"
    second.dispose()


def test_a_store_from_a_newer_version_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "store.db"
    engine = open_store(url_of(path))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(StoreError, match=r"newer Bluffline.*version is 9999.*knows up to \d{4}.*upgrade Bluffline"):
        open_store(url_of(path))
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("9999",)]
    connection.close()


def test_a_file_that_is_not_a_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("shopping list\n" * 200)
    with pytest.raises(StoreError, match=r"notes\.txt cannot be opened: file is not a database"):
        open_store(url_of(path))
    assert path.read_text() == "shopping list\n" * 200


def test_another_programs_tables_of_the_same_name_are_refused_and_left_alone(tmp_path):
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE query (mine TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match=r"table .query. already exists"):
        open_store(url_of(path))
    assert tables_of(path) == {"query"}


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("//me:s3cret@bluffline.db", r"@bluffline\.db' cannot be read; write sqlite:///"),
        ("paper:///store", "driver is missing"),
        ("sqlite:////dev/null/store.db", "folder cannot be made"),
        ("sqlite:////dev", "unable to open database file"),
    ],
)
def test_a_place_that_cannot_be_a_store_is_refused_in_one_sentence(url, said):
    with pytest.raises(StoreError, match=said) as refusal:
        open_store(url)
    assert "\n" not in str(refusal.value)
    assert "s3cret" not in str(refusal.value)


def test_a_password_is_never_shown():
    with pytest.raises(StoreError) as refusal:
        open_store("paper://reader:s3cret@server/store")
    assert "s3cret" not in str(refusal.value)
    assert "reader" in str(refusal.value)


def test_a_store_in_a_read_only_folder_is_refused(tmp_path):
    folder = tmp_path / "sealed"
    open_store(url_of(folder / "store.db")).dispose()
    for leftover in folder.iterdir():
        leftover.chmod(0o444)
    folder.chmod(0o555)
    code = (
        "import os, sys\n"
        "from store.engine import StoreError, open_store\n"
        "open_store('sqlite://').dispose()\n"  # what is imported late may lie where root alone may read
        "os.chdir(sys.argv[1])\n"
        "if os.geteuid() == 0:\n"  # root may write anywhere
        "    os.setgroups([]), os.setgid(65534), os.setuid(65534)\n"
        "for name in ('store.db', 'new.db'):\n"
        "    try:\n"
        "        open_store(f'sqlite:///{name}')\n"
        "    except StoreError as error:\n"
        "        print(error)\n"
    )
    if os.geteuid() == 0 and not _others_may_read(MIGRATIONS):
        pytest.skip("the checkout can be read by root alone")
    child = run(code, folder)
    said = child.communicate(timeout=30)[0].splitlines()
    folder.chmod(0o755)
    assert child.returncode == 0, said
    assert len(said) == 2, said
    assert said[0].startswith("the store sqlite:///store.db cannot be opened: ")
    assert said[1].startswith("the store sqlite:///new.db cannot be opened: unable to open database file; ")
    assert all(line.endswith("make the file and its folder writable, or copy them") for line in said)


def _others_may_read(folder):
    return all(part.stat().st_mode & 0o005 == 0o005 for part in (folder, *folder.parents))


def test_a_migration_that_breaks_off_leaves_nothing_and_can_be_run_again(tmp_path, monkeypatch):
    path = tmp_path / "store.db"
    made = []
    create_table = op.create_table

    def breaks(name, *columns, **options):
        made.append(name)
        if len(made) == 4:
            raise sqlalchemy.exc.OperationalError("CREATE TABLE", {}, Exception("the disk is full"))
        return create_table(name, *columns, **options)

    monkeypatch.setattr(op, "create_table", breaks)
    with pytest.raises(StoreError, match="the disk is full"):
        open_store(url_of(path))
    assert tables_of(path) == set()
    monkeypatch.undo()
    engine = open_store(url_of(path))
    assert set(made) <= set(inspect(engine).get_table_names())
    engine.dispose()


def test_processes_that_open_a_new_store_at_once_all_succeed(tmp_path):
    path = tmp_path / "store.db"
    code = (
        "import pathlib, sys, time\n"
        "from store.engine import open_store\n"
        "import store.tables\n"
        "here = pathlib.Path(sys.argv[1])\n"
        "(here / f'ready-{sys.argv[2]}').touch()\n"
        "while not (here / 'go').exists(): time.sleep(0.001)\n"
        "open_store(f'sqlite:///{here}/store.db').dispose()\n"
    )
    children = [run(code, tmp_path, number) for number in range(3)]
    while len(list(tmp_path.glob("ready-*"))) < 3 and all(child.poll() is None for child in children):
        pass
    (tmp_path / "go").touch()
    said = [child.communicate(timeout=30)[0] for child in children]
    assert [child.returncode for child in children] == [0, 0, 0], said
    assert "sweep" in tables_of(path)
