"""Reading the log: from an offset to the batches that hold it, wherever they lie."""
