"""Starting and supervising the serving processes of this machine."""
