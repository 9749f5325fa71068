"""The kernels' numbers for kinds of columns and kinds of values."""

# Kinds of columns.
BOOLEAN, LONG, INT, DOUBLE, STRING, TEXT, NOTHING, STRUCT, LIST, REST, OBJECT = range(11)
"""TEXT: JSON of any kind. NOTHING: a kind of column that JSON does not fill. REST: members without a column. OBJECT: an
element of a list that is an object, as its JSON."""

# Kinds of values: bits, so that kinds of several rows can be merged.
IS_LONG, IS_DOUBLE, IS_BOOLEAN, IS_STRING, IS_OBJECT, IS_ARRAY, IS_ODD = 1, 2, 4, 8, 16, 32, 64
"""IS_ODD, among an array's elements: the array has spaces that no style writes, so a list could not give it back."""
ELEMENTS = 8
"""The bits of an array's elements stand this many bits above those of the array."""

# The object that holds a key: the number of its struct, or one of these. Lower numbers: an object without a column.
TOP, DONE = -1, -2
ELEMENT = -2
"""The parent of a list's element, in place of a struct: an element has no key."""
STRUCT_DEPTH_MAX = 8
"""How deep objects are searched for keys that may become columns, below the outermost one."""
DEEPER = -1
"""Not a fault: the known shapes have a slot here, but the value is an object with slots of its own."""
