"""``tdsl render``: built files with the secrets of a site in them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import click

from tdsl.commands._everywhere import print_on_stderr, print_unless_quiet
from tdsl.commands._shared import FOUND, OK, Wrong
from tdsl.commands._untrusted import FLAG, VARIABLE, is_untrusted_call
from tdsl.system.nouns import counted_noun

MANIFEST = "manifest.json"
VALUE = re.compile(r"[A-Za-z0-9!$%&()*+./:;<=>\[\]^_{|}~-]{1,128}")
"""What every system takes as it is: no blanks, quotes, backslashes, commas, and none of # ? @."""
LARGEST = 1 << 20


@click.command(
    "render",
    short_help="Substitute secrets in built files.",
    epilog="\b\nExample:\n  tdsl build pod.fab --site site.yaml --out out\n  tdsl render out --secrets "
    "secrets.txt --to load",
)
@click.argument("out", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="OUT")
@click.option(
    "--secrets",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    metavar="FILE",
    help="Lines of NAME=value; blank lines and comments (#) are skipped.",
)
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="Where to write, mode 0700: a folder that is not there, empty, or of an earlier call.",
)
@click.option(
    FLAG,
    is_flag=True,
    envvar=[VARIABLE, "TDSL_RENDER_UNTRUSTED"],
    help="Refuse: secrets are for one's own designs.",
)
def command(out: Path, secrets: Path, to: Path, untrusted: bool) -> int:
    """Copy what `tdsl build` wrote below OUT to another folder, with the value of each secret where the files
    hold @@NAME@@.

    Only placeholders of secrets that the site file named are replaced. The folder has mode 0700 and its files
    0600. OUT stays as it is. A file of OUT that was changed after the build is refused.

    Exit status: 0 written, 1 OUT is not as it was built or the folder cannot be written, 2 a wrong call.
    """
    if untrusted or is_untrusted_call(()):
        raise Wrong(f"{FLAG}: secrets are not given to designs of strangers")
    here, there = Path(os.path.realpath(out)), Path(os.path.realpath(to))
    if here == there or here in there.parents or there in here.parents:
        raise Wrong(f"--to {to}: it must be neither inside {out} nor a parent of it")
    values = _read_secrets(secrets)
    parts = [p.parent for p in sorted({out / MANIFEST, *out.glob(f"*/{MANIFEST}")}) if p.is_file()]
    if not parts:
        raise Wrong(f"{out}: no {MANIFEST} is there, so `tdsl build` did not write it")
    before = os.umask(0o077)
    try:
        made = _write_rendered(out, to, parts, values, secrets)
    except RenderFailed as why:
        print_on_stderr(f"error: {why}")
        return FOUND
    except OSError as fault:
        print_on_stderr(f"error: {to}: {fault.strerror or fault}")
        return FOUND
    finally:
        os.umask(before)
    count = sum(len(files) for files in made.values())
    print_unless_quiet(
        f"{to}: {counted_noun(count, 'file')}, {sum(map(_count_files_with_secrets, made.values()))} of them "
        "with secrets"
    )
    return OK


def _write_rendered(
    out: Path, to: Path, parts: list[Path], values: Mapping[str, str], secrets: Path
) -> dict[Path, dict[str, bytes]]:
    """Write the folders ``parts`` of OUT with their secrets below ``to``; the files of each. Raises
    RenderFailed and OSError."""
    from tdsl.findings.diagnostic import Diagnostics, merge_equal_findings
    from tdsl.output.write import write_output_folder

    made = {part: _files_with_secrets(part, values, secrets) for part in parts}
    _refuse_foreign_folder(to, [to / part.relative_to(out) for part in parts])
    for part, files in made.items():
        place = to / part.relative_to(out)
        for folder in dict.fromkeys((to, place)):
            if folder.is_dir():
                folder.chmod(0o700)
        found = Diagnostics()
        if not write_output_folder(files, place, found):
            raise RenderFailed("; ".join(d.message for d in merge_equal_findings(found)))
        to.chmod(0o700)
    return made


class RenderFailed(Exception):
    """What stands in OUT or DIR keeps the files from being written."""


def _refuse_foreign_folder(to: Path, places: list[Path]) -> None:
    """Refuse a folder that is somebody else's, before its mode is changed."""
    from tdsl.output.own_names import is_build_name, is_build_sibling
    from tdsl.output.write import why_folder_is_refused

    why = {place: said for place in places if (said := why_folder_is_refused(place))}
    if to not in places and to.is_dir():
        found = (p for p in to.iterdir() if not is_build_name(p.name) and not is_build_sibling(p.name))
        others = [p for p in found if p.is_symlink() or not p.is_dir() or why_folder_is_refused(p)]
        if others:
            why[to] = f"holds {others[0].name}, which `tdsl render` did not write"
    for place, said in why.items():
        raise RenderFailed(f"{place} {said}; give --to another folder")


def _count_files_with_secrets(files: Mapping[str, bytes]) -> int:
    """How many files of a folder hold a secret, as its manifest says."""
    return int(json.loads(files[MANIFEST])["rendered"])


def _read_secrets(path: Path) -> dict[str, str]:
    """The secrets by name. No message shows a value."""
    from tdsl.emit.site import SECRET
    from tdsl.system.read import read_text_file

    try:
        text = read_text_file(path, LARGEST, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise Wrong(f"{path}: {getattr(fault, 'strerror', None) or fault}") from None
    out: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, sign, value = line.partition("=")
        if not sign or not SECRET.fullmatch(name):
            raise Wrong(f"{path}, line {number}: write NAME=value, the name in capital letters, digits and _")
        if name in out:
            raise Wrong(f"{path}, line {number}: {name} is given twice")
        if not VALUE.fullmatch(value):
            raise Wrong(
                f"{path}, line {number}: the value of {name} must be 1 to 128 letters, digits and marks "
                "of ASCII, "
                "without spaces, quotes, backslashes, commas and # ? @: some systems accept no others"
            )
        out[name] = value
    return out


def _files_with_secrets(folder: Path, values: Mapping[str, str], secrets: Path) -> dict[str, bytes]:
    """The files of one built folder with their secrets, and a manifest of them."""
    from tdsl.emit.site import PLACEHOLDER
    from tdsl.output.write import LARGEST_MANIFEST, is_plain_output_path
    from tdsl.system.read import read_regular_file

    try:
        manifest = json.loads(read_regular_file(folder / MANIFEST, LARGEST_MANIFEST))
        listed = {str(p): str(f["sha256"]) for p, f in manifest["files"].items()}
        names = {str(n) for n in manifest.get("secrets", ())}
        fit = all(map(is_plain_output_path, listed))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        fit = False
    if not fit:
        raise RenderFailed(f"{folder / MANIFEST} is not as `tdsl build` writes it")
    missing = sorted(names - set(values))
    if missing:
        raise RenderFailed(
            f"{secrets} has no {' and no '.join(missing)}, which the site file of {folder} names"
        )
    out: dict[str, bytes] = {}
    count = 0
    for path, digest in sorted(listed.items()):
        try:
            data = read_regular_file(folder / path, 1 << 31, within=[folder])
        except OSError as fault:
            raise RenderFailed(f"{folder / path}: {fault.strerror or fault}; build it again") from None
        if sha256(data).hexdigest() != digest:
            raise RenderFailed(f"{folder / path} was changed after the build; build it again")
        held = {m.decode() for m in PLACEHOLDER.findall(data)} & names
        for name in held:
            data = data.replace(f"@@{name}@@".encode(), values[name].encode())
        count += bool(held)
        out[path] = data
    manifest.pop("secrets", None)
    manifest["rendered"] = count
    manifest["files"] = {p: {"sha256": sha256(d).hexdigest(), "size": len(d)} for p, d in sorted(out.items())}
    out[MANIFEST] = (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode()
    return out
