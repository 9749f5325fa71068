"""Rules for changes that other engines make to a topic's table."""
