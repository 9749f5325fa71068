"""The command line: one file per command, and the small clients that the commands share."""
