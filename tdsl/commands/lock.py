"""``tdsl lock``: write down which links stand, so that a growing design keeps them on their ports."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tdsl.commands._everywhere import print_on_stderr, print_unless_quiet
from tdsl.commands._shared import (
    FOUND,
    OK,
    Wrong,
    compile_sources,
    design_options,
    limit_options,
    options_from_command,
    save_lock,
    show_findings,
)
from tdsl.commands._untrusted import with_untrusted_option
from tdsl.system.nouns import counted_noun

if TYPE_CHECKING:
    from tdsl.compile.compiler import Design


@click.command(
    "lock",
    short_help="Record the existing links, to keep them on their ports.",
    epilog="\b\nExamples:\n  tdsl lock superpod.fab                 (once it is cabled)\n"
    "  tdsl check superpod.fab --locked       (would a change move an existing link?)",
)
@click.argument("file", metavar="FILE")
@design_options
@click.option(
    "--fresh",
    is_flag=True,
    help="Forget the lock that is there: lay all links anew, as the text alone has it.",
)
@limit_options
@with_untrusted_option
def command(file: str, fresh: bool, **given: Any) -> int:
    """Write FILE.lock: every link of the design with its ports, a line each, and the SHA-256 of the library
    files that it uses.

    While that file is beside the design, every command keeps those links on their ports where the design
    still joins the same devices, whatever is added before or between. Commit it with the design. `tdsl check
    --locked` also names the library files that have changed since, with the figures that differ.
    """
    if not Path(file).is_file():
        raise Wrong(
            f"{file}: {'it is not a regular file' if Path(file).exists() else 'No such file or directory'}"
        )
    from tdsl.compile.compiler import LOCK
    from tdsl.fabric.pins import lock_text
    from tdsl.physical.standing import file_digests, lock_figures

    compilations = compile_sources([file], replace(options_from_command(given), lock=not fresh), verify=False)
    show_findings(compilations, sys.stderr)
    designs = compilations[0].designs
    lock = Path(f"{file}{LOCK}")
    if _is_lock_unreadable(designs, lock):
        print_on_stderr(
            f"nothing is written: {file}{LOCK} cannot be read whole, and links that it records would be "
            f"forgotten; restore it, such as with `git checkout -- {file}{LOCK}`, or forget all that it "
            f"records with `tdsl lock {file} --fresh`"
        )
        return FOUND
    if any(d.fabric is None or not d.fabric.complete for d in designs):
        print_on_stderr("nothing is written")
        return FOUND
    fabrics = [d.fabric for d in designs if d.fabric is not None]
    used = file_digests(compilations[0].read, Path(file).parent)
    text = lock_text(fabrics, Path(file).name, used, {f.name: lock_figures(f) for f in fabrics})
    save_lock(text, lock)
    count = sum(d.fabric.link_count for d in designs if d.fabric is not None)
    print_unless_quiet(f"{file}{LOCK} is written: {counted_noun(count, 'link')}")
    return OK


def _is_lock_unreadable(designs: Sequence[Design], lock: Path) -> bool:
    """Whether an error is about the lock that is there."""
    from tdsl.findings.diagnostic import Severity

    errors = [x for d in designs for x in d.findings if x.severity is Severity.ERROR]
    return any(x.span is not None and Path(x.span.file.name) == lock for x in errors)
