"""What columns hold and what values are, in the kernels' numbers."""

# What a column holds.
BOOLEAN, LONG, INT, DOUBLE, STRING, TEXT, NOTHING, STRUCT, LIST, REST, OBJECT = range(11)
"""TEXT: JSON of any kind. NOTHING: a kind of column that JSON does not fill. REST: members that have no column.
OBJECT: an element of a list that is an object, as its JSON.
"""

# What a value is: bits, so that kinds of several rows can be merged.
IS_LONG, IS_DOUBLE, IS_BOOLEAN, IS_STRING, IS_OBJECT, IS_ARRAY, IS_ODD = 1, 2, 4, 8, 16, 32, 64
"""IS_ODD: among an array's elements, that it has spaces which no style has; a list could not give it back."""
ELEMENTS = 8
"""So many bits above those of an array stand those of its elements."""

# In which object a key stands: the number of its struct, or one of these. Below them: an object without a column.
TOP, DONE = -1, -2
ELEMENT = -2
"""In the place of the struct that a list's element stands in: it has no key."""
STRUCT_DEPTH_MAX = 8
"""Objects within the outermost one whose keys are looked at to find columns for them."""
DEEPER = -1
"""No fault: a slot of the shapes known so far stands here, but the value has slots of its own."""
