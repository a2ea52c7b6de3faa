"""What docs/models.md tells people to write is what a project reads."""

from __future__ import annotations

import re
from pathlib import Path

from experiments.model_specs import KINDS, KNOWN_MODELS, POOLINGS, PRECISIONS, SETTINGS
from experiments.project import model_of, open_project

PAGE = (Path(__file__).parents[1] / "docs" / "models.md").read_text("utf-8")


def test_the_project_file_of_the_page_is_read_as_it_says(tmp_path: Path) -> None:
    (toml,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "bluffline.toml").write_text(toml, "utf-8")
    (tmp_path / "models" / "ours").mkdir(parents=True)
    project = open_project(tmp_path)
    assert model_of(project, "minilm-bf16").precision == "bf16"
    assert model_of(project, "ours").source == str(tmp_path / "models" / "ours")
    assert len(project.settings.combinations) == 6 * (4 + 1 + 4 + 4 + 1)


def test_every_setting_value_and_known_model_is_on_the_page() -> None:
    for word in (*SETTINGS, *KINDS, *PRECISIONS, *POOLINGS):
        assert f"`{word}`" in PAGE
    for spec in KNOWN_MODELS:
        assert f"| `{spec.name}` | {spec.kind} | {spec.label} |" in PAGE
