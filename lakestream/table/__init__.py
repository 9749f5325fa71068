"""From log to table: everything that runs on Spark, and the process around it. The only room that imports pyspark."""
