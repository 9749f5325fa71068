"""python -m lakestream"""

from lakestream.cli.main import main

main()
