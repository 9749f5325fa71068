"""Who callers are and what they may do: ACLs, decisions, credentials. All faces ask here."""
