"""The verbs that both stores run from one text: generators of statements, which each store's driver carries out."""
