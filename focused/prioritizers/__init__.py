"""Judges of links."""

PRIORITIZERS = {
    "breadth-first": "focused.prioritizers.breadth_first.BreadthFirst",
    "random": "focused.prioritizers.random.Random",
    "best-first": "focused.prioritizers.best_first.BestFirst",
    "best-first-observed": "focused.prioritizers.observed.BestFirstObserved",
    "apprentice": "focused.prioritizers.apprentice.Apprentice",
}
"""Short name → class. A new prioritizer is one file and one line here."""
