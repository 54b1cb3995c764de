"""Judges of links."""

PRIORITIZERS = {
    "focused": "focused.prioritizers.focused.Focused",
    "breadth-first": "focused.prioritizers.breadth_first.BreadthFirst",
    "random": "focused.prioritizers.random.Random",
    "best-first": "focused.prioritizers.best_first.BestFirst",
    "best-first-observed": "focused.papers.prioritizers.observed.BestFirstObserved",
    "apprentice": "focused.papers.prioritizers.apprentice.Apprentice",
    "cosine": "focused.papers.prioritizers.cosine.Cosine",
    "fish-search": "focused.papers.prioritizers.fish_search.FishSearch",
    "shark-search": "focused.papers.prioritizers.shark_search.SharkSearch",
    "context-graph": "focused.papers.prioritizers.context_graph.ContextGraph",
    "q-learning": "focused.papers.prioritizers.q_learning.QLearning",
    "lexical": "focused.papers.prioritizers.lexical.Lexical",
    "memm": "focused.papers.prioritizers.memm.Memm",
    "hmm": "focused.papers.prioritizers.hmm.Hmm",
    "crf": "focused.papers.prioritizers.crf.Crf",
}
"""Short name → class. A new prioritizer is one file and one line here."""
