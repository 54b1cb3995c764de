"""Word vectors: a topic finds what is called otherwise, for pages and for links; a table that is wrong is refused."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from focused.commands.vectors import Command
from focused.critics.choose import critic_for
from focused.critics.combined import CombinedCritic
from focused.critics.language import language_of
from focused.critics.met import log_odds
from focused.critics.near import NearWords
from focused.critics.vectors import WordVectors, read_text, read_vectors, write_vectors
from focused.critics.wordllama import read_wordllama
from focused.defaults import SETTINGS
from focused.pages.page import Text
from focused.pages.tokens import end_to_end, word_to_id
from focused.problems import Problems
from focused.testing.toys import BIRDS, MEALS, STARS, page
from focused.topics.topic import Topic

BIRDLIKE = ("bird", "sparrow", "plumage", "owl", "beak")
STARLIKE = ("star", "telescope", "galaxy", "nebula")
OTHERS = ("chair", "table", "window", "carpet")


def vectors() -> dict[str, list[float]]:
    """Three bundles of words: within one, cosines are above 0.9, and between two they are below 0.1."""
    random = np.random.default_rng(1)
    bundles = zip((BIRDLIKE, STARLIKE, OTHERS), np.eye(3, 8), strict=True)
    return {word: (axis + random.normal(0, 0.05, 8)).tolist() for words, axis in bundles for word in words}


def table_file(folder: Path, language: str = "en", of: Mapping[str, Sequence[float]] | None = None) -> str:
    of = of or vectors()
    table = WordVectors.of([word_to_id(word) for word in of], np.array(list(of.values())), language, "made for a test")
    path = folder / "table.npz"
    with path.open("wb") as file:
        write_vectors(table, file)
    return str(path)


def critic(reference: str = "", *keywords: str) -> CombinedCritic:
    made = CombinedCritic(keywords=keywords or ["bird"], languages=["en"])
    if reference:
        made.use_vectors(reference)
    return made


@pytest.fixture
def table(tmp_path: Path) -> str:
    return table_file(tmp_path)


FOUND = page("The sparrow and the owl have plumage and a beak, said the owl to the sparrow. " * 5)
OTHER = page("The telescope shows a galaxy, and the window shows a carpet under the table. " * 5)


def test_a_page_that_never_says_the_word_is_found(table: str) -> None:
    plain, helped = critic(), critic(table)
    assert plain.judge(FOUND).relevance == pytest.approx(plain.judge(OTHER).relevance, rel=0.2)
    assert helped.judge(FOUND).relevance > 2 * helped.judge(OTHER).relevance
    assert helped.judge(FOUND).relevance > 2 * plain.judge(FOUND).relevance
    assert {"owl", "sparrow"} <= {reason.word for reason in helped.explain(FOUND)}


def test_the_words_that_the_user_gave_count_for_more(table: str) -> None:
    helped = critic(table)
    said = page("The bird and the owl have plumage and a beak, said the bird to the bird. " * 5)
    assert helped.judge(said).relevance > helped.judge(FOUND).relevance


def test_links_are_found_by_near_words_also_when_only_ids_are_known(table: str) -> None:
    helped = critic(table)
    texts = [Text.of("plumage"), Text.of("telescope"), Text.of("")]
    near, far, nothing = helped.score_texts(texts).tolist()
    assert near > 5 * far
    assert far == nothing
    ids, text = end_to_end([text.ids for text in texts])
    known = np.where(np.isin(ids, helped.known_words()), ids, 0).astype(np.uint32)
    assert helped.score_words(known, text, len(texts)).tolist() == [near, far, nothing]


def test_a_critic_that_has_learned_judges_again_as_it_judges(table: str) -> None:
    pages = [page(f"{text} {number}", url=f"http://h{number % 3}.example/") for number, text in enumerate(_many())]
    helped = critic(table)
    met = helped.learn_from_pages([helped.gist(one) for one in pages])
    again = met.judge_again([met.gist(one) for one in pages])
    assert [one.relevance for one in again] == [met.judge(one).relevance for one in pages]
    assert met.judge(FOUND).relevance > met.judge(OTHER).relevance


def _many() -> list[str]:
    return [*BIRDS * 3, *STARS * 3, *MEALS * 3]


def test_of_a_phrase_its_words_together_are_looked_for(tmp_path: Path) -> None:
    both = (np.array(vectors()["bird"]) + np.array(vectors()["star"])).tolist()
    table = table_file(tmp_path, of=vectors() | {"starling": both})
    read = read_vectors(table)
    assert _near(read, ["bird", "star"]) > _near(read, ["bird"]), "the mean of both words is nearer than one of them"


def _near(table: WordVectors, phrase: list[str]) -> float:
    near = NearWords.of(table, [phrase], language_of(("en",)))
    return float(near.on_pages([page("starling " * 30).bag])[0])


def test_a_topic_in_another_language_is_judged_without(
    tmp_path: Path, table: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    german = CombinedCritic(keywords=["bird"], languages=["de"])
    before = german.judge(FOUND)
    german.use_vectors(table)
    assert german.judge(FOUND) == before
    assert "Word vectors are not used: they are of 'en', and the topic of 'de'" in caplog.text


def test_a_table_that_knows_none_of_the_words_is_not_used(table: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    helped = critic(table, "zymurgy")
    assert helped.judge(FOUND) == critic("", "zymurgy").judge(FOUND)
    assert "know none of the topic's words" in caplog.text


def test_the_log_says_where_the_vectors_are_from(table: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    critic(table, "bird", "owl")
    critic(table, "bird", "owl")
    assert caplog.text.count("words are near the topic's (made for a test)") == 1, "said once, though read twice"


def test_a_topic_gets_them_by_the_setting(tmp_path: Path, table: str) -> None:
    topic = Topic(name="bird")
    helped, plain = critic_for(topic, tmp_path, vectors=table), critic_for(topic, tmp_path)
    assert helped.judge(FOUND).relevance > 2 * plain.judge(FOUND).relevance


def test_critics_without_use_for_them_judge_as_before(tmp_path: Path, table: str) -> None:
    topic = Topic(name="bird", critic={"name": "keywords"})
    assert critic_for(topic, tmp_path, vectors=table).judge(FOUND) == critic_for(topic, tmp_path).judge(FOUND)


def test_the_more_is_given_the_less_they_count(table: str) -> None:
    def gain(critics: list[CombinedCritic]) -> float:
        plain, helped = (log_odds([one.judge(FOUND).relevance])[0] for one in critics)
        return float(helped - plain)

    few = ["bird", "owl", "window", "carpet", "chair"]
    assert gain([critic(name, *few[:2]) for name in ("", table)]) > gain([critic(name, *few) for name in ("", table)])
    taught = [critic(name).fit([page(text) for text in BIRDS], ["bird"] * len(BIRDS), []) for name in ("", table)]
    assert 0 < gain(taught) < gain([critic(), critic(table)])


# --- tables -----------------------------------------------------------------------------------------------------


def test_a_file_of_arrays_is_read_back(table: str) -> None:
    read = read_vectors(table)
    assert (read.language, read.about, read.vectors.dtype.name) == ("en", "made for a test", "float16")
    where = read.ids.tolist().index(word_to_id("owl"))
    assert read.vectors[where] == pytest.approx(np.array(vectors()["owl"]), abs=1e-3)


@pytest.mark.parametrize(
    ("arrays", "why"),
    [
        ({"ids": np.arange(2, dtype=np.uint32)}, "vectors"),
        ({"ids": np.array([2, 1], np.uint32), "vectors": np.zeros((2, 3), np.float16)}, "ids are not those of words"),
        ({"ids": np.array([1.0, 2.0]), "vectors": np.zeros((2, 3), np.float16)}, "ids are not those of words"),
        ({"ids": np.array([1, 2], np.uint32), "vectors": np.zeros((3, 3), np.float16)}, "not 2 rows of float16"),
        ({"ids": np.array([1], np.uint32), "vectors": np.full((1, 3), np.nan, np.float16)}, "not numbers"),
    ],
)
def test_arrays_that_are_no_table_are_refused(tmp_path: Path, arrays: dict[str, np.ndarray], why: str) -> None:
    path = tmp_path / "bad.npz"
    np.savez(path, language=np.array("en"), about=np.array(""), **arrays)
    with pytest.raises(ValueError, match=rf"bad.npz' is not a table of word vectors .*{why}.*scrapy vectors"):
        read_vectors(str(path))


@pytest.mark.parametrize("data", [b"", b"nonsense", b"PK\x03\x04 cut off", b"\x80\x04 a pickle"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "bad.npz"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"is not a table of word vectors .*scrapy vectors"):
        read_vectors(str(path))


def test_a_single_array_is_refused(tmp_path: Path) -> None:
    buffer = BytesIO()
    np.save(buffer, np.zeros(3))
    (tmp_path / "bad.npz").write_bytes(buffer.getvalue())
    with pytest.raises(ValueError, match="is not a table of word vectors"):
        read_vectors(str(tmp_path / "bad.npz"))


def test_a_setting_that_names_no_file_is_refused() -> None:
    problems = Problems()
    SETTINGS["FOCUSED_VECTORS"].convert("nowhere.npz", "FOCUSED_VECTORS", problems)
    assert problems.found == [
        "FOCUSED_VECTORS: there is no file 'nowhere.npz', nor is it the package 'wordllama': make one with "
        "`scrapy vectors`"
    ]
    assert SETTINGS["FOCUSED_VECTORS"].convert("wordllama", "FOCUSED_VECTORS", Problems()) == "wordllama"


# --- text files -------------------------------------------------------------------------------------------------


def lines(header: str = "") -> str:
    rows = [f"{word} {' '.join(map(str, row))}" for word, row in vectors().items()]
    return "\n".join([*([header] if header else []), *rows, ", " + " ".join(["0.5"] * 8), "Owl" + " 9.0" * 8, ""])


@pytest.mark.parametrize("header", ["", "15 8"])
def test_text_is_converted_once(tmp_path: Path, header: str, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "glove.txt.gz", tmp_path / "glove.npz"
    source.write_bytes(gzip.compress(lines(header).encode()))
    _convert(source, out, about="GloVe, public domain")
    assert capsys.readouterr().out == f"13 words, 8 numbers each (GloVe, public domain): {out}\n"
    read = read_vectors(str(out))
    assert len(read.ids) == len(vectors()), "no commas, and of two spellings the first"
    where = read.ids.tolist().index(word_to_id("owl"))
    assert read.vectors[where] == pytest.approx(np.array(vectors()["owl"]), abs=1e-3)


def _convert(source: Path, out: Path, about: str) -> None:
    from argparse import Namespace

    Command().execute([str(source)], Namespace(out=out, language="en", about=about, most=100))


def test_only_so_many_words_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text(lines())
    assert len(read_text(path, language="en", about="", most=3).ids) == 3


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("owl 1 2 3\nsparrow 1 two 3\n", "line 2: could not convert string to float: 'two'"),
        ("owl 1 2 3\nsparrow 1 2\n", "line 2: could not convert string to float: 'sparrow'"),
        ("\n\n", "has no words"),
        ("", "has no words"),
    ],
)
def test_text_of_another_kind_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"bad.txt'.*{why}"):
        read_text(path, language="en", about="", most=100)


# --- the package ------------------------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The layout of the package, with a few pieces of words."""
    folder = tmp_path / "wordllama"
    for name in ("weights", "tokenizers"):
        (folder / name).mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('it is not to be imported')")
    pieces = ["▁", "b", "i", "r", "d", "o", "w", "▁b", "ir", "▁bir", "▁bird", "ow", "row"]
    merges = ["▁ b", "i r", "▁b ir", "▁bir d", "o w", "r ow"]
    tokenizer = {"model": {"vocab": {piece: i for i, piece in enumerate(pieces)}, "merges": merges}}
    (folder / TOKENIZER).write_text(json.dumps(tokenizer))
    write_weights(folder, np.eye(13, 13, dtype=np.float16))
    monkeypatch.syspath_prepend(tmp_path)
    return folder


WEIGHTS, TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"


def write_weights(folder: Path, array: np.ndarray, kind: str = "F16") -> None:
    entry = {"dtype": kind, "shape": array.shape, "data_offsets": [0, array.nbytes]}
    header = json.dumps({"__metadata__": {"format": "np"}, "embedding.weight": entry}).encode()
    (folder / WEIGHTS).write_bytes(len(header).to_bytes(8, "little") + header + array.tobytes())


def test_the_vector_of_a_word_is_the_mean_of_its_pieces(package: Path) -> None:
    table = read_wordllama(["bird", "birdrow", "drio", "bürd"])
    pieces = dict(zip(table.ids.tolist(), table.vectors, strict=True))
    assert np.flatnonzero(pieces[word_to_id("bird")]).tolist() == [10]
    both = pieces[word_to_id("birdrow")]
    assert (np.flatnonzero(both).tolist(), both[10]) == ([10, 12], 0.5)
    assert np.flatnonzero(pieces[word_to_id("drio")]).tolist() == [0, 2, 3, 4, 5], "nothing in it may be joined"
    assert np.flatnonzero(pieces[word_to_id("bürd")]).tolist() == [3, 4, 7], "a letter that is not known is left out"
    assert table.language == "en"
    assert "LLaMA-2" in table.about, "whoever uses them is told where they are from"


def test_the_package_is_found_by_its_name(package: Path) -> None:
    helped = critic("wordllama", "bird", "row")
    assert helped.judge(page("bird row")).relevance > helped.judge(page("chair")).relevance


def test_a_package_of_another_form_is_refused(package: Path) -> None:
    write_weights(package, np.eye(3, dtype=np.float32), "F32")
    with pytest.raises(ValueError, match=r"'wordllama' cannot be read \(numbers of the type 'F32'\): install version"):
        read_wordllama()
    for broken in (b"", b"broken", b"\x02" + bytes(7) + b"{}"):
        (package / WEIGHTS).write_bytes(broken)
        with pytest.raises(ValueError, match=r"'wordllama' cannot be read .*install version"):
            read_wordllama()
    (package / WEIGHTS).unlink()
    with pytest.raises(ValueError, match=r"'wordllama' cannot be read .*l2_supercat_256.safetensors"):
        read_wordllama()


def test_a_package_that_is_not_installed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focused.critics.wordllama.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="the package 'wordllama' is not installed: pip install wordllama"):
        read_wordllama()
