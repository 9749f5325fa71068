"""Settings: definitions (model), sources (load), and display (describe)."""
