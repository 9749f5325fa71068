"""Values without behaviour: topics, batches, places, tables, jobs, errors. Imports no other package of ours."""
