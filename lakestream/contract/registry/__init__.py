"""The schema registry, independent of any protocol: subjects, versions, compatibility, in three formats."""
