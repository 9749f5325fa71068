"""Tables and views by name: the verbs of the REST face."""
