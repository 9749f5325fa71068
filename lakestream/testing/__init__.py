"""A whole Lakestream in one process, for tests of applications, for demos and for our own tests."""
