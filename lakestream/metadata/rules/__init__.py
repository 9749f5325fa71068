"""What the stores decide and say, without a database: pure functions, named constants, the errors' words."""
