"""From a topic with examples to its trained critic."""
