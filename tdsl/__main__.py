"""The program ``tdsl``, also as ``python -m tdsl``."""

import signal


def main() -> None:
    """Run the command line. Until a command begins, and once it has ended, Ctrl-C ends the process without a
    traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from tdsl.system.standard_output import claim_descriptor_1

    claim_descriptor_1()
    from tdsl.cli import cli

    cli(prog_name="tdsl")


if __name__ == "__main__":
    main()
