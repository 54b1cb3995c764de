"""Running things: a coroutine on the loop of a command, a crawl in a process of its own, and telling how far it is."""
