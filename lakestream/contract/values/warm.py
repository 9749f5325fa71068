"""Compiles all kernels that values pass through into Numba's cache, so that no process compiles while it works.

    python -m lakestream.contract.values.warm

It takes a minute once, at set-up, and a second or two afterwards, to load the compiled code.
"""

from lakestream.contract.codecs.warm import warm as warm_codecs
from lakestream.contract.values.frames import warm as warm_frames


def warm() -> int:
    """Returns how many kernels had to be compiled."""
    return warm_codecs() + warm_frames()


def main() -> None:
    print(f"value codecs ready: {warm()} kernels compiled now")


if __name__ == "__main__":
    main()
