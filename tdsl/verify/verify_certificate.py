"""Runs ``tdsl/certificates/checker.py`` under the path that it had before."""

from pathlib import Path
from runpy import run_path

if __name__ == "__main__":
    run_path(str(Path(__file__).parents[1] / "certificates" / "checker.py"), run_name="__main__")
