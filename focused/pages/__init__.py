"""From HTML to leaves, words, links and evidence."""
