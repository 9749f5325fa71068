"""Avro schemas: parsed by full name, compared by the specification's rules of schema resolution."""
