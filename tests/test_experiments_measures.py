import pytest

from experiments import measures
from experiments.measures import LATENCY_STAGES, latency, recall, registry, tokens


def test_every_measure_has_a_name_of_its_own_that_the_store_can_hold():
    known = registry((1, 4, 8, 20, 1000))
    assert len(known) == 5 * 5 + 1 + len(LATENCY_STAGES) + 12
    assert all(name == measure.name and len(name) <= 64 for name, measure in known.items())
    assert len({measure.label for measure in known.values()}) == len(known)


def test_only_sweeps_of_document_level_relevance_have_its_measures():
    added = registry((1, 4), documents=True).keys() - registry((1, 4)).keys()
    assert added == {"ndcg_at_1", "ndcg_at_4", "ndcg_at_10", "document_recall_at_100"}


def test_only_sweeps_over_needles_have_token_level_scores():
    left_out = registry((5,)).keys() - registry((5,), needles=False).keys()
    assert left_out == {"token_precision_at_5", "token_recall_at_5", "token_iou_at_5", "token_precision_omega"}


def test_every_measure_says_what_it_is():
    for measure in registry((1, 4), documents=True).values():
        assert measure.description
        assert not measure.description.endswith(".")
        assert measure.kind in ("proportion", "mean", "count", "milliseconds")


def test_no_name_is_another_with_the_suffix_of_a_part_of_it():
    names = set(registry((1, 4, 8, 20)))
    suffixed = {name + suffix for name in names for suffix in ("_low", "_high", "_hits", "_n")}
    assert names.isdisjoint(suffixed)


def test_a_depth_stands_in_name_and_label():
    assert (recall(20).name, recall(20).label) == ("recall_at_20", "R@20")
    assert (tokens(4).name, tokens(4).label) == ("tokens_at_4", "tokens@4")


def test_more_found_is_better_and_more_lost_is_worse():
    assert recall(1).higher_is_better
    assert measures.MRR.higher_is_better
    for measure in (measures.DESTROYED, measures.TRUNCATED, measures.NOT_QUOTABLE, tokens(4), latency("embed")):
        assert measure.higher_is_better is False
    assert measures.CHUNKS.higher_is_better is None


def test_an_unknown_stage_has_no_latency():
    with pytest.raises(KeyError):
        latency("thinking")
