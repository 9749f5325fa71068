"""The known shapes in the kernels' form: a tree for finding a row's shape, and a list of tokens for encoding.

    root -- {"id": <i:1> -- ,"name": <s:2> -- }        shape 0
                        \\-- ,"name": <n:2> -- }        shape 1

The text of an edge may lead into structs and out of them. The same text can stand in two structs, so a text belongs to
the struct in which it begins, and that determines the column of its value.

The decoder follows the tree by the text before each value and by the value's style. It tries the child that the
previous row took first, so that rows that are alike cost one comparison of bytes for each key. Each text is kept once
and has a number. If the first try fails, the edge (node, text, style) is found by hash.

Everything has a bound. Once one is reached, no shapes are added, and rows of further shapes keep their bytes.
"""

from collections.abc import Sequence

import numpy as np

from lakestream.contract.codecs.json.kernels import kinds
from lakestream.contract.codecs.json.kernels.finding import edge_hash, text_hash
from lakestream.contract.codecs.json.kernels.kinds import TOP
from lakestream.contract.codecs.json.kernels.styles import BOOLEAN, END, LISTS, NULL, RAW, REST, SPACED, STRINGS, WHOLE
from lakestream.contract.codecs.json.kernels.views import EDGE_SLOTS, LITERAL_SLOTS, Tree
from lakestream.contract.codecs.json.slots import Slot
from lakestream.contract.codecs.json.template import Opening, TemplatePart, tokens_of

SHAPES_MAX = 1_000
SHAPE_BYTES_MAX = 1 << 20
"""The size of all templates together: every file stores those that it uses."""
NODES_MAX = EDGE_SLOTS // 2
LITERALS_MAX = LITERAL_SLOTS // 2
LITERAL_BYTES_MAX = 1 << 19
TOKENS_MAX = 1 << 16
OPENED_MAX = 1 << 15
"""The number of structs that begin within the texts, and within the shapes."""
_ROOT = 0


class ShapeTree:
    def __init__(self, slots: Sequence[Slot]) -> None:
        self._slots = slots
        self._ids = [slot.column.id for slot in slots]
        self._columns = {id: column for column, id in enumerate(self._ids)}
        self.shapes: list[str] = []
        self.text_bytes = np.zeros(SHAPES_MAX, np.int64)
        """By shape: the size of a row without its values."""
        self._shape_bytes = 0
        self._literals: dict[tuple[int, bytes], int] = {}
        """By the struct in which they begin, and their text."""
        self._openings: list[tuple[Opening, ...]] = []
        """By literal."""
        self._opened = 0
        self._shape_opened = 0
        self._literal_bytes = 0
        self._nodes = 1
        self._tokens = 0
        self._text = np.zeros(LITERAL_BYTES_MAX, np.uint8)
        self._arrays = Tree(
            literal_context=np.zeros(LITERALS_MAX, np.int64),
            literal_address=np.zeros(LITERALS_MAX, np.int64),
            literal_length=np.zeros(LITERALS_MAX, np.int64),
            literal_column=np.full(LITERALS_MAX, -1, np.int64),
            literal_slots=np.full(LITERAL_SLOTS, -1, np.int32),
            edge_slots=np.full(EDGE_SLOTS, -1, np.int32),
            node_parent=np.full(NODES_MAX, -1, np.int32),
            node_literal=np.full(NODES_MAX, -1, np.int32),
            node_style=np.zeros(NODES_MAX, np.int32),
            node_shape=np.full(NODES_MAX, -1, np.int32),
            node_last=np.full(NODES_MAX, -1, np.int32),
            shape_first=np.zeros(SHAPES_MAX + 1, np.int32),
            token_literal=np.zeros(TOKENS_MAX, np.int32),
            token_style=np.zeros(TOKENS_MAX, np.int32),
            token_column=np.full(TOKENS_MAX, -1, np.int32),
            literal_opens=np.zeros(LITERALS_MAX + 1, np.int32),
            opened=np.zeros(OPENED_MAX, np.int32),
            shape_opens=np.zeros(SHAPES_MAX + 1, np.int32),
            shape_opened=np.zeros(OPENED_MAX, np.int32),
        )
        self.tree = Tree(*(array.ctypes.data for array in self._arrays))
        """The addresses that the kernels get."""

    def add(self, template: str) -> bool:
        """Add a shape, if there is room, and return whether there was. Raises ValueError if it does not fit the
        layout."""
        tokens = tokens_of(template)
        columns = [self._column(token) for token in tokens]
        opened = [self._struct(opening) for token in tokens for opening in token.opens]
        contexts = [TOP, *(self._slots[column].parent for column in columns[:-1])]
        if not self._has_room(template, tokens, contexts):
            return False
        node = _ROOT
        for token, column, context in zip(tokens, columns, contexts, strict=True):
            literal = self._literal(token, column, context)
            node = self._child(node, literal, token.style)
            self._append(literal, token.style, column)
        self._arrays.node_shape[node] = len(self.shapes)
        self.shapes.append(template)
        self._shape_bytes += len(template.encode())
        self._arrays.shape_first[len(self.shapes)] = self._tokens
        self._arrays.shape_opened[self._shape_opened : self._shape_opened + len(opened)] = opened
        self._shape_opened += len(opened)
        self._arrays.shape_opens[len(self.shapes)] = self._shape_opened
        self.text_bytes[len(self.shapes) - 1] = sum(len(token.literal) for token in tokens)
        return True

    def path(self, node: int) -> list[TemplatePart]:
        """The parts of the path from the root to a node."""
        texts = list(self._literals)
        tokens: list[TemplatePart] = []
        while node != _ROOT:
            literal = int(self._arrays.node_literal[node])
            column_id = self._ids[self._arrays.literal_column[literal]]
            _, text = texts[literal]
            tokens.append(TemplatePart(text, int(self._arrays.node_style[node]), column_id, self._openings[literal]))
            node = int(self._arrays.node_parent[node])
        return tokens[::-1]

    def _has_room(self, template: str, tokens: Sequence[TemplatePart], contexts: Sequence[int]) -> bool:
        places = zip(contexts, (token.literal for token in tokens), strict=True)
        new = {place for place in places if place not in self._literals}
        opened = sum(len(token.opens) for token in tokens)
        return (
            len(self.shapes) < SHAPES_MAX
            and self._shape_bytes + len(template.encode()) <= SHAPE_BYTES_MAX
            and len(self._literals) + len(new) <= LITERALS_MAX
            and self._literal_bytes + sum(len(text) for _, text in new) <= LITERAL_BYTES_MAX
            and max(self._opened, self._shape_opened) + opened <= OPENED_MAX
            and self._nodes + len(tokens) <= NODES_MAX
            and self._tokens + len(tokens) <= TOKENS_MAX
        )

    def _column(self, token: TemplatePart) -> int:
        if token.style == END:
            return -1
        if token.column_id not in self._columns:
            raise ValueError(f"a shape names column {token.column_id}, which the layout does not have")
        column = self._columns[token.column_id]
        if not self._can_hold(self._slots[column], token.style):
            raise ValueError(f"a shape has a value in column {token.column_id} that such a column cannot hold")
        return column

    def _struct(self, opening: Opening) -> int:
        column = self._columns.get(opening.column_id)
        if column is None or self._slots[column].kind != kinds.STRUCT:
            raise ValueError(f"a shape begins a struct in column {opening.column_id}, which is none")
        return column

    def _can_hold(self, slot: Slot, style: int) -> bool:
        """Checked here because the kernels trust the shapes."""
        if slot.kind == kinds.LIST and style >= LISTS:
            element = style - (SPACED if style >= SPACED else LISTS)
            return _can_hold(self._slots[slot.element].kind, element)
        return _can_hold(slot.kind, style)

    def _literal(self, token: TemplatePart, column: int, context: int) -> int:
        text = token.literal
        known = self._literals.get((context, text))
        if known is not None:
            return known
        number = len(self._literals)
        arrays = self._arrays
        address = self._text.ctypes.data + self._literal_bytes
        self._text[self._literal_bytes : self._literal_bytes + len(text)] = np.frombuffer(text, np.uint8)
        self._literals[context, text] = number
        self._literal_bytes += len(text)
        self._openings.append(token.opens)
        for opening in token.opens:
            arrays.opened[self._opened] = self._columns[opening.column_id]
            self._opened += 1
        arrays.literal_opens[number + 1] = self._opened
        arrays.literal_context[number] = context
        arrays.literal_address[number] = address
        arrays.literal_length[number] = len(text)
        arrays.literal_column[number] = column
        arrays.literal_slots[_free_slot(arrays.literal_slots, text_hash(context, address, len(text)))] = number
        return number

    def _child(self, node: int, literal: int, style: int) -> int:
        arrays = self._arrays
        slot = edge_hash(node, literal, style) & (len(arrays.edge_slots) - 1)
        while (found := int(arrays.edge_slots[slot])) >= 0:
            if (arrays.node_parent[found], arrays.node_literal[found], arrays.node_style[found]) == (
                node,
                literal,
                style,
            ):
                return found
            slot = (slot + 1) & (len(arrays.edge_slots) - 1)
        child = self._nodes
        self._nodes += 1
        arrays.edge_slots[slot] = child
        arrays.node_parent[child] = node
        arrays.node_literal[child] = literal
        arrays.node_style[child] = style
        arrays.node_last[node] = child
        return child

    def _append(self, literal: int, style: int, column: int) -> None:
        self._arrays.token_literal[self._tokens] = literal
        self._arrays.token_style[self._tokens] = style
        self._arrays.token_column[self._tokens] = column
        self._tokens += 1


def _can_hold(kind: int, style: int) -> bool:
    if style == NULL:
        return kind != kinds.REST
    if style == RAW or style in STRINGS:
        return kind in (kinds.STRING, kinds.TEXT) or (kind == kinds.OBJECT and style == RAW)
    if style == BOOLEAN:
        return kind == kinds.BOOLEAN
    if style == REST:
        return kind == kinds.REST
    if style >= LISTS:
        return False
    return kind in (kinds.INT, kinds.LONG) if style == WHOLE else kind == kinds.DOUBLE


def _free_slot(slots: "np.ndarray[tuple[int], np.dtype[np.int32]]", hashed: int) -> int:
    slot = hashed & (len(slots) - 1)
    while slots[slot] >= 0:
        slot = (slot + 1) & (len(slots) - 1)
    return slot
