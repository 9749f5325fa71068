"""Checking values and keys against their schemas before they are stored."""
