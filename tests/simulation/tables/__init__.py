"""The log becomes tables: real pipelines with workers in this process, strangers who change tables, and who judges."""
