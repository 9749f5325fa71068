"""Properties here have no deadline (the first call of a kernel may compile it) and few examples (they are many)."""

from hypothesis import settings

settings.register_profile("records", deadline=None, max_examples=40)
settings.load_profile("records")
