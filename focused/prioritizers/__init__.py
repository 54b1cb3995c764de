"""Judges of links."""

PRIORITIZERS = {
    "focused": "focused.prioritizers.focused.Focused",
    "breadth-first": "focused.prioritizers.breadth_first.BreadthFirst",
    "random": "focused.prioritizers.random.Random",
    "best-first": "focused.prioritizers.best_first.BestFirst",
    "best-first-observed": "focused.prioritizers.observed.BestFirstObserved",
    "apprentice": "focused.prioritizers.apprentice.Apprentice",
    "cosine": "focused.prioritizers.cosine.Cosine",
    "fish-search": "focused.prioritizers.fish_search.FishSearch",
    "shark-search": "focused.prioritizers.shark_search.SharkSearch",
    "context-graph": "focused.prioritizers.context_graph.ContextGraph",
    "q-learning": "focused.prioritizers.q_learning.QLearning",
    "lexical": "focused.prioritizers.lexical.Lexical",
    "memm": "focused.prioritizers.memm.Memm",
    "hmm": "focused.prioritizers.hmm.Hmm",
    "crf": "focused.prioritizers.crf.Crf",
}
"""Short name → class. A new prioritizer is one file and one line here."""
