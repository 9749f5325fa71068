"""The updates of the REST specification, one file per part of a table that they change."""
