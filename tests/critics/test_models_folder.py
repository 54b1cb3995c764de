"""The models folder: what is saved comes back; what is not exactly that is refused, with the way out."""

from __future__ import annotations

import json
from pathlib import Path

import joblib
import pytest

from focused.critics.models import CARD, MODEL, Card, ModelRefused, load_card, load_critic, save_critic
from focused.papers.critics.naive_bayes import NaiveBayesCritic
from focused.testing.toys import examples


@pytest.fixture
def models(tmp_path: Path) -> Path:
    pages, classes = examples()
    critic = NaiveBayesCritic().fit(pages, classes, ["nature"])
    folder = tmp_path / "models"
    save_critic(folder, "birds", critic, Card(topic="Birds", fingerprint="f1", critic="naive-bayes"))
    return folder


def load(models: Path, fingerprint: str = "f1") -> object:
    return load_critic(models, "birds", topic="birds.toml", fingerprint=fingerprint)[0]


def change(models: Path, **changes: object) -> None:
    path = models / "birds" / CARD
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_what_was_saved_comes_back(models: Path) -> None:
    critic, card = load_critic(models, "birds", topic="birds.toml", fingerprint="f1")
    assert isinstance(critic, NaiveBayesCritic)
    assert (card.topic, card.critic, len(card.sha256)) == ("Birds", "naive-bayes", 64)
    assert critic.trained == card.sha256[:12]
    assert set(card.versions) == {"python", "numpy", "scikit-learn"}


def test_the_card_can_be_read_by_people(models: Path) -> None:
    text = (models / "birds" / CARD).read_text()
    assert text.startswith("{\n  ")
    assert json.loads(text)["topic"] == "Birds"


def test_no_drafts_are_left(models: Path) -> None:
    assert sorted(path.name for path in (models / "birds").iterdir()) == [CARD, MODEL]


def test_a_missing_model_tells_how_to_make_it(tmp_path: Path) -> None:
    assert load_card(tmp_path, "birds", topic="birds.toml") is None
    with pytest.raises(ModelRefused, match=r"no trained critic.*scrapy teach birds\.toml"):
        load(tmp_path)


def test_a_changed_byte_is_refused_before_anything_is_loaded(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = models / "birds" / MODEL
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    monkeypatch.setattr(joblib, "load", lambda *_: pytest.fail("joblib.load was called"))
    with pytest.raises(ModelRefused, match=r"not the file that its card\.json was written for.*scrapy teach"):
        load(models)


def test_a_model_of_another_topic_is_refused(models: Path) -> None:
    with pytest.raises(ModelRefused, match=r"another topic.*'Birds'.*scrapy teach"):
        load(models, fingerprint="f2")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"format": 0}, "has format 0"),
        ({"versions": {"scikit-learn": "0.1"}}, r"scikit-learn 0\.1"),
        ({"versions": {}}, "scikit-learn None"),
        ({"examples": "many"}, "cannot be read"),
    ],
)
def test_a_model_of_other_versions_is_refused(models: Path, changes: dict[str, object], why: str) -> None:
    change(models, **changes)
    with pytest.raises(ModelRefused, match=why):
        load(models)


def test_a_broken_card_is_refused(models: Path) -> None:
    (models / "birds" / CARD).write_text('{"topic": ')
    with pytest.raises(ModelRefused, match="cannot be read"):
        load(models)


@pytest.mark.parametrize("name", ["birds", f"birds/{MODEL}", f"birds/{CARD}"])
def test_links_that_lead_out_of_the_folder_are_refused(models: Path, tmp_path: Path, name: str) -> None:
    inside, outside = models / name, tmp_path / "outside"
    inside.rename(outside)
    inside.symlink_to(outside)
    with pytest.raises(ModelRefused, match="leads out of the models folder"):
        load(models)


def test_the_models_folder_itself_may_be_a_link(models: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(models)
    assert load(tmp_path / "link")


def test_names_that_climb_out_are_refused(models: Path) -> None:
    pages, classes = examples()
    critic = NaiveBayesCritic().fit(pages, classes, ["nature"])
    with pytest.raises(ModelRefused, match="leads out"):
        save_critic(models, "../elsewhere", critic, Card(topic="x", fingerprint="x", critic="x"))
    assert not (models.parent / "elsewhere").exists()


def test_something_else_than_a_critic_is_refused(models: Path) -> None:
    save_critic(models, "birds", [1, 2], Card(topic="Birds", fingerprint="f1", critic="naive-bayes"))
    with pytest.raises(ModelRefused, match="holds 'list', not a critic"):
        load(models)


def test_a_half_written_model_is_refused_and_the_card_is_written_last(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages, classes = examples(negatives=False)
    other = NaiveBayesCritic().fit(pages, classes, ["nature.birds"])
    monkeypatch.setattr("msgspec.json.encode", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save_critic(models, "birds", other, Card(topic="Birds", fingerprint="f1", critic="naive-bayes"))
    monkeypatch.undo()
    with pytest.raises(ModelRefused, match="not the file that its"):
        load(models)
