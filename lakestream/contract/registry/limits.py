"""Bounds of the schema registry, each with its reason. Beyond them a schema is refused before work is spent."""

SCHEMA_BYTES_MAX = 1024 * 1024
"""The size of one schema's text. Generated schemas reach some hundred KiB; clients hold every schema they meet."""

NESTING_MAX = 100
"""Levels of brackets in a schema's text. The parsers are recursive: about three calls a level of Python's 1,000."""

REFERENCE_DEPTH_MAX = 16
"""How long a chain of references may be."""

REFERRED_SCHEMAS_MAX = 500
"""How many schemas one may need, directly and through others."""

REFERRED_BYTES_MAX = 8 * SCHEMA_BYTES_MAX
"""The size of their text together, which is parsed for one request."""

NODES_MAX = 50_000
"""Types and fields in a schema with all it refers to: bounds the time of checks that visit each."""

COMPARISONS_MAX = 200_000
"""Pairs of types that one compatibility check compares: a second or two. Only schemas made to be slow need more."""

CHECKED_BYTES_MAX = 64 * SCHEMA_BYTES_MAX
"""Text of all versions that one check parses: a transitive level compares a schema with hundreds of versions."""

REASONS_MAX = 100
"""Reasons given for a refusal: the first ones are enough, and more would make the answer larger than the schema."""

SUBJECT_NAME_CHARACTERS_MAX = 512
REGISTER_ATTEMPTS_MAX = 50
"""A registration is checked again if its subject changed meanwhile, that is, if another one succeeded."""

SCHEMA_ID_MAX = 2**31 - 1
"""Clients hold ids and versions in 32 bits; the wire format has four bytes for an id."""
