"""Checks whether there is a Java for Spark, and what to tell the user if there is none."""

import os
import shutil
from pathlib import Path


def missing_java() -> str | None:
    """The reason why the pipeline cannot run here, or None."""
    home = os.environ.get("JAVA_HOME")
    if home is not None and (Path(home) / "bin" / "java").is_file():
        return None
    if home is None and shutil.which("java") is not None:
        return None
    where = "JAVA_HOME names no Java" if home is not None else "no Java was found"
    return (
        f"{where}: tables are made by Spark, which needs Java 17 or later. Install one (Debian and Ubuntu: "
        "apt install openjdk-17-jre-headless; macOS: brew install openjdk@17), and start again"
    )
