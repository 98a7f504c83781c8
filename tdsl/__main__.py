"""``python -m tdsl`` is ``tdsl``."""

from tdsl.cli import cli

if __name__ == "__main__":
    cli(prog_name="tdsl")
