"""What the report says of learned words: beside links to how many pages each of them stood."""

from __future__ import annotations

from collections import Counter

from focused.pages.evidence import mix
from focused.pages.tokens import word_to_id
from focused.report.job_reader import JobReader
from focused.report.learned import learned_by_offset, saved_prioritizer


def test_a_page_counts_once_also_where_other_addresses_redirect_to_it(reader: JobReader) -> None:
    pages = reader.page_table().link.tolist()
    own = {page: reader.evidence_of(page) for page in pages}
    redirects = [page for page, evidence in own.items() if evidence is not None and (evidence.link != page).any()]
    assert redirects, "a page to which another address leads"
    prioritizer, _ = saved_prioritizer(reader)
    learned = learned_by_offset(reader, prioritizer, pages)
    words = [(at.offset, word) for at in learned for word in at.speak_for + at.speak_against]
    assert words
    seen = Counter(
        feature
        for page, evidence in own.items()
        if evidence is not None
        for feature in set(evidence.select((evidence.link == page).nonzero()[0]).ids.tolist())
    )
    for offset, word in words:
        assert word.seen == seen[int(mix(word_to_id(word.word), offset))]
