"""The topics that groups can subscribe to, as of one moment."""
