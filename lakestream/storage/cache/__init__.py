"""Bytes of segments already at hand, bounded in memory."""
