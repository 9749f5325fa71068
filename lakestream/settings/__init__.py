"""Settings: what they are (model), where they come from (load), how they are shown (describe)."""
