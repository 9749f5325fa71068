"""Counts the bytes of batches that are not answered yet, on all lanes of a broker, and bounds them."""


class HeldBytes:
    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._held = 0

    def take(self, size: int) -> bool:
        """False: there is no room for so many more."""
        if self._held + size > self._bytes_max:
            return False
        self._held += size
        return True

    def give_back(self, size: int) -> None:
        self._held -= size
