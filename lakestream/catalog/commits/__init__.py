"""Planning one commit: what it reads, the snapshots it adds, the files it removes, the manifests it rolls."""
