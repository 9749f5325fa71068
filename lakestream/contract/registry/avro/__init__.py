"""Avro schemas: parsed with resolved names, compared by the specification's rules of schema resolution."""
