"""The schema registry, free of any wire: subjects, versions, compatibility, in three formats."""
