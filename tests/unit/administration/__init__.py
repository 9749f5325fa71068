"""Tests of the verbs that people ask about the whole."""
