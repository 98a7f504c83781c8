"""``tdsl verify``: hold an output folder against its manifest, without the design."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tdsl.commands._shared import FOUND, OK, Wrong, say

if TYPE_CHECKING:
    from tdsl.output.intact import Examined

SHOWN = 20


@click.command(
    "verify",
    short_help="Verify that an output folder is as it was built.",
    epilog="\b\nExamples:\n  tdsl verify out\n  tdsl verify out --strict     (fail if there are other files, too)\n"
    "  tdsl verify out --signers allowed_signers     (fail unless one of these signed it)",
)
@click.argument("out", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="OUT")
@click.option("--strict", is_flag=True, help="Fail if there are files that the manifest does not list.")
@click.option(
    "--signers", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
    help="Fail unless manifest.json.sig is a signature of the manifest by one of these: OpenSSH's file of allowed signers.",
)  # fmt: skip
def command(out: Path, strict: bool, signers: Path | None) -> int:
    """Compare every file of OUT with the SHA-256 hashes of OUT/manifest.json. The design is not needed.

    Of the output of several fabrics, every folder in OUT is compared, and is to have the name of its fabric. The manifest's own
    hash is printed, to be compared with one that is known. With --signers its signature, which `tdsl build --sign` makes, is
    judged by ssh-keygen. Files that no manifest lists are printed, and let it fail with --strict only.

    Exit status: 0 as built, 1 something differs, is not signed, or no file is listed, 2 a wrong call or no manifest.
    """
    from tdsl.output.intact import NoManifest, examine, parts
    from tdsl.report.paint import tame_line

    try:
        folders, beside = parts(out, strict)
    except OSError as fault:
        raise Wrong(f"{out}: {fault.strerror or fault}") from None
    status = FOUND if strict and beside else OK
    _others(out.as_posix(), beside)
    for folder in folders:
        try:
            found = examine(folder, strict)
        except NoManifest as why:
            raise Wrong(str(why)) from None
        except OSError as fault:
            raise Wrong(f"{folder}: {fault.strerror or fault}") from None
        shown = folder.as_posix()
        for difference in found.differences:
            say(f"{difference.kind:<8} {tame_line(f'{shown}/{difference.path}')}\n")
        _others(shown, found.others)
        wrong = len(found.differences)
        said = f"{wrong} of {found.count} files differ from the manifest" if wrong else f"{found.count} files are as built"
        if not found.count:
            said, wrong = "the manifest lists no file, so nothing is verified", 1
        only = f", part {' '.join(f'`{p}`' for p in found.only)}" if found.only else ""
        of = f"{found.design}{only} {found.identity[:16]}, tdsl {found.version}"
        say(f"{tame_line(f'{shown}: {said}: {of}, manifest {found.digest}')}\n")
        if folder != out and folder.name != found.design:
            say(f"{'differs':<8} {tame_line(f'{shown}: this folder is of the fabric {found.design}')}\n")
            wrong += 1
        status = FOUND if wrong or (strict and found.others) else status
        if signers is not None and not _signed(found, shown, signers):
            status = FOUND
    return status


def _others(shown: str, paths: list[str]) -> None:
    """Say which files no manifest lists."""
    from tdsl.report.paint import tame_line

    for path in paths[:SHOWN]:
        say(f"{'extra':<8} {tame_line(f'{shown}/{path}')}\n")
    if len(paths) > SHOWN:
        say(f"{'extra':<8} and {len(paths) - SHOWN} more\n")


def _signed(found: Examined, shown: str, signers: Path) -> bool:
    """Say who signed a manifest, or why it counts as not signed."""
    from tdsl.output.signature import SIGNATURE, NoProgram, Unsigned, signer
    from tdsl.report.paint import tame_line

    try:
        if not found.signature:
            raise Unsigned(f"there is no {SIGNATURE}")
        say(f"{tame_line(f'{shown}: signed by {signer(found.manifest, found.signature, signers)}')}\n")
    except Unsigned as why:
        say(f"{'unsigned':<8} {tame_line(f'{shown}: {why}')}\n")
        return False
    except NoProgram as why:
        raise Wrong(str(why)) from None
    return True
