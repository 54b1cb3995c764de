"""Signals of our own, in the past tense."""

page_judged = object()
"""A page counts: it was judged, and its callback did not fail. Arguments: record (a PageRecord), spider."""

seed_missed = object()
"""A request for a seed ended without a response, or was postponed. Arguments: request, error, spider."""

prioritizer_trained = object()
"""The prioritizer has learned. Arguments: lessons (how many), version, spider."""

verdicts_revised = object()
"""The critic has learned from the pages of the crawl, and all of them were judged anew. Argument: spider."""
