"""kafkajs: one Node process running driver.js. Its packages are installed on first use, outside the source tree."""

import hashlib
import os
import subprocess
from pathlib import Path

from benchmarks.peers.kafka import Unavailable, program

from .remote import Remote

SOURCE = Path(__file__).resolve().parent.parent / "kafkajs"
CACHE = Path(__file__).resolve().parents[3] / ".cache"
INSTALL_S_MAX = 180


def open_kafkajs(bootstrap: str) -> Remote:
    node, modules = program("node"), install()
    # Its encoder measures every header value and so cannot send a null one.
    command = [node, str(SOURCE / "driver.js"), bootstrap, str(modules)]
    return Remote("kafkajs", command, cwd=SOURCE, null_header_values=False)


def install() -> Path:
    """The node_modules folder for package.json as it is now."""
    wanted = (SOURCE / "package.json").read_bytes()
    home = CACHE / f"kafkajs-{hashlib.sha256(wanted).hexdigest()[:12]}"
    if home.is_dir():
        return home / "node_modules"
    npm = program("npm")
    arriving = home.with_suffix(f".{os.getpid()}")  # renamed when whole
    arriving.mkdir(parents=True)
    (arriving / "package.json").write_bytes(wanted)
    command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"]
    installed = subprocess.run(command, cwd=arriving, capture_output=True, text=True, timeout=INSTALL_S_MAX)
    if installed.returncode:
        raise Unavailable(f"npm could not install kafkajs: {installed.stderr[-400:]}")
    arriving.rename(home)
    return home / "node_modules"
