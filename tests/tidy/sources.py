"""The files of this project, as the tidy checks see them."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("lakestream", "tests", "benchmarks", "examples")
TEXT_SUFFIXES = frozenset({".py", ".sql", ".md", ".toml", ".js", ".java", ".json", ".sh", ".txt", ""})
NOT_OURS = frozenset({"__pycache__", "node_modules", "target"})


def python_files(*folders: str) -> list[Path]:
    return [path for path in _below(folders or CODE) if path.suffix == ".py"]


def text_files() -> list[Path]:
    """Everything that people read: code, documents, and what lies at the root."""
    at_root = [
        path for path in ROOT.iterdir() if path.is_file() and path.suffix in TEXT_SUFFIXES and path.name != ".git"
    ]
    return [*at_root, *(path for path in _below((*CODE, "docs")) if path.suffix in TEXT_SUFFIXES)]


def documents() -> list[Path]:
    return [path for path in text_files() if path.suffix == ".md"]


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _below(folders: tuple[str, ...]) -> list[Path]:
    return sorted(
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and not NOT_OURS & set(path.parts)
    )
