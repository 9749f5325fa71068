"""One module per command, with the command's name."""
