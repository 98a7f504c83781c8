"""``tdsl verify``: hold an output folder against its manifest, without the design."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tdsl.commands._shared import FOUND, OK, Wrong, say

if TYPE_CHECKING:
    from tdsl.emit.intact import Examined

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

    Of the output of several fabrics, every folder in OUT is compared. The manifest's own hash is printed, to be compared with one
    that is known. With --signers its signature, which `tdsl build --sign` makes, is judged by ssh-keygen.

    Exit status: 0 as built, 1 something differs or is not signed, 2 a wrong call or no manifest.
    """
    from tdsl.emit.build import MANIFEST
    from tdsl.emit.intact import NoManifest, examine
    from tdsl.report.paint import tame

    inner = sorted(p.parent for p in out.glob(f"*/{MANIFEST}"))
    status = OK
    for folder in [out] if (out / MANIFEST).is_file() or not inner else inner:
        try:
            found = examine(folder)
        except NoManifest as why:
            raise Wrong(str(why)) from None
        except OSError as fault:
            raise Wrong(f"{folder}: {fault.strerror or fault}") from None
        shown = folder.as_posix()
        for difference in found.differences:
            say(f"{difference.kind:<8} {tame(f'{shown}/{difference.path}')}\n")
        for path in found.others[:SHOWN]:
            say(f"{'extra':<8} {tame(f'{shown}/{path}')}\n")
        if len(found.others) > SHOWN:
            say(f"{'extra':<8} and {len(found.others) - SHOWN} more\n")
        wrong = len(found.differences)
        said = f"{wrong} of {found.count} files differ from the manifest" if wrong else f"{found.count} files are as built"
        part = f", part {' '.join(f'`{p}`' for p in found.only)}" if found.only else ""
        of = f"{tame(found.design)}{tame(part)} {found.identity[:16]}, tdsl {tame(found.version)}"
        say(f"{shown}: {said}: {of}, manifest {found.digest}\n")
        status = FOUND if wrong or (strict and found.others) else status
        if signers is not None and not _signed(found, shown, signers):
            status = FOUND
    return status


def _signed(found: Examined, shown: str, signers: Path) -> bool:
    """Say who signed a manifest, or why it counts as not signed."""
    from tdsl.emit.signature import SIGNATURE, NoProgram, Unsigned, signer
    from tdsl.report.paint import tame

    try:
        if not found.signature:
            raise Unsigned(f"there is no {SIGNATURE}")
        say(f"{tame(shown)}: signed by {tame(signer(found.manifest, found.signature, signers))}\n")
    except Unsigned as why:
        say(f"{'unsigned':<8} {tame(shown)}: {tame(str(why))}\n")
        return False
    except NoProgram as why:
        raise Wrong(str(why)) from None
    return True
