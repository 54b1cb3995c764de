"""Running commands, crawls in separate processes, and helper processes; reporting progress."""
