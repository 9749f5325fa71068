"""The schema registry over HTTP, as serializers and tools of other registries expect it."""
