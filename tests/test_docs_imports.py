"""docs/imports.md names every import and every option there is."""

import re
from pathlib import Path

from experiments.cli.importing import importing
from experiments.provenance import DOCUMENT_HIT_RULE
from webapp.exporting import FORMS

TEXT = (Path(__file__).parent.parent / "docs" / "imports.md").read_text("utf-8")


def test_every_format_and_option_is_documented():
    for name, command in importing.commands.items():
        assert re.search(rf"bluffline import {name}\b", TEXT)
        for option in command.params:
            if option.opts[0].startswith("--") and option.name != "help":
                assert option.opts[0] in TEXT, (name, option.opts)


def test_the_hit_rule_is_named_as_it_is_recorded():
    assert DOCUMENT_HIT_RULE in TEXT


def test_every_form_of_an_export_is_documented():
    text = (Path(__file__).parent.parent / "docs" / "exports.md").read_text("utf-8")
    for form in FORMS:
        assert f"| `{form}` |" in text
