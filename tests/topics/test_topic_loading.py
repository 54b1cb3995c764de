"""A topic is found where the user says, and everything that is wrong with it is told at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from focused.topics.topic import Topic, TopicError, load_topic

SEED = "https://climbing.example/"
GOOD = """
name = "Birds of prey"
keywords = ["eagle", "falcon"]
seeds = ["https://birds.example/"]
"""


def write(folder: Path, text: str, name: str = "birds.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def problems_of(spec: object, **options: object) -> list[str]:
    with pytest.raises(TopicError) as caught:
        load_topic(str(spec), **options)
    return list(caught.value.problems)


def problem_of(spec: object, **options: object) -> str:
    (problem,) = problems_of(spec, **options)
    return problem


def test_a_file_becomes_a_topic(tmp_path: Path) -> None:
    (tmp_path / "birds.tsv").write_text("class\ttext\nbirds\tan eagle\n", encoding="utf-8")
    path = write(
        tmp_path,
        GOOD
        + """
description = "Raptors."
examples = "birds.tsv"
focus = ["birds"]
allowed_hosts = ["Birds.Example", ".falcon.example"]
[critic]
name = "naive-bayes"
smoothing = 0.5
[prioritizer]
name = "mine.better.Prioritizer"
[settings]
DOWNLOAD_DELAY = 2
""",
    )
    assert load_topic(str(path)) == Topic(
        name="Birds of prey",
        description="Raptors.",
        keywords=["eagle", "falcon"],
        seeds=["https://birds.example/"],
        examples=str(tmp_path / "birds.tsv"),
        focus=["birds"],
        allowed_hosts=["birds.example", "falcon.example"],
        critic={"name": "naive-bayes", "smoothing": 0.5},
        prioritizer={"name": "mine.better.Prioritizer"},
        settings={"DOWNLOAD_DELAY": 2},
        path=path,
        given=str(path),
    )


def test_relative_paths_start_at_the_folder_given(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    topic = load_topic("birds.toml", folder=tmp_path)
    assert topic.path == tmp_path / "birds.toml"
    assert topic.file == "birds.toml", "messages name it as the user did"


def test_a_file_may_begin_with_a_byte_order_mark_and_end_its_lines_as_on_windows(tmp_path: Path) -> None:
    path = tmp_path / "birds.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert load_topic(str(path)).keywords == ["eagle", "falcon"]


def test_a_topics_file_without_an_ending_is_found(tmp_path: Path) -> None:
    write(tmp_path, GOOD, name="birds")
    assert load_topic("birds", folder=tmp_path).name == "Birds of prey"


def test_plain_words_need_seeds_and_become_keywords() -> None:
    topic = load_topic("rock climbing, bouldering", seeds=["https://climbing.example", "http://Rocks.Example/a#b"])
    assert topic.keywords == ["rock climbing", "bouldering"]
    assert topic.seeds == [SEED, "http://rocks.example/a"]
    assert topic.path is None


def test_plain_words_may_have_a_slash_when_seeds_come_with_them() -> None:
    assert load_topic("AC/DC", seeds=[SEED]).name == "AC/DC"


def test_words_too_long_for_a_file_are_words() -> None:
    assert load_topic("rocks " * 2_000, seeds=[SEED]).seeds == [SEED]


def test_seeds_given_take_the_place_of_those_in_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    assert load_topic(str(path), seeds=[SEED]).seeds == [SEED]
    assert load_topic("astronomy", seeds=[SEED]).seeds == [SEED]


def test_a_crawl_for_plain_words_without_seeds_is_told_how_to_give_them() -> None:
    assert "seeds" not in problem_of("rock climbing"), "who does not crawl needs none"
    problem = problem_of("rock climbing", seeds_needed=True)
    assert "'rock climbing'" in problem
    assert "-a seeds=https://" in problem
    assert "astronomy" in problem


@pytest.mark.parametrize(
    ("typed", "meant"), [("astronmy", "astronomy"), ("Chess", "chess"), ("fly fishing", "fly-fishing")]
)
def test_names_near_an_unknown_one_are_suggested(typed: str, meant: str) -> None:
    assert f"did you mean {meant!r}" in problem_of(typed)


def test_a_path_to_nothing_is_told_as_such(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    assert problem_of(tmp_path / "brids.toml") == (
        f"{tmp_path / 'brids.toml'}: there is no such file; did you mean 'birds.toml'?"
    )
    assert "no such file" in problem_of("./astronomy")
    assert "no such file" in problem_of("topics/astronomy")
    assert "no such file" in problem_of("birds.toml", seeds=[SEED], folder=tmp_path / "elsewhere")


def test_a_folder_is_not_a_topic(tmp_path: Path) -> None:
    assert "cannot be read" in problem_of(tmp_path)


def test_nothing_is_not_a_topic() -> None:
    assert "topic is empty" in problem_of("  ")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('name = "x"\nkeywords = [1,, 2]\n', ":2:15:"),
        ('name = "never closed\n', ":1:21:"),
        ('name = "x"\nseeds = ["a"', ":2:13:"),
        ('name = "x"\nname = "y"\n', ":2:11:"),
    ],
)
def test_unreadable_toml_tells_file_line_and_column(tmp_path: Path, text: str, place: str) -> None:
    path = write(tmp_path, text)
    assert problem_of(path).startswith(f"{path}{place} not TOML: ")


def test_toml_that_is_not_utf_8_tells_where(tmp_path: Path) -> None:
    path = tmp_path / "birds.toml"
    path.write_bytes('name = "Vögel"\nkeywords = ["Mäuse, '.encode() + b'\xe4"]\n')
    assert problem_of(path) == f"{path}:2:21: not UTF-8: byte 0xe4"


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = " + "9" * 10_000])
def test_toml_made_to_hurt_is_an_error_like_any_other(tmp_path: Path, text: str) -> None:
    assert "not TOML" in problem_of(write(tmp_path, text))


def test_every_mistake_is_told_at_once_with_file_and_key(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
name = " -- "
discription = "x"
keywords = ["eagle", 7, "!"]
seeds = ["ftp://birds.example/", "birds.example/list", "https://"]
examples = "absent.tsv"
allowed_hosts = ["https://birds.example/", "a b", "birds.example:8000"]
critic = "logistic"
DOWNLOAD_DELAY = 3
[prioritizer]
name = "aprentice"
[settings]
ADDONS = {}
FOCUSED_TRAIN_EVRY = 5
FOCUSED_DEATHS = "three"
robotstxt_obey = false
""",
    )
    problems = problems_of(path)
    assert all(problem.startswith(f"{path}: ") for problem in problems)
    told = dict(problem.removeprefix(f"{path}: ").split(": ", 1) for problem in problems)
    assert told.keys() == {
        "name",
        "discription",
        "keywords[1]",
        "keywords[2]",
        "seeds[0]",
        "seeds[1]",
        "seeds[2]",
        "examples",
        "focus",
        "allowed_hosts[0]",
        "allowed_hosts[1]",
        "allowed_hosts[2]",
        "critic",
        "DOWNLOAD_DELAY",
        "prioritizer.name",
        "settings.ADDONS",
        "settings.FOCUSED_TRAIN_EVRY",
        "settings.FOCUSED_DEATHS",
        "settings.robotstxt_obey",
    }
    assert "'description'" in told["discription"]
    assert "'https://birds.example/list'" in told["seeds[1]"]
    assert "'birds.example'" in told["allowed_hosts[0]"]
    assert "[settings]" in told["DOWNLOAD_DELAY"]
    assert "'apprentice'" in told["prioritizer.name"]
    assert "'FOCUSED_TRAIN_EVERY'" in told["settings.FOCUSED_TRAIN_EVRY"]
    assert "'ROBOTSTXT_OBEY'" in told["settings.robotstxt_obey"]


def test_the_message_is_a_list(tmp_path: Path) -> None:
    with pytest.raises(TopicError) as caught:
        load_topic(str(write(tmp_path, 'nam = "x"\n')))
    first, *rest = str(caught.value).split("\n")
    assert first == f"{len(caught.value.problems)} mistakes:"
    assert [line.strip() for line in rest] == list(caught.value.problems)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('keywords = ["a"]', "name: missing"),
        ('name = "x"', "keywords: missing"),
        ('name = "x"\nkeywords = []', "keywords: missing"),
        ('name = "x"\nkeywords = ["a"]\nfocus = ["b"]', "focus: needs examples"),
        ('name = "x"\nkeywords = ["!"]', "keywords[0]: '!' has no letter"),
        ('name = "x"\nkeywords = "a"', "keywords: 'a' is not a list such as"),
        ('name = 5\nkeywords = ["a"]', "name: 5 is not text in quotes"),
        ('name = "x"\nkeywords = ["a"]\npath = "y"', "path: unknown key"),
        ('name = "x"\nkeywords = ["a"]\n[critic]\nname = 5', "critic.name: 5 is not text"),
        ('name = "x"\nkeywords = ["a"]\nseeds = ["https://a.example,b.example"]', "seeds[0]: 'https://a.example,b"),
    ],
)
def test_one_mistake_is_one_problem(tmp_path: Path, text: str, told: str) -> None:
    path = write(tmp_path, text)
    assert problem_of(path).startswith(f"{path}: {told}")


@pytest.mark.parametrize("name", ["mine.critics.Own", "own"])
def test_a_critic_of_ones_own_may_need_neither_keywords_nor_examples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    about = tmp_path / "mine-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n", "utf-8")
    (about / "entry_points.txt").write_text("[focused.critics]\nown = mine.critics:Own\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    path = write(tmp_path, f'name = "x"\nfocus = ["b"]\n[critic]\nname = "{name}"')
    assert load_topic(str(path)).focus == ["b"]


def test_bad_seeds_given_beside_the_topic_are_told_as_such(tmp_path: Path) -> None:
    assert problem_of("chess", seeds=[SEED, "nonsense"]).startswith("seeds (argument)[1]: 'nonsense' is not")


def test_missing_seeds_are_an_error_only_for_those_who_need_them(tmp_path: Path) -> None:
    path = write(tmp_path, 'name = "x"\nkeywords = ["a"]')
    assert load_topic(str(path)).seeds == []
    assert "-a seeds=" in problem_of(path, seeds_needed=True)
    assert load_topic(str(path), seeds=[SEED], seeds_needed=True).seeds == [SEED]


def test_an_examples_file_that_is_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    path = write(tmp_path, 'name = "x"\nexamples = "pages"\nfocus = ["a"]')
    assert "examples: 'pages' cannot be read" in problem_of(path)


def test_a_file_without_end_is_refused_before_it_fills_the_memory() -> None:
    assert problem_of("/dev/zero") == "/dev/zero: cannot be read: it is larger than 256 MB"


def test_examples_without_end_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD + 'examples = "/dev/zero"\n')
    assert f"{path}: examples: '/dev/zero' cannot be read: it is larger than 256 MB" in problems_of(path)
