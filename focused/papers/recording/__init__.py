"""Ways that somebody shows by browsing: the pages without their scripts, what is said of them, and the paths."""
