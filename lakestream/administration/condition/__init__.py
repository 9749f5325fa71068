"""The condition of topics' tables: figures from what is cheap to read, and one word with advice."""
