"""``tdsl verify``: hold an output folder against its manifest, without the design."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tdsl.commands._shared import ALL_NETWORKS, FOUND, OK, Wrong, write_to_stream
from tdsl.commands._untrusted import with_untrusted_option
from tdsl.system.nouns import noun_for_count

if TYPE_CHECKING:
    from tdsl.output.intact import Examined

SHOWN = 20


@click.command(
    "verify",
    short_help="Verify that an output folder is as it was built.",
    epilog="\b\nExamples:\n  tdsl verify out\n  tdsl verify out --strict     (fail if there are other "
    "files, too)\n"
    "  tdsl verify out --signers allowed_signers     (fail unless one of these signed it)",
)
@click.argument("built", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="OUT")
@click.option("--strict", is_flag=True, help="Fail if there are files that the manifest does not list.")
@click.option(
    "--signers",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Fail unless manifest.json.sig is a signature of the manifest by one of these: OpenSSH's file of "
    "allowed signers.",
)
@with_untrusted_option
def command(built: Path, strict: bool, signers: Path | None) -> int:
    """Compare every file of OUT with the SHA-256 hashes of OUT/manifest.json. The design is not needed.

    Of the output of several fabrics, every folder in OUT is compared, and is to have the name of its fabric.
    The manifest's own hash is printed, to be compared with one that is known. With --signers its signature,
    which `tdsl build --sign` makes, is judged by ssh-keygen. Files that no manifest lists are printed, and
    let it fail with --strict only.

    Exit status: 0 as built, 1 something differs, is not signed, or no file is listed, 2 a wrong call or no
    manifest.
    """
    from tdsl.output.intact import folders_with_manifest

    try:
        folders, beside = folders_with_manifest(built, strict)
    except OSError as fault:
        raise Wrong(f"{built}: {fault.strerror or fault}") from None
    status = FOUND if strict and beside else OK
    _print_unlisted_files(built.as_posix(), beside)
    for folder in folders:
        found = _examine_folder(folder, strict)
        wrong = _print_examined(found, folder, built)
        status = FOUND if wrong or (strict and found.others) else status
        if signers is not None and not _print_signer(found, folder.as_posix(), signers):
            status = FOUND
    return status


def _examine_folder(folder: Path, strict: bool) -> Examined:
    """Compare the files of a folder with its manifest. Raises Wrong where it cannot be read or has none."""
    from tdsl.output.intact import NoManifest, examine_output

    try:
        return examine_output(folder, strict)
    except NoManifest as why:
        raise Wrong(str(why)) from None
    except OSError as fault:
        raise Wrong(f"{folder}: {fault.strerror or fault}") from None


def _print_examined(found: Examined, folder: Path, out: Path) -> int:
    """Say what became of a folder; how much is wrong with it."""
    from tdsl.report.paint import terminal_safe_line

    shown = folder.as_posix()
    for difference in found.differences:
        write_to_stream(f"{difference.kind:<8} {terminal_safe_line(f'{shown}/{difference.path}')}\n")
    _print_unlisted_files(shown, found.others)
    wrong = len(found.differences)
    said = (
        f"{wrong} of {found.count} files differ from the manifest"
        if wrong
        else f"{found.count} {noun_for_count(found.count, 'file is', 'files are')} as built"
    )
    if not found.count:
        said, wrong = "the manifest lists no file, so nothing is verified", 1
    only = f", part {' '.join(f'`{p}`' for p in found.only)}" if found.only else ""
    of = f"{found.design}{only} {found.identity[:16]}, tdsl {found.version}"
    write_to_stream(f"{terminal_safe_line(f'{shown}: {said}: {of}, manifest {found.digest}')}\n")
    of_all = ALL_NETWORKS in (folder.name, folder.parent.name)
    if folder != out and folder.name != found.design and not of_all:
        write_to_stream(
            f"{'differs':<8} {terminal_safe_line(f'{shown}: this folder is of the fabric {found.design}')}\n"
        )
        wrong += 1
    return wrong


def _print_unlisted_files(shown: str, paths: list[str]) -> None:
    """Say which files no manifest lists."""
    from tdsl.report.paint import terminal_safe_line

    for path in paths[:SHOWN]:
        write_to_stream(f"{'extra':<8} {terminal_safe_line(f'{shown}/{path}')}\n")
    if len(paths) > SHOWN:
        write_to_stream(f"{'extra':<8} and {len(paths) - SHOWN} more\n")


def _print_signer(found: Examined, shown: str, signers: Path) -> bool:
    """Say who signed a manifest, or why it counts as not signed."""
    from tdsl.output.signature import SIGNATURE, NoProgram, Unsigned, signer_of_manifest
    from tdsl.report.paint import terminal_safe_line

    try:
        if not found.signature:
            raise Unsigned(f"there is no {SIGNATURE}")
        signer = signer_of_manifest(found.manifest, found.signature, signers)
        write_to_stream(f"{terminal_safe_line(f'{shown}: signed by {signer}')}\n")
    except Unsigned as why:
        write_to_stream(f"{'unsigned':<8} {terminal_safe_line(f'{shown}: {why}')}\n")
        return False
    except NoProgram as why:
        raise Wrong(str(why)) from None
    return True
