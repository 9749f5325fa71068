"""Rules for changes that other engines (strangers) make to a topic's table."""
