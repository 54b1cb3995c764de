"""Judges of pages."""

CRITICS = {
    "naive-bayes": "focused.papers.critics.naive_bayes.NaiveBayesCritic",
    "logistic": "focused.critics.logistic.LogisticCritic",
    "lexical": "focused.papers.critics.lexical.LexicalCritic",
    "keywords": "focused.critics.keywords.KeywordsCritic",
}
"""Short name → class. A new critic is one file and one line here."""
