"""Values without behaviour: what a topic, a batch and a place are. Imports nothing of ours."""
