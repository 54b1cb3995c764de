"""Judges of links."""

PRIORITIZERS = {
    "breadth-first": "focused.prioritizers.breadth_first.BreadthFirst",
    "random": "focused.prioritizers.random.Random",
    "best-first": "focused.prioritizers.best_first.BestFirst",
    "apprentice": "focused.prioritizers.apprentice.Apprentice",
}
"""Short name → class. A new prioritizer is one file and one line here."""
