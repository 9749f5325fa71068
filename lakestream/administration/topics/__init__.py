"""Topics for people: found by name, looked at, changed; their records with the places that served them."""
