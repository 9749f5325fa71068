"""Topics as groups see them."""
