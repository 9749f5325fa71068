"""Questions about the whole cluster: verbs that return values. REST, the command line and others translate them."""
