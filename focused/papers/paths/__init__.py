"""Ways through a web to pages on a topic, and to failures: what path models are taught by."""
