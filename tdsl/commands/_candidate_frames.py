"""Designs that are written from a topology of the library: models, hosts and job of a file or of the library,
and a fabric of sizes that were found."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from tdsl.compile.compilation import UsageError
from tdsl.compile.request import Request
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.similar import closest_name

if TYPE_CHECKING:
    from tdsl.commands._sized_topologies import NetworkParts, SizedNetwork
    from tdsl.semantics.jobs import Job
    from tdsl.semantics.library import Library, Linked
    from tdsl.semantics.model import DeviceModel, PortClass

NAMELESS = "candidate.fab"
JOB_NAME = "training"
"""The name of the job in a candidate."""
HOST, SWITCH = "DGX_H100", "QM9700"
"""What is taken where neither the call nor the file says a model."""
UNSIZED = ("E0452", "E0459", "E0460", "E0462", "E0464")
"""Findings that say that no size of a tier fits, so that the next way to write a network is tried."""


@dataclass(frozen=True, slots=True)
class WantedParts:
    """What a call says of its candidates; "" and 0 where the file, the job or a default says it."""

    host: str = ""
    switch: str = ""
    cable: str = ""
    accelerators: int = 0
    job: str = ""
    tapers: tuple[Fraction, ...] = (Fraction(1),)


@dataclass(frozen=True, slots=True)
class CandidateFrame:
    """What all candidates of a call have in common. ``head`` is the text above their fabric, ``job`` the job
    that they are for; ``origins`` has for each model whether the call, the file or a default names it.
    ``transport`` is what links to switches speak, and ``transport_of_hosts`` those of hosts to each other, ""
    where that follows. ``priced`` says whether a price of the switch or the cable may be known."""

    head: str
    parts: NetworkParts
    accelerators: int
    transport: str
    transport_of_hosts: str
    job: Job | None
    origins: tuple[tuple[str, str], ...]
    priced: bool

    def text(
        self, network: SizedNetwork, block: str, efficiency: Fraction | None, reports: bool = False
    ) -> str:
        """A candidate as a file of its own; ``efficiency`` is that of its job, where it does not say one.
        With ``reports`` its checks say what the job takes."""
        from tdsl.findings.source import SourceFile
        from tdsl.syntax.printer import format_source

        body = [self.parts.declared, block]
        transport = self.transport if "switch" in block or "router" in block else self.transport_of_hosts
        body += [f"transport {transport}"] if transport else []
        if self.job is not None:
            body += [self._job_line(efficiency)]
            body += [f"report step_time of {JOB_NAME} and mfu of {JOB_NAME}"] if reports else []
        assumed = f"# Assumed: {network.assumed}.\n" if network.assumed else ""
        lines = [
            f"# {network.words[0].upper()}{network.words[1:]}, for {self.parts.ends_text}, as `tdsl explore` "
            f"sized it.\n{assumed}{self.head}",
            f'fabric {network.name} "{network.words}" {{',
            *body,
            "require reachability\n}\n",
        ]
        return format_source(SourceFile(NAMELESS, "\n".join(lines)))

    def _job_line(self, efficiency: Fraction | None) -> str:
        """The job, on as many of the first hosts as it has ranks."""
        assert self.job is not None
        said = [] if efficiency is None else [f"efficiency {float(efficiency * 100):.2f}%"]
        each = self.accelerators // self.parts.hosts
        if self.job.ranks < self.accelerators:
            name = "chip" if self.parts.are_chips else "host"
            said.insert(0, f"on {name}[0..{self.job.ranks // each - 1}]")
        body = "; ".join(said)
        return (
            f"job {JOB_NAME}: {self.job.name} {{ {body} }}"
            if body
            else f"job {JOB_NAME}: {self.job.name} {{}}"
        )


def candidate_request(source: str, text: str, asked: Request) -> Request:
    """A call whose file ``source`` has this text, whatever lies there."""
    path = os.path.abspath(source)
    overlay = {**asked.overlay, source: text, str(Path(path).resolve()): text}
    return replace(asked, overlay=overlay, lock=False)


def read_candidate_frame(source: str, asked: Request, wanted: WantedParts) -> CandidateFrame:
    """What candidates have in common, by a file (none if "") and what a call wants. Raises UsageError for
    models, jobs and numbers that do not fit."""
    reader = _FrameReader(source, asked)
    return reader.frame(wanted)


class _FrameReader:
    """The file of a call, linked to the library."""

    def __init__(self, source: str, asked: Request) -> None:
        from tdsl.findings.diagnostic import Diagnostics
        from tdsl.semantics.library import Library
        from tdsl.semantics.loader import Loader
        from tdsl.semantics.ranges import ParameterSettings

        self.source, self.asked, self.found = source, asked, Diagnostics()
        overlay = dict(asked.overlay)
        if not source:
            overlay[str(Path(NAMELESS).resolve())] = ""
        loader = Loader(self.found, asked.paths, overlay)
        path = loader.design(source) if source else Path(NAMELESS)
        if path is None:
            raise UsageError(f"there is no file {source}, and no design of that name")
        module = loader.read(path, source)
        self.library: Library = Library(loader, self.found, ParameterSettings(dict(asked.set)))
        self._refuse_errors()
        assert module is not None
        self.home: Linked = self.library.link(module)
        self._refuse_errors()

    def _refuse_errors(self) -> None:
        """Raise UsageError where the file itself has errors; without a file there are none."""
        errors = (d for d in self.found if d.severity.word == "error")
        wrong = next(errors, None) if self.source else None
        if wrong is not None:
            line = f":{wrong.span.begin[0]}" if wrong.span is not None else ""
            raise UsageError(f"{self.source}{line}: {wrong.code}: {wrong.message}")

    def frame(self, wanted: WantedParts) -> CandidateFrame:
        """All of it."""
        from tdsl.commands._sized_topologies import NetworkParts

        declared, built = self._declared_models(), self._hosts_of_fabric()
        job, lines = self._job(wanted.job)
        ends_declared = declared.get("host") or declared.get("chip") or []
        host, of_host = _first_named(wanted.host, built[0], ends_declared, HOST)
        cable, of_cable = _first_named(wanted.cable, "", declared.get("cable", []), "")
        end = self._model(host, ("host", "chip"), "--host")
        each = end.accelerators
        if not each:
            raise UsageError(f"--host {host}: the model has no accelerators")
        hosts = _number_of_hosts(wanted.accelerators, job, built[1], each)
        ports = end.first_parts
        if not ports:
            raise UsageError(f"--host {host}: the model has no ports")
        ends = sum(c.size for c in ports)
        switches = self._first_switch_at_rate(declared.get("switch", []), ports[0].rate or 0)
        switch, of_switch = _first_named(wanted.switch, "", switches, SWITCH)
        model = self._model(switch, ("switch",), "--switch")
        try:
            text, radix = _switch_at_rate(model, ports[0].rate or 0)
        except UsageError:
            if of_switch != "assumed":
                raise
            text, radix = model.name, 0  # a torus needs none
        bought = [model, *([self._model(cable, ("cable",), "--cable")] if cable else [])]
        priced = self.asked.prices is not None or any("price" in m.facts for m in bought)
        chips = end.kind == "chip"
        parts = NetworkParts(
            f"{'chips' if chips else 'hosts'} {hosts} x {host}", hosts, ends,
            ends > 1 and len(ports) == 1 and len(ports[0].axes) == 1 and not chips,
            text, radix, cable, chips, wanted.tapers,
        )  # fmt: skip
        origins = tuple(
            (f"{what} {name}", who)
            for what, name, who in (
                ("chip" if chips else "host", host, of_host),
                ("switch", switch, of_switch),
                ("cable", cable, of_cable),
            )
            if name
        )
        types = ports[0].types
        shared = tuple(t for t in types if not model.first_parts[0].types or t in model.first_parts[0].types)
        transports = _transport_of_types(shared), "" if chips else _transport_of_types(types)
        head = "\n".join(x for x in (*lines, self._text_without_fabrics()) if x)
        return CandidateFrame(head, parts, hosts * each, *transports, job, origins, priced)

    def _declared_models(self) -> dict[str, list[str]]:
        """The models of each kind that the file declares, in order."""
        from tdsl.syntax import tree

        out: dict[str, list[str]] = {}
        for s in self.home.module.body:
            if isinstance(s, tree.ModelDecl):
                out.setdefault(s.kind.name, []).append(s.name.name)
        return out

    def _first_switch_at_rate(self, names: list[str], rate: int) -> list[str]:
        """The switches of which the first has ports at a rate; all of them where none has."""
        for at, name in enumerate(names):
            try:
                _switch_at_rate(self._model(name, ("switch",), "--switch"), rate)
            except UsageError:
                continue
            return names[at:]
        return names

    def _hosts_of_fabric(self) -> tuple[str, int]:
        """The model of what has accelerators in the file's first fabric, and how many there are."""
        if not any(_is_fabric(s) for s in self.home.module.body):
            return "", 0
        from tdsl.compile.compiler import compile_without_checks

        design = compile_without_checks(self.source, self.asked).designs[0]
        f = design.fabric
        if f is None:
            raise UsageError(f"{self.source} has errors: `tdsl check {self.source}` says which")
        rows = [m for m in f.device_model[f.container < 0].tolist() if f.models[m].accelerators]
        counts = Counter(f.models[m].name for m in rows)
        if len(counts) != 1:
            names = ", ".join(sorted(counts)) or "none"
            raise UsageError(
                f"the accelerators of {self.source} are not of one model ({names}): name one by --host"
            )
        ((name, count),) = counts.items()
        return name, count

    def _text_without_fabrics(self) -> str:
        """The file's text without its fabrics and clusters, and what is added to them."""
        from tdsl.syntax import tree

        text, out, at = self.home.module.file.text, [], 0
        for s in self.home.module.body:
            if _is_fabric(s) or isinstance(s, (tree.Extend, tree.Override)):
                out.append(text[at : s.span.start].rstrip())
                at = s.span.end
        return "\n".join([*out, text[at:].strip()]).strip()

    def _model(self, name: str, kinds: tuple[str, ...], option: str) -> DeviceModel:
        """A model that the file or the catalogue has. Raises UsageError."""
        from tdsl.findings.source import SourceSpan
        from tdsl.semantics.fault import Excused, Fault

        span = SourceSpan(self.home.module.file, 0, 0)
        try:
            model = self.library.model(self.home, name, span, kinds)
        except Fault as fault:
            said = fault.diagnostic
            raise UsageError(
                f"{option} {name}: {said.message}" + (f"; {said.help}" if said.help else "")
            ) from None
        except Excused:
            self._refuse_errors()
            raise UsageError(f"{option} {name}: the model has errors") from None
        if model.kind not in kinds:
            raise UsageError(f"{option} {name}: it is a {model.kind}, and a {' or '.join(kinds)} is meant")
        return model

    def _job(self, name: str) -> tuple[Job | None, list[str]]:
        """The job of that name, of the file or of the library, and the line that takes it from there."""
        from tdsl.compile.preset_jobs import job_of_library, jobs_by_library_file
        from tdsl.semantics.fault import Excused, Fault
        from tdsl.semantics.jobs import read_job
        from tdsl.syntax import tree

        if not name:
            return None, []
        entry = self.home.names.get(name) or self.home.used.get(name)
        if entry is not None and isinstance(entry.node, tree.JobDecl):
            try:
                return read_job(self.library, entry.home, entry.node, entry.home.scope), []
            except Fault as fault:
                raise UsageError(f"--job {name}: {fault.diagnostic.message}") from None
            except Excused:
                raise UsageError(f"--job {name}: the job has errors") from None
        files = jobs_by_library_file()
        job = job_of_library(name)
        if job is not None:
            (file,) = [stem for stem, names in files.items() if name in names][:1]
            return job, [f"use jobs.{file} ({name})"]
        whole = {stem: [n for n in names if job_of_library(n) is not None] for stem, names in files.items()}
        if name in whole:
            raise UsageError(f"--job {name}: the library has {', '.join(whole[name])}: name one of them")
        own = [n for n, e in self.home.names.items() if isinstance(e.node, tree.JobDecl)]
        near = closest_name(name, [*own, *(n for names in whole.values() for n in names)])
        advice = f"did you mean `{near}`?" if near else "`tdsl list jobs` lists those of the library"
        raise UsageError(
            f"--job {name}: there is no such job at the top of the file or in the library; {advice}"
        )


def _is_fabric(s: object) -> bool:
    from tdsl.syntax import tree

    return isinstance(s, tree.Decl) and s.kind.name in ("fabric", "cluster")


def _first_named(asked: str, built: str, declared: list[str], default: str) -> tuple[str, str]:
    """The name that counts, and who says it."""
    for name, who in ((asked, "the call"), (built, "the design"), ("".join(declared[:1]), "the design")):
        if name:
            return name, who
    return default, "assumed"


def _transport_of_types(types: tuple[str, ...]) -> str:
    """Ethernet where links could carry another transport, too; "" where what they carry follows."""
    families = {t.startswith("GE") for t in types}
    return "ethernet" if len(families) > 1 else ""


def _number_of_hosts(accelerators: int, job: Job | None, built: int, each: int) -> int:
    """How many hosts there are: for the accelerators of the call, else those of the file's fabric, else as
    many as the job needs. Raises UsageError."""
    ranks = job.ranks if job is not None else 0
    count = accelerators or built * each or ranks
    if not count:
        raise UsageError("how many accelerators? Write --gpus N, or name a job, or a file with a fabric")
    if ranks > count:
        raise UsageError(f"the job has {ranks:,} ranks, and there are {count:,} accelerators")
    if count % each:
        raise UsageError(f"{count:,} accelerators are no whole number of hosts with {each} each")
    if ranks % each and ranks != count:
        raise UsageError(
            f"the job has {ranks:,} ranks, no whole number of hosts with {each} accelerators each"
        )
    return count // each


def _switch_at_rate(model: DeviceModel, rate: int) -> tuple[str, int]:
    """A switch with its ports split to a rate where they are faster, as text, and how many ports it then has.
    Raises UsageError where they cannot be."""
    ports: list[PortClass] = list(model.first_parts)
    count, own = sum(c.size for c in ports), ports[0].rate if ports else 0
    if not ports or not count:
        raise UsageError(f"--switch {model.name}: the model has no ports")
    if not own or not rate or own == rate:
        return model.name, count
    ways = own // rate
    if own < rate or own % rate or any(ways not in c.splits for c in ports):
        raise UsageError(
            f"--switch {model.name}: its ports of {own / 1e9:g} Gb/s neither run at nor split into the "
            f"{rate / 1e9:g} Gb/s of the hosts' ports"
        )
    return f"{model.name} {{ split {ports[0].name} {ways} }}", count * ways
