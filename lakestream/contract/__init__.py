"""Contracts: the schemas that a stream and its table share."""
