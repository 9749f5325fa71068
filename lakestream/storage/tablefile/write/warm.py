"""Compiles the kernel that finds bounds into Numba's cache, so that no worker of the pipeline has to.

python -m lakestream.storage.tablefile.write.warm
"""

from lakestream.storage.tablefile.write.ends import warm


def main() -> None:
    print(f"bounds kernel ready: {warm()} compiled now")


if __name__ == "__main__":
    main()
