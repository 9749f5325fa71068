"""What a client may ask of a broker, free of any wire: produce, fetch, offsets, topics, the cluster."""
