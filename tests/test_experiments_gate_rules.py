"""The `[gate]` table: what it may say, and every fault of it at once."""

from __future__ import annotations

import pytest
from small_project import make_project

from experiments.gate_rules import BluffRule, GateRules, LossRule
from experiments.project import ProjectError, open_project


def rules(folder, text):
    return open_project(make_project(folder, more=f"[gate]\n{text}")).gate


def test_without_the_table_there_is_no_rule(tmp_path):
    gate = open_project(make_project(tmp_path)).gate
    assert gate == GateRules()
    assert gate.empty


def test_every_rule_is_read(tmp_path):
    gate = rules(
        tmp_path,
        'baseline = "main"\ncombinations = ["E/dense", "E/dense"]\nno_significant_loss = { at = 4, alpha = 0.01 }\n'
        'destroyed_at_most = 0\nbluffs_at_most = { rate = 0.1, on = "near" }\nlatency_ratio_at_most = 2\n',
    )
    assert gate == GateRules("main", ("E/dense",), LossRule(4, 0.01), 0, BluffRule(0.1, 0.95, ("near",)), 2.0)
    assert not gate.empty


def test_a_rate_alone_leaves_the_strata_to_the_decision(tmp_path):
    assert rules(tmp_path, "bluffs_at_most = 0.1").bluffs == BluffRule(0.1, 0.95, None)
    assert rules(tmp_path, "no_significant_loss = {}").loss == LossRule(20, 0.05)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no_significant_loss = { at = 0 }", "[gate] no_significant_loss: at must be a whole number from 1: 'at = 0'"),
        ("no_significant_loss = { alpha = 1 }", "alpha must lie between 0 and 1"),
        ("no_significant_loss = { k = 1 }", "[gate] no_significant_loss: unknown setting: 'k'"),
        ("no_significant_loss = true", "must be a table with at and alpha"),
        ("destroyed_at_most = -1", "[gate] destroyed_at_most: must not be negative: '-1'"),
        ("bluffs_at_most = 10", "the rate must lie between 0 and 1: 'rate = 10'"),
        ('bluffs_at_most = { rate = 0.1, on = "all" }', "on must be near, far or both: 'on = all'"),
        ("bluffs_at_most = { rate = 0.1, confidence = 95 }", "the confidence must lie between 0 and 1"),
        ("latency_ratio_at_most = 0", "[gate] latency_ratio_at_most: must be above 0"),
        ("loss = 1", "[gate] loss: unknown setting: '1'. allowed are baseline, combinations, no_significant_loss"),
        ("combinations = []", "[gate] combinations: must not be empty"),
    ],
)
def test_a_faulty_rule_is_named_with_its_line_and_what_to_write(tmp_path, text, words):
    with pytest.raises(ProjectError) as error:
        rules(tmp_path, text)
    assert words in str(error.value)
    assert "bluffline.toml:6: " in str(error.value)
