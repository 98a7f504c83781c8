"""``tdsl build``: check a design, then write everything that is made of it."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tdsl.commands._everywhere import is_quiet, print_on_stderr
from tdsl.commands._progress import show_progress
from tdsl.commands._shared import (
    ALL_NETWORKS,
    FOUND,
    OK,
    CheckName,
    SettingParameter,
    Source,
    Text,
    Wrong,
    compile_sources,
    design_options,
    exit_status_of,
    limit_options,
    options_from_command,
    places_option,
    record_of_call,
    write_to_stream,
)
from tdsl.commands._untrusted import with_untrusted_option
from tdsl.commands._watch import with_watch_option
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Severity, merge_equal_findings
from tdsl.findings.source import SourceFile
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.progress import begin_phase
from tdsl.system.similar import closest_name

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from tdsl.compile.compiler import Compilation, Design
    from tdsl.emit.build import BuildOptions, Output
    from tdsl.emit.site import Site
    from tdsl.emit.target import BuildTarget
    from tdsl.physical.stages import Stage
    from tdsl.system.spool import Content

TARGETS_ELSEWHERE = {
    **dict.fromkeys(("cumulus", "nvidia", "nv"), "nvue"),
    **dict.fromkeys(("arista", "avd"), "eos"),
    **dict.fromkeys(("excel", "xlsx", "csv", "cables", "labels"), "cabling"),
    **dict.fromkeys(("svg", "dot", "graphviz", "drawing"), "diagram"),
    **dict.fromkeys(("k8s", "kueue"), "kubernetes"),
    **dict.fromkeys(("clab",), "containerlab"),
    **dict.fromkeys(("bill", "parts"), "bom"),
}
"""Words that people use for a target, and its name."""
CROWD = 10
"""Entries of a folder that are listed; of more only the number is said."""


class TargetName(Text):
    """The name of a target."""

    name = "name"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Names of targets."""
        from click.shell_completion import CompletionItem

        from tdsl.emit.target import targets_by_name

        return [
            CompletionItem(name) for name in targets_by_name(Diagnostics()) if name.startswith(incomplete)
        ]


@dataclass(frozen=True, slots=True)
class BuildCall:
    """The options of a call of `tdsl build`, but those that all commands on designs have."""

    file: str
    """The design, as the call names it."""
    target: tuple[str, ...]
    """Names of the targets that are built; all if empty."""
    target_path: tuple[Path, ...]
    """Folders of further targets."""
    out: Path
    """The output folder."""
    assets: Path | None
    """The table of identifiers of assets."""
    check: bool
    """Whether the folder is compared, and nothing is written."""
    force: bool
    """Whether files are written even where the design has errors."""
    sign: Path | None
    """The ssh key that signs the manifest."""
    option: tuple[tuple[str, str], ...]
    """Values of targets' options, by TARGET.NAME."""
    site: Path | None
    """The file of what all devices of the site share."""
    jobs: int
    """How many processes make files; as many as there are cores if 0."""
    only: tuple[str, ...]
    """Patterns of the devices of which a part is built; the whole if empty."""
    ignore: tuple[str, ...]
    """Names of checks that are left out."""


@click.command(
    "build",
    short_help="Check a design, then write what is made of it.",
    epilog="\b\nExamples:\n  tdsl build superpod.fab --out out\n  tdsl build superpod.fab --target "
    "cabling --target nccl\n"
    "  tdsl build superpod.fab --only 'su[3].*' --out su3\n"
    "  tdsl build superpod.fab --check           (does out/ hold what would be built?)",
)
@click.argument("file", type=Source(), metavar="FILE")
@design_options
@click.option(
    "--target", type=TargetName(), multiple=True, help="Build this target only; may be given several times."
)
@click.option(
    "--target-path",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    metavar="DIR",
    help="A folder of further targets, one folder each; may be given several times.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out"),
    show_default=True,
    metavar="DIR",
    help="Where to write.",
)
@click.option(
    "--assets",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A CSV of identifiers that only real assets know: device,port,node_guid,port_guid, or device,mac.",
)
@click.option(
    "--option",
    type=SettingParameter(),
    multiple=True,
    metavar="TARGET.NAME=VALUE",
    help="Give an option of a target another value; may be given several times.",
)
@click.option(
    "--site",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A YAML file of what all devices of the site share: NTP, syslog, DNS, AAA, SNMP, gNMI, banner; "
    "secrets by name.",
)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit status 1 if the folder is not as it would be built."
)
@click.option(
    "--sign",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="KEY",
    help="Sign the manifest with this ssh key, by ssh-keygen: writes manifest.json.sig, which `tdsl "
    "verify --signers` judges.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="SELECTOR",
    help="Build the part of these devices, such as 'su[3].*': their files, and the cables with an end at "
    "one of them.",
)
@click.option(
    "--ignore", type=CheckName(), multiple=True, help="Leave this check out; may be given several times."
)
@click.option("--force", is_flag=True, help="Write even where the design has errors.")
@click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Make files of which each device has one on so many processes; as many as there are cores if not "
    "given.",
)
@places_option
@limit_options
@with_untrusted_option
@with_watch_option
def command(**given: Any) -> int:
    """Check a design, then write its cabling, configurations, models and drawings below a folder.

    Nothing is written if an error is found, unless --force is given; the exit status is 1 either way. What
    another build wrote there and this one does not is removed; files of others are never touched.

    With --only, files of each device are those of the part, lists have its rows, and what is of the whole
    fabric is left out. A part does not take the place of a build of the whole fabric or of another part: give
    it a folder of its own.

    With --ignore, a check is left out: neither what it finds by itself nor a requirement of it keeps the
    files from being written. The last line names what was not judged.

    A target that --target names and that writes no file is an error.
    """
    from tdsl.emit.build import BuildOptions
    from tdsl.system.workers import Workers

    begin = time.perf_counter()
    call = record_of_call(BuildCall, given)
    _refuse_unfit_folder(call.out)
    further = (*(p / "targets" for p in given["path"]), *call.target_path)
    _refuse_unknown_targets(call.target, further)
    (compilation,) = compile_sources([call.file], options_from_command(given, ignore=call.ignore))
    chosen = _target_options_chosen(call.option, further)
    shared = _site_of_call(call.site)
    if shared is None:
        return FOUND
    wanted = BuildOptions(further, chosen, site=shared, workers=Workers(call.jobs), only=call.only)
    files = (
        _files_or_refused(call, compilation, wanted)
        if call.force or exit_status_of(compilation.judged) == OK
        else None
    )
    _report_build(compilation, begin)
    if call.ignore:
        print_on_stderr(f"not judged, as --ignore says: {', '.join(dict.fromkeys(call.ignore))}")
    status = exit_status_of(compilation.judged)
    if not files or (status == FOUND and not call.force):
        print_on_stderr("nothing is written" + ("" if call.force else "; --force writes what can be made"))
        return FOUND
    return max(_write_or_compare(call, files), status)


def _refuse_unfit_folder(out: Path) -> None:
    """Refuse an output folder that is below a file, or that is a link which the call does not name."""
    blocked = next((p for p in (out, *out.parents) if p.exists() and not p.is_dir()), None)
    if blocked is not None:
        raise Wrong(f"--out {out}: {blocked} is a file, not a folder")
    unasked = click.get_current_context().get_parameter_source("out") is ParameterSource.DEFAULT
    if unasked and out.is_symlink():  # it may have come with somebody else's checkout
        raise Wrong(f"{out} is a link, which is not followed unless the call names it: --out {out}")


def _files_or_refused(
    call: BuildCall, compilation: Compilation, wanted: BuildOptions
) -> dict[str, Mapping[str, Content]]:
    """The files of each fabric by its folder. Raises Wrong where they cannot be made here."""
    from tdsl.system.workers import WorkersEnded

    try:
        with show_progress():
            return _files_by_folder(compilation, call.target, call.assets, wanted, call.out)
    except WorkersEnded as ended:
        raise Wrong(str(ended)) from None
    except OSError as fault:
        raise Wrong(
            f"--out {call.out}: the files cannot be kept until they are written: {fault.strerror or fault}"
        ) from None


def _write_or_compare(call: BuildCall, files: Mapping[str, Mapping[str, Content]]) -> int:
    """Write the files, or with --check compare them with those that are there; the exit status."""
    out, status = call.out, OK
    said: list[str] = []
    try:
        linked = next((out / place for place in files if place and (out / place).is_symlink()), None)
        if linked is not None:  # the call does not name it
            raise Wrong(
                f"{linked} is a link, which is not followed inside the output folder; remove it, or "
                "choose another --out"
            )
        for place, made in files.items():
            done = (_report_differences if call.check else _write_build)(made, out / place, said)
            if call.sign is not None and done == OK and not call.check:
                _sign_build(made, out / place, call.sign, said)
            status = max(status, done)
    finally:
        write_to_stream("".join(said))  # last: a reader such as `head` may end the program
    return status


def _refuse_unknown_targets(targets: tuple[str, ...], further: tuple[Path, ...]) -> None:
    """Refuse a call that names a target nobody has; those of ``targets/`` in a ``--path`` folder are known,
    too."""
    from tdsl.emit.target import targets_by_name

    found = Diagnostics()
    known = targets_by_name(found, further)
    for name in targets:
        if name not in known:
            for unfit in (d.message for d in found if d.message.startswith(f"target `{name}`:")):
                raise Wrong(f"error[E0502]: {unfit}")
            listed = [part.strip() for part in name.split(",")]
            if len(listed) > 1 and all(part in known for part in listed):
                each = " ".join(f"--target {part}" for part in listed)
                raise Wrong(f"--target takes one name, and may be given several times: `{each}`")
            near = TARGETS_ELSEWHERE.get(name.lower()) or closest_name(name, known)
            raise Wrong(
                f"there is no target {name!r}; "
                + (f"did you mean {near!r}?" if near else f"there are {', '.join(known)}")
            )


def _target_options_chosen(
    given: tuple[tuple[str, str], ...], further: tuple[Path, ...]
) -> dict[str, dict[str, object]]:
    """Target -> option -> value: those of tdsl.toml, and over them those of the call, which become what the
    default is."""
    from tdsl.emit.choices import why_option_is_unfit
    from tdsl.emit.target import targets_by_name

    known = targets_by_name(Diagnostics(), further)

    out = _target_options_of_config(known)
    for path, text in given:
        name, _, option = path.partition(".")
        if not option:
            words = ", ".join(known[name].options) if name in known else ""
            which = f"; NAME is one of {words}" if words else ""
            raise Wrong(f"--option {path}={text}: write `--option {path}.NAME={text}`{which}")
        if name not in known:
            raise Wrong(
                f"--option {path}: there is no target {name!r}; write TARGET.NAME=VALUE, such as "
                "eos.queue=uc-tx-queue"
            )
        default = known[name].options.get(option)
        value: object = text
        if isinstance(default, bool):
            value = {"true": True, "false": False}.get(text.lower(), text)
        elif isinstance(default, int) and re.fullmatch("-?[0-9]{1,100}", text):
            value = int(text)
        wrong = why_option_is_unfit(known[name].options, known[name].values, option, value)
        if wrong:
            raise Wrong(f"--option {path}={text}: {wrong}")
        out.setdefault(name, {})[option] = value
    return out


def _target_options_of_config(known: Mapping[str, BuildTarget]) -> dict[str, dict[str, object]]:
    """Target -> option -> value, as tdsl.toml gives them."""
    from tdsl.config import Config
    from tdsl.emit.choices import why_option_is_unfit

    config = click.get_current_context().find_object(Config) or Config()
    out: dict[str, dict[str, object]] = {}
    for name, table in config.targets.items():
        if name not in known:
            raise config.fault(f"`[target.{name}]`: there is no such target; there are {', '.join(known)}")
        out[name] = dict(table)
        for option, given_value in table.items():
            wrong = why_option_is_unfit(known[name].options, known[name].values, option, given_value)
            if wrong:
                raise config.fault(f"`[target.{name}]`: {wrong}")
    return out


def _files_by_folder(
    compilation: Compilation, targets: tuple[str, ...], assets: Path | None, options: BuildOptions, out: Path
) -> dict[str, Mapping[str, Content]]:
    """The files of each fabric, in its last phase, by its folder below ``--out``: the folder itself where
    there is one fabric. What is made once of all networks of a cluster has a folder of its own."""
    from tdsl.emit.build import MANIFEST
    from tdsl.system.spool import Spool

    built = [d for d in compilation.judged if d.fabric is not None]
    spool = Spool(next((p for p in Path(os.path.abspath(out)).parents if p.is_dir()), None))
    table, elsewhere = _assets_of_call(assets, built)
    stages = _phases_by_folder(built)
    last = {_folder_of_design(d, built): d for d in built}
    parts = _patterns_by_folder(last, options.only)
    made = {
        folder: _output_of_design(
            d,
            targets,
            replace(
                options,
                assets=table,
                elsewhere=elsewhere,
                stages=tuple(stages[folder]),
                spool=spool,
                only=parts.get(folder, ()),
                apart=True,
            ),
        )
        for folder, d in last.items()
        if folder in parts or not options.only
    }
    _report_unwritten(made, last)
    return {
        folder: output.files
        for folder, output in made.items()
        if set(output.files) - {MANIFEST}
        or not folder
        or (out / folder).is_dir()  # an earlier build wrote it
    }


def _folder_of_design(design: Design, built: Sequence[Design]) -> str:
    """The folder of a fabric below ``--out``, of its name, or "" where it is the only one; of a cluster as a
    whole ``all-networks``, with the cluster's name where there are several."""
    if design.members:
        several = len({d.cluster for d in built if d.members}) > 1
        return f"{ALL_NETWORKS}/{design.name}" if several else ALL_NETWORKS
    return design.name if len({d.name for d in built if not d.members}) > 1 else ""


def _phases_by_folder(built: Sequence[Design]) -> dict[str, list[Stage]]:
    """The phases of each fabric, of which the last is built, by its folder."""
    from tdsl.physical.stages import Stage

    stages: dict[str, list[Stage]] = {}
    for d in built:
        if d.fabric is not None:
            stages.setdefault(_folder_of_design(d, built), []).append(Stage(d.phase, d.needed, d.fabric))
    return stages


def _assets_of_call(path: Path | None, built: Sequence[Design]) -> tuple[SourceFile | None, frozenset[str]]:
    """The table of assets, and the names that devices in it may have because they are in another fabric."""
    if path is None:
        return None, frozenset()
    return _assets_table_text(path), _names_in_several_fabrics(built)


def _names_in_several_fabrics(built: Sequence[Design]) -> frozenset[str]:
    """Names and paths of the devices of all fabrics, where there are several."""
    fabrics = [d.fabric for d in built if d.fabric is not None and len(built) > 1]
    return frozenset(
        name(d) for f in fabrics for name in (f.device_name, f.device_path) for d in range(f.device_count)
    )


def _patterns_by_folder(
    designs: Mapping[str, Design], patterns: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """For each fabric that has devices of the part the patterns that mean some of them; of a cluster as a
    whole those of its networks. Refuses a pattern that means none."""
    from tdsl.fabric.select import select_devices

    out: dict[str, tuple[str, ...]] = {}
    for pattern in patterns:
        why, clusters = "", set()
        for folder, design in designs.items():
            if design.fabric is None or design.members:
                continue
            try:
                select_devices(design.fabric, [pattern])
            except ValueError as none:
                why = str(none)
                continue
            out[folder] = (*out.get(folder, ()), pattern)
            clusters.add(design.cluster)
        if not any(pattern in mine for mine in out.values()):
            raise Wrong(f"--only {why}")
        for folder, design in designs.items():
            if design.members and design.cluster in clusters:
                out[folder] = (*out.get(folder, ()), pattern)
    return out


def _site_of_call(path: Path | None) -> Site | None:
    """What all devices share, by a file or else by tdsl.toml; None, with its findings on stderr, where it
    cannot be followed."""
    from tdsl.config import Config
    from tdsl.emit.site import read_site_file, site_from_values
    from tdsl.report.paint import Paint, output_width, wants_colour
    from tdsl.report.terminal import finding_block

    found = Diagnostics()
    if path is None:
        config = click.get_current_context().find_object(Config) or Config()
        site = site_from_values(config.site, found)
        for fault in found:
            raise config.fault(f"`[site]`: {fault.message}" + (f"; {fault.help}" if fault.help else ""))
        return site
    site = read_site_file(_assets_table_text(path), found)
    for d in merge_equal_findings(found):
        write_to_stream(
            finding_block(d, path.as_posix(), Paint(wants_colour(sys.stderr)), output_width(sys.stderr))
            + "\n\n",
            sys.stderr,
        )
    return None if len(found) else site


def _assets_table_text(path: Path) -> SourceFile:
    """The text of a file beside a design."""
    from tdsl.system.read import read_regular_file

    try:
        return SourceFile(
            str(path), read_regular_file(path).decode("utf-8-sig", "replace").replace("\r\n", "\n")
        )
    except OSError as fault:
        raise Wrong(f"{path}: {fault.strerror or fault}") from None


def _output_of_design(design: Design, targets: tuple[str, ...], options: BuildOptions) -> Output:
    from tdsl.emit.build import build_contents

    diagnostics = Diagnostics()
    assert design.fabric is not None
    made = build_contents(design.fabric, targets, diagnostics, options)
    design.findings = [*design.findings, *merge_equal_findings(diagnostics)]
    return made


def _report_unwritten(made: Mapping[str, Output], designs: Mapping[str, Design]) -> None:
    """An error for each target that the call names and that writes nothing for any fabric; for one that
    others have, a note."""
    from tdsl.emit.build import UNWRITTEN

    written = frozenset[str]().union(*(output.written for output in made.values()))
    for folder, output in made.items():
        for target, why in output.unwritten.items():
            design = designs[folder]
            text = f"target `{target}` writes nothing for `{design.name}`: {why}"
            severity = Severity.NOTE if target in written else Severity.ERROR
            design.findings = [*design.findings, Diagnostic(UNWRITTEN, text, severity=severity)]


def _report_build(compilation: Compilation, begin: float) -> None:
    """Findings, verdicts and summary on stderr: stdout is for what was written."""
    from tdsl.report.formats import Report
    from tdsl.report.paint import output_width, wants_colour
    from tdsl.report.terminal import render, render_early_findings

    report = Report(
        [compilation],
        colour=wants_colour(sys.stderr),
        width=output_width(sys.stderr),
        elapsed_s=time.perf_counter() - begin,
    )
    write_to_stream(render_early_findings(report) if is_quiet() else render(report) + "\n", sys.stderr)
    sys.stderr.flush()


def _report_differences(files: Mapping[str, Content], out: Path, said: list[str]) -> int:
    from tdsl.output.write import compare_output_folder

    found = compare_output_folder(files, out)
    for difference in found:
        said.append(f"{difference.kind:<8} {(out / difference.path).as_posix()}\n")
    if not found:
        said.append(f"{out.as_posix()} holds what would be built: {_files_word(len(files))}\n")
    return FOUND if found else OK


def _write_build(files: Mapping[str, Content], out: Path, said: list[str]) -> int:
    from tdsl.output.write import write_output_folder
    from tdsl.report.paint import Paint, output_width, wants_colour
    from tdsl.report.terminal import finding_block

    diagnostics = Diagnostics()
    with show_progress():
        begin_phase(f"write {out}")
        done = write_output_folder(files, out, diagnostics)
    for d in merge_equal_findings(diagnostics):
        write_to_stream(
            finding_block(d, out.as_posix(), Paint(wants_colour(sys.stderr)), output_width(sys.stderr))
            + "\n\n",
            sys.stderr,
        )
    if not done:
        return FOUND
    if not is_quiet():
        said.append("\n".join(file_tree_lines(files, out.as_posix())) + "\n")
    return OK


def _sign_build(files: Mapping[str, Content], out: Path, key: Path, said: list[str]) -> None:
    """Put the signature of a manifest beside it."""
    from tdsl.emit.build import MANIFEST
    from tdsl.output.folder_lock import hold_folder_lock
    from tdsl.output.signature import SIGNATURE, NoProgram, Unsigned, sign_manifest
    from tdsl.output.write import LARGEST_MANIFEST
    from tdsl.system.read import read_regular_file
    from tdsl.system.replace import replace_file
    from tdsl.system.spool import content_in_memory

    try:
        manifest = content_in_memory(files[MANIFEST])
        signature = sign_manifest(manifest, key)  # which may wait for a passphrase
        with hold_folder_lock(Path(os.path.realpath(out))):
            if read_regular_file(out / MANIFEST, LARGEST_MANIFEST) != manifest:
                raise Unsigned("another build has written there meanwhile")
            replace_file(out / SIGNATURE, signature)
    except (Unsigned, NoProgram) as why:
        raise Wrong(f"--sign {key}: {why}; the output is built, and not signed") from None
    except OSError as fault:
        raise Wrong(
            f"{out / SIGNATURE}: {fault.strerror or fault}; the output is built, and not signed"
        ) from None
    said.append(f"{(out / SIGNATURE).as_posix()}: signed\n")


def _files_word(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


def file_tree_lines(files: Mapping[str, Content], root: str) -> list[str]:
    """The files as a tree with their sizes; of a crowded folder only the first few."""
    total = sum(map(len, files.values()))
    return [
        f"{root}/  {_files_word(len(files))}, {_size_text(total)}",
        *_file_tree_branches({p.split("/", 1)[0] for p in files}, "", files, ""),
    ]


def _file_tree_branches(
    names: Iterable[str], folder: str, files: Mapping[str, Content], indent: str
) -> list[str]:
    out = []
    ordered = sorted(names)
    listed = ordered if len(ordered) <= CROWD + 1 else ordered[:CROWD]
    for at, name in enumerate(listed):
        path = f"{folder}{name}"
        last = at == len(ordered) - 1
        stem, deeper = ("└── ", "    ") if last else ("├── ", "│   ")
        if path in files:
            out.append(f"{indent}{stem}{name}  {_size_text(len(files[path]))}")
            continue
        inside = {p[len(path) + 1 :].split("/", 1)[0] for p in files if p.startswith(f"{path}/")}
        out += [f"{indent}{stem}{name}/", *_file_tree_branches(inside, f"{path}/", files, indent + deeper)]
    if len(listed) < len(ordered):
        out.append(f"{indent}└── and {len(ordered) - len(listed)} more")
    return out


def _size_text(count: int) -> str:
    for unit, size in (("MB", 1_000_000), ("kB", 1_000)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
