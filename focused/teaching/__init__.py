"""Teaching: a critic from a topic's examples, an apprentice from a job's lessons."""
