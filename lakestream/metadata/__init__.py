"""The metadata store: one small transactional database that knows every offset and every place."""
