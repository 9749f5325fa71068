"""The console: pages for people, at `/` of the gateway. It calls the verbs of administration, as /admin does."""
