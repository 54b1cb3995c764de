"""Which critic judges for a topic, and what is told of one that was taught."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from focused.critics.base import Critic, Reason
from focused.critics.choose import choose_critic, critic_for
from focused.critics.classes import NoSuchClass
from focused.critics.combined import CombinedCritic
from focused.critics.keywords import KeywordsCritic
from focused.critics.logistic import LogisticCritic
from focused.critics.models import Card, ModelRefused, save_critic
from focused.critics.teach import Taught, teach
from focused.pages.page import Page
from focused.papers.critics.naive_bayes import NaiveBayesCritic
from focused.registry import UnknownName
from focused.testing.toys import BIRDS, MEALS, STARS, page
from focused.topics.identity import fingerprint, slug
from focused.topics.topic import Topic

WORDS = Topic(name="birds", keywords=["owl", "bird"])


def taught(kind: type = LogisticCritic, focus: str = "nature.birds") -> Taught:
    kinds = {"nature.birds": BIRDS, "nature.stars": STARS, "meals": MEALS}
    return teach([(name, page(text)) for name, texts in kinds.items() for text in texts], kind, {}, [focus])


def test_one_critic_takes_whatever_is_given() -> None:
    with_examples = choose_critic(Topic(name="birds", examples="birds.tsv", focus=["birds"]))
    with_both = choose_critic(Topic(name="birds", examples="birds.tsv", focus=["birds"], keywords=["owl"]))
    assert {choice.kind for choice in (with_examples, with_both, choose_critic(WORDS))} == {CombinedCritic}
    assert (with_examples.is_taught, choose_critic(WORDS).is_taught) == (True, False)
    assert with_examples.options["keywords"] == [], "the name of a topic with examples may be nothing but a name"
    assert with_both.options["keywords"] == ["owl"]
    assert choose_critic(Topic(name="birds")).options["keywords"] == ["birds"]


def test_the_command_line_stands_above_the_topic() -> None:
    topic = Topic(name="b", examples="b.tsv", critic={"name": "naive-bayes", "priors": "balanced"})
    assert (choose_critic(topic).kind, choose_critic(topic).options) == (NaiveBayesCritic, {"priors": "balanced"})
    other = choose_critic(topic, "logistic")
    assert (other.kind, other.options) == (LogisticCritic, {}), "options are those of the critic that the file names"


def test_a_critic_of_others_comes_by_its_path() -> None:
    path = "focused.critics.logistic.LogisticCritic"
    assert choose_critic(Topic(name="b", critic={"name": path})).kind is LogisticCritic


def test_unknown_critics_and_options_are_named() -> None:
    with pytest.raises(UnknownName, match=r"'logistik'.*did you mean 'logistic'"):
        choose_critic(WORDS, "logistik")
    with pytest.raises(
        ValueError, match=r"^seed_shore=2 is not an option of keywords; did you mean 'seed_share'\? \(known: "
    ):
        choose_critic(Topic(name="b", keywords=["b"], critic={"name": "keywords", "seed_shore": 2})).make()


@pytest.mark.parametrize("name", ["os.path", "collections.OrderedDict", "focused.critics.base.Critic", "os.sep"])
def test_what_is_no_critic_is_told_with_the_way_out(name: str) -> None:
    with pytest.raises(UnknownName) as error:
        choose_critic(WORDS, name)
    assert str(error.value) == f"{name!r} is not a critic: name a class derived from focused.critics.base.Critic"


class HalfACritic(Critic):
    """Explains what it does not judge."""

    def explain(self, page: Page, most: int = 10) -> list[Reason]:
        return [Reason("word", 1.0)]


def test_a_critic_that_is_not_finished_is_told_what_it_lacks() -> None:
    with pytest.raises(UnknownName, match=r"HalfACritic' is not a whole critic: it lacks judge$"):
        choose_critic(WORDS, f"{__name__}.HalfACritic")


@pytest.mark.parametrize("name", ["no.such.Critic", "focused.critics.base.Critik", "..Critic", "."])
def test_a_path_that_leads_nowhere_is_told(name: str) -> None:
    with pytest.raises(UnknownName, match="cannot be imported"):
        choose_critic(WORDS, name)


def test_a_bad_option_is_told_with_the_file_that_it_is_in(tmp_path: Path) -> None:
    file = tmp_path / "birds.toml"
    topic = Topic(name="birds", keywords=["owl"], critic={"name": "keywords", "min_seeds": "x"}, path=file)
    with pytest.raises(ValueError, match=rf"^{file}: \[critic\] min_seeds='x': give a whole number from 1"):
        critic_for(topic, tmp_path)
    with pytest.raises(ValueError, match=r"^birds\.toml: \[critic\] min_seeds='x'"):
        critic_for(msgspec.structs.replace(topic, given="birds.toml"), tmp_path)
    words_alone = msgspec.structs.replace(topic, critic={}, keywords=["!?"])
    with pytest.raises(ValueError, match=r"keywords=\['!\?'\]: give at least one word"):
        critic_for(words_alone, tmp_path)


def test_a_bad_option_is_no_reason_to_teach_anew(tmp_path: Path) -> None:
    save(tmp_path, WORDS)
    with pytest.raises(ValueError, match=r"^strength='much': give a number"):
        critic_for(msgspec.structs.replace(WORDS, critic={"name": "logistic", "strength": "much"}), tmp_path)


def test_a_critic_of_words_needs_no_models_folder(tmp_path: Path) -> None:
    critic = critic_for(WORDS, tmp_path / "nowhere")
    assert critic.judge(page("The owl is a bird. " * 9)).relevance > 0.5


def test_without_keywords_the_name_is_read(tmp_path: Path) -> None:
    critic = critic_for(Topic(name="bird of prey"), tmp_path)
    assert critic.judge(page("The owl is a bird of prey. " * 9)).relevance > 0.5


def save(models: Path, topic: Topic, name: str = "logistic") -> None:
    card = Card(topic=topic.name, fingerprint=fingerprint(topic), critic=name)
    save_critic(models, slug(topic), taught().critic, card)


def test_a_trained_critic_is_found_for_a_topic_without_examples(tmp_path: Path) -> None:
    save(tmp_path, WORDS)
    assert isinstance(critic_for(WORDS, tmp_path), LogisticCritic)
    assert isinstance(critic_for(WORDS, tmp_path, "keywords"), KeywordsCritic)


def test_a_trained_critic_of_another_kind_or_other_options_is_refused(tmp_path: Path) -> None:
    save(tmp_path, WORDS)
    with pytest.raises(ModelRefused, match=r"'logistic'.*not 'naive-bayes'.*--critic naive-bayes"):
        critic_for(WORDS, tmp_path, "naive-bayes")
    changed = Topic(name="birds", keywords=["owl", "bird"], critic={"name": "logistic", "strength": 1.0})
    with pytest.raises(ModelRefused, match="strength"):
        critic_for(changed, tmp_path)


@pytest.mark.parametrize("kind", [LogisticCritic, NaiveBayesCritic])
def test_every_example_is_judged_once_by_a_critic_that_has_not_seen_it(kind: type) -> None:
    figures = taught(kind).report.figures
    assert figures.folds == 4, "no more folds than wanted examples"
    assert figures.precision is not None
    assert 0 <= figures.precision <= 1
    assert figures.average_precision is not None
    assert figures.average_precision > 0.4


def test_figures_are_of_held_back_pages() -> None:
    """Pages that share no word: a critic that had seen them would know them all."""
    random = [("in", page(f"a{i} b{i} c{i}")) for i in range(6)] + [("out", page(f"x{i} y{i} z{i}")) for i in range(6)]
    figures = teach(random, LogisticCritic, {}, ["in"]).report.figures
    assert figures.average_precision is not None
    assert figures.average_precision < 0.9


@pytest.mark.parametrize("kind", [LogisticCritic, NaiveBayesCritic])
@pytest.mark.parametrize("focus", ["a", "b"])
def test_figures_and_confusions_agree_where_a_page_stands_on_the_border(kind: type, focus: str) -> None:
    """Held back, the pages of b share no word with any other: R is exactly 0.5."""
    of_a = ["tea is a drink of leaves", "green tea and black tea in a pot"]
    of_b = ["coffee beans were roasted", "the football match ended"]
    examples = [("a", page(text)) for text in of_a] + [("b", page(text)) for text in of_b]
    report = teach(examples, kind, {}, [focus]).report
    wanted = 2
    wrongly = sum(one.pages for one in report.confusions if one.said == focus)
    missed = sum(one.pages for one in report.confusions if one.true == focus)
    assert report.figures.recall == (wanted - missed) / wanted
    assert report.figures.precision == (wanted - missed) / (wanted - missed + wrongly)


def test_confusions_count_pages_by_class() -> None:
    report = taught().report
    assert all(one.true != one.said and one.pages > 0 for one in report.confusions)
    assert sum(one.pages for one in report.confusions) <= 12


def test_loud_words_are_told_for_against_and_by_class() -> None:
    report = taught(focus="nature").report
    assert {"bird", "star"} & set(report.words_for)
    assert {"salt", "bread", "flour", "butter"} & set(report.words_against)
    assert "bird" in report.words_of_classes["nature.birds"]
    assert "bird" not in report.words_of_classes["nature.stars"]


def test_too_few_examples_are_not_measured() -> None:
    report = teach([("in", page(BIRDS[0])), ("out", page(STARS[0]))], LogisticCritic, {}, ["in"]).report
    assert report.figures.folds == 0
    assert report.figures.precision is None


def test_without_negatives_only_recall_is_known() -> None:
    report = teach([("birds", page(text)) for text in BIRDS * 2], LogisticCritic, {}, []).report
    assert report.figures.recall is not None
    assert report.figures.precision is None


def test_nothing_to_learn_from_is_said() -> None:
    with pytest.raises(NoSuchClass, match="no example pages"):
        teach([], LogisticCritic, {}, [])
    with pytest.raises(NoSuchClass, match="'stars' matches no class"):
        teach([("birds", page(BIRDS[0]))], LogisticCritic, {}, ["stars"])
