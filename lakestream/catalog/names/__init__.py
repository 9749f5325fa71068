"""Tables and views by name: the operations behind the REST API."""
