"""Start of the command: Ctrl-C while it loads ends it without a word, since nothing is to tidy up yet."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command line; Ctrl-C while it loads ends the process without a message."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from skewanova.cli.commands import main as command

    signal.signal(signal.SIGINT, before)
    command()


if __name__ == "__main__":
    main()
