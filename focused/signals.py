"""Signals of our own, in the past tense."""

page_judged = object()
"""A page has its verdict. Arguments: item, record (a PageRecord), spider."""

seed_missed = object()
"""A request for a seed ended without a response, or was postponed. Arguments: request, error, spider."""

prioritizer_trained = object()
"""The prioritizer has learned. Arguments: lessons (how many), version, spider."""
