"""The project file: everything that can be wrong with it, all at once, and where everything lies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from small_project import make_project

from corpus.bundled import BUNDLED_DOCUMENTS, BUNDLED_QUESTIONS
from experiments.model_stamps import ModelError
from experiments.project import Project, ProjectError, model_of, open_project


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BLUFFLINE_STORE_URL", raising=False)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.delenv("BLUFFLINE_GENERATOR", raising=False)


def faults(folder: Path, text: str | bytes) -> list[str]:
    file = folder / "bluffline.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ProjectError) as caught:
        open_project(folder)
    assert all(fault.file == str(file.resolve()) for fault in caught.value.faults)
    return [fault.sentence.removeprefix(f"{file.resolve()}") for fault in caught.value.faults]


def test_all_faults_are_reported_at_once_with_their_lines(tmp_path: Path) -> None:
    found = faults(
        tmp_path,
        """\
colour = "red"

[corpus]
documents = 3
stripfrontmatter = true

[sweep]
strategies = ["A", "Z"]
retrievers = ["dense", "colbert"]
models = []
k = [1, 0, "four"]
thresholds = { from = 0.3, to = 0.8 }
alpha = 5.0
seed = -1

[bm25]
k1 = -1.0

[server]
host = 80
port = 99999

[store]
url = true

[strategies.short]
cuts = "sometimes"
budget = 0

[strategies.A]
cuts = "blind"
""",
    )
    assert sorted(found, key=lambda one: int(one.split(":")[1])) == [
        ":1: colour: unknown: 'red'. allowed: [corpus], [sweep], [bm25], [hybrid], [rerank], [store], [tracking], "
        "[server], [ask], [extraction], [gate], [strategies.NAME], [models.NAME], [retrievers.NAME]",
        ":4: [corpus] documents: must be a path in quotes: '3'. correct it",
        ":5: [corpus] stripfrontmatter: unknown setting: 'True'. "
        "allowed are documents, questions, strip_front_matter, strip_bibliography",
        ":8: [sweep] strategies: unknown strategy: 'Z'. known are A, B, C, D, E, F",
        ":9: [sweep] retrievers: unknown retriever: 'colbert'. known are dense, bm25, hybrid, rerank, late; "
        "one of your own needs a table [retrievers.colbert]",
        ":10: [sweep] models: must not be empty: '[]'. name at least one, or leave models out",
        ":11: [sweep] k: must be a list of whole numbers: 'four'. correct it",
        ":12: [sweep] thresholds: a table needs from, to and step: '{'from': 0.3, 'to': 0.8}'. "
        "write [0.5, 0.6] or { from = 0.3, to = 0.8, step = 0.025 }",
        ":13: [sweep] alpha: must lie between 0 and 1: '5.0'. 0.05 is usual",
        ":14: [sweep] seed: must not be negative: '-1'. any whole number from 0 is good",
        *(one for one in found if one.startswith(":16: [bm25]:")),
        ":20: [server] host: must be an address in quotes: '80'. correct it",
        ":21: [server] port: no such port: '99999'. choose one from 1 to 65535",
        ":24: [store] url: must be a database URL in quotes: 'True'. correct it",
        *(one for one in found if one.startswith(":26: strategy 'short': cuts is 'sometimes'")),
        ":30: strategy 'A': the presets A to F cannot be redefined, choose another name: 'A'. correct it",
    ]
    assert len(found) == 16


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[sweep\n", ":1: not readable as TOML"),
        ("[sweep]\nk = [1]\nk = [2]\n", ":3: not readable as TOML"),
        (b"[sweep]\nmodels = ['\xff']\n", ": not readable as TOML"),
        ("sweep = 3\n", ":1: [sweep]: not a table: '3'"),
        ("[[corpus]]\n", ":1: [corpus]: not a table"),
        ("strategies = 3\n", "strategies: not a table"),
        ("[strategies]\nmine = 3\n", ":2: strategy 'mine': not a table, write [strategies.mine]"),
        ("[strategies.mine]\nheader = true\n", ":1: strategy 'mine': cuts is missing"),
        ("[strategies.mine]\ncuts = 'blind'\nsize = 3\n", ":1: strategy 'mine': unknown setting 'size'"),
        ("[sweep]\nalpha = 1\n", ":2: [sweep] alpha: must be a number between 0 and 1: '1'"),
        ("[sweep]\nalpha = nan\n", ":2: [sweep] alpha: must lie between 0 and 1"),
        ("[sweep]\nk = 4\n", ":2: [sweep] k: must be a list of whole numbers: '4'"),
        ("[sweep]\nk = [0]\n", ":2: [sweep] k: must be at least 1: '0'"),
        ("[sweep]\nk = [true]\n", ":2: [sweep] k: must be a list of whole numbers: 'True'"),
        ("[sweep]\nthresholds = []\n", ":2: [sweep] thresholds: a cosine distance lies above 0"),
        ("[sweep]\nthresholds = [0.5, 2.5]\n", "a cosine distance lies above 0 and is at most 2"),
        ("[sweep]\nthresholds = [nan]\n", "[sweep] thresholds: "),
        ("[sweep]\nthresholds = ['x']\n", "[sweep] thresholds: must be numbers"),
        ("[sweep]\nthresholds = [true]\n", "[sweep] thresholds: must be numbers"),
        ("[sweep]\nthresholds = {from = 0.1, to = 0.9, step = 0}\n", "step must be positive"),
        ("[sweep]\nthresholds = {from = 0.1, to = 0.9, step = 0.0000001}\n", "at most 1,000 thresholds"),
        ("[sweep]\nthresholds = {from = 0.9, to = 0.1, step = 0.1}\n", "from at most to"),
        ("[sweep]\nthresholds = {from = nan, to = 0.1, step = 0.1}\n", "[sweep] thresholds: "),
        ("[bm25]\ntokeniser = 'magic'\n", "[bm25]"),
        ("[rerank]\ndepth = 0\n", "[rerank] depth: must be at least 1"),
        ("[rerank]\ndeep = 3\n", "[rerank] deep: unknown setting"),
        ("[corpus]\ndocuments = '~nobody-of-this-name/x'\n", ":2: [corpus] documents: "),
        ("[tracking]\nurl = 'x'\n", ":2: [tracking] url: unknown setting: 'x'. allowed are uri, experiment"),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path: Path, text: str | bytes, said: str) -> None:
    found = faults(tmp_path, text)
    assert len(found) == 1
    assert said in found[0]
    assert "\n" not in found[0]


def test_the_line_is_that_of_the_right_table(tmp_path: Path) -> None:
    found = faults(
        tmp_path, "[strategies.a]\ncuts = 'blind'\n\n[bm25]\nb = 'x'\n\n[sweep]\nseed = 'x'\n\n[server]\nseed = 1\n"
    )
    assert [one.split(" ")[0] for one in found] == [":8:", ":5:", ":11:"]


def test_thresholds_may_be_a_list_or_a_table_and_are_read_in_decimal(tmp_path: Path) -> None:
    by_table = open_project(make_project(tmp_path, sweep="thresholds = { from = 0.3, to = 0.8, step = 0.025 }"))
    assert by_table.settings.thresholds == tuple(round(0.3 + 0.025 * step, 3) for step in range(21))
    assert 0.675 in by_table.settings.thresholds
    by_list = open_project(make_project(tmp_path, sweep="thresholds = [0.675, 1, 0.5, 0.5]"))
    assert by_list.settings.thresholds == (0.5, 0.675, 1.0)
    assert open_project(make_project(tmp_path, sweep="")).settings.thresholds == by_table.settings.thresholds


def test_own_strategies_stand_beside_the_presets(tmp_path: Path) -> None:
    own = '[strategies.short]\ncuts = "boundaries"\nheader = true\noverlap = 32\nbudget = 256\n'
    everything = open_project(make_project(tmp_path, sweep="", more=own)).settings.strategies
    assert [strategy.name for strategy in everything] == ["A", "B", "C", "D", "E", "F", "short"]
    chosen = open_project(make_project(tmp_path, sweep='strategies = ["short", "A", "short"]', more=own)).settings
    assert [strategy.name for strategy in chosen.strategies] == ["short", "A"]
    assert chosen.strategies[0].spec == "cuts=boundaries;header=true;overlap=32;budget=256"


def test_paths_are_relative_to_the_project_wherever_the_command_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_project(
        tmp_path / "p",
        more='[corpus]\ndocuments = "../docs"\nquestions = "/srv/q.csv"\n[tracking]\nuri = "sqlite:///var/runs.db"\n',
    )
    monkeypatch.chdir(tmp_path)
    project = open_project(Path("p"))
    assert project.documents == folder / "../docs"
    assert project.questions == Path("/srv/q.csv")
    assert project.store_url == f"sqlite:///{folder}/var/bluffline.db"
    assert project.tracking_uri == f"sqlite:///{folder}/var/runs.db"
    assert project.var == folder / "var"


def test_the_environment_stands_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_project(tmp_path, more='[store]\nurl = "sqlite:///a.db"\n[tracking]\nuri = "http://b"\n')
    monkeypatch.setenv("BLUFFLINE_STORE_URL", "postgresql://team@db/bluffline")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://mlflow.example.org")
    project = open_project(tmp_path)
    assert project.store_url == "postgresql://team@db/bluffline"
    assert project.tracking_uri == "https://mlflow.example.org"


def test_a_project_is_found_from_the_folders_below_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = make_project(tmp_path) / "documents"
    monkeypatch.chdir(below)
    assert open_project().root == tmp_path


def test_without_a_project_the_bundled_corpus_is_measured_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    project = open_project()
    assert (project.documents, project.questions) == (BUNDLED_DOCUMENTS, BUNDLED_QUESTIONS)
    assert project.var == tmp_path / "var"
    assert project.file is None


def test_a_folder_without_a_project_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="no project here"):
        open_project(tmp_path)
    (tmp_path / "bluffline.toml").mkdir()
    with pytest.raises(ProjectError, match="no project here"):
        open_project(tmp_path)


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    (tmp_path / "bluffline.toml").write_bytes(b"\xef\xbb\xbf[sweep]\r\nk = [3]\r\n")
    assert open_project(tmp_path).settings.ks == (3,)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_a_fault(tmp_path: Path) -> None:
    make_project(tmp_path)
    (tmp_path / "bluffline.toml").chmod(0)
    with pytest.raises(ProjectError, match="Permission denied"):
        open_project(tmp_path)


def test_a_generator_is_optional_and_the_environment_comes_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_project(tmp_path / "project")
    assert open_project(folder).ask.generator is None
    folder = make_project(tmp_path / "other", more="[ask]\ngenerator = 'org/small'\ntime_limit = 20\n")
    asked = open_project(folder).ask
    assert (asked.generator, asked.max_tokens, asked.time_limit) == ("org/small", 256, 20.0)
    monkeypatch.setenv("BLUFFLINE_GENERATOR", "org/other")
    assert open_project(folder).ask.generator == "org/other"


def test_a_generator_beside_the_project_is_found_from_anywhere(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project", more="[ask]\ngenerator = 'models/small.gguf'\n")
    (folder / "models").mkdir()
    (folder / "models" / "small.gguf").write_bytes(b"")
    assert open_project(folder).ask.generator == str((folder / "models" / "small.gguf").resolve())


def test_limits_of_answers_must_be_limits(tmp_path: Path) -> None:
    assert faults(tmp_path, "[ask]\ngenerator = 3\nmax_tokens = 0\ntime_limit = 0\nmodel = 'x'\n") == [
        ":2: [ask] generator: must be a folder, a .gguf file, a wheel: spec or a hub name in quotes: '3'. correct it",
        ":3: [ask] max_tokens: must be at least 1: '0'. 256 is usual",
        ":4: [ask] time_limit: must be above 0: '0'. 120 is usual",
        ":5: [ask] model: unknown setting: 'x'. allowed are generator, max_tokens, time_limit",
    ]


def test_limits_of_extraction_are_read_and_checked(tmp_path: Path) -> None:
    folder = make_project(
        tmp_path / "project", more="[extraction]\npages = 10\ntime_limit = 2\nocr_language = 'deu+eng'\n"
    )
    limits = open_project(folder).extraction
    assert (limits.pages, limits.seconds, limits.ocr_language, limits.megabytes) == (10, 2.0, "deu+eng", 100)
    assert faults(tmp_path, "[extraction]\npages = 0\nocr = 1\nocr_language = '-l x; rm'\nmemory = 1\n") == [
        ":4: [extraction] ocr_language: is no Tesseract language: '-l x; rm'. eng, deu or deu+eng are some",
        ":2: [extraction] pages: must be at least 1: '0'. 2000 is usual",
        ":3: [extraction] ocr: must be true or false: '1'. correct it",
        ":5: [extraction] memory: unknown setting: '1'. allowed are megabytes, unpacked_megabytes, pages, time_limit, "
        "memory_megabytes, ocr, ocr_language, processes",
    ]


def test_the_environment_says_at_which_port_to_serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bluffline.toml").write_text("[server]\nport = 6000\n", "utf-8")
    monkeypatch.setenv("BLUFFLINE_PORT", "8123")
    assert open_project(tmp_path).port == 8123
    monkeypatch.setenv("BLUFFLINE_PORT", "80a")
    with pytest.raises(ProjectError, match=r"BLUFFLINE_PORT.*80a.*choose one from 1 to 65535"):
        open_project(tmp_path)


def project_of(folder: Path, content: str) -> Project:
    (folder / "bluffline.toml").write_text(content, "utf-8")
    return open_project(folder)


MODELS = """
[sweep]
models = ["small", "bge-small-en-v1.5-int8", "wheel:tiny-model==1.0:tiny_model/data/#sha256={zeros}", "a/b"]
rerankers = ["ms-marco-MiniLM-L12-v2-int8"]
[models.small]
source = "models/small"
precision = "bf16"
"""


def test_models_are_named_by_tables_known_names_wheels_and_plain_names(tmp_path: Path) -> None:
    (tmp_path / "models" / "small").mkdir(parents=True)
    project = project_of(tmp_path, MODELS.replace("{zeros}", "0" * 64))
    settings = project.settings
    assert settings.models == ("small", "bge-small-en-v1.5-int8", "tiny-model-1.0-data", "a/b")
    assert settings.model("tiny-model-1.0-data").source.startswith("wheel:tiny-model==1.0:")
    small = model_of(project, "small")
    assert (small.source, small.precision) == (str(tmp_path / "models" / "small"), "bf16")
    assert model_of(project, "a/b").source == "a/b"
    assert model_of(project, "ms-marco-MiniLM-L12-v2-int8", "cross-encoder").kind == "cross-encoder"
    with pytest.raises(ModelError, match="is of kind cross-encoder, not embedding"):
        model_of(project, "ms-marco-MiniLM-L12-v2-int8")


def test_every_fault_of_models_is_named_with_its_line(tmp_path: Path) -> None:
    content = """[sweep]
models = ["wheel:nothing", "ms-marco-MiniLM-L12-v2-int8"]
rerankers = ["mine"]
[models.mine]
source = "a/b"
[models.half]
source = "a/b"
precision = "fp8"
[models]
loose = 3
"""
    with pytest.raises(ProjectError) as caught:
        project_of(tmp_path, content)
    said = [(fault.line, fault.problem) for fault in caught.value.faults]
    assert said == [
        (6, "model 'half': precision is 'fp8', allowed are fp32, bf16"),
        (10, "model 'loose': not a table"),
        (2, "[sweep] models: 'wheel:nothing' is no wheel spec: "
            "write wheel:PACKAGE==VERSION:MEMBER#sha256=64-HEX-DIGITS"),
        (2, "[sweep] models: model 'ms-marco-MiniLM-L12-v2-int8' is of kind cross-encoder, not embedding"),
        (3, "[sweep] rerankers: model 'mine' is of kind embedding, not cross-encoder"),
    ]  # fmt: skip
