"""What people ask about the whole: verbs that return values. REST, the command line and others translate them."""
