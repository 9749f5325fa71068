"""Guards check what each request needs before its handler sees it. judging.py is the one place that calls them."""
