"""Plans one commit: its inputs, the snapshots it adds, the files it removes, the manifests it rolls."""
