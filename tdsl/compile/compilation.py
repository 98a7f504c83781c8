"""What a compilation gives: one design a fabric, and the findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from tdsl.findings.diagnostic import Diagnostic
from tdsl.findings.source import SourceFile
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.sealed import Sealed

if TYPE_CHECKING:
    from tdsl.compile.waivers import Allowance
    from tdsl.fabric.claims import ResolvedClaim
    from tdsl.fabric.failed import FailedElements
    from tdsl.fabric.failing import Failing
    from tdsl.fabric.graph import Fabric
    from tdsl.fabric.job_ranks import RankedJob
    from tdsl.verify.result import Result

LOCK = ".lock"
"""Ending of the file beside a design that says which links stand."""
LARGEST_LOCK = 1 << 28
"""Bytes of a lock that are read at most: of about four million links."""


class UsageError(Exception):
    """A call that cannot be answered: an absent file, an unknown parameter. Not a finding about a design."""


@dataclass(slots=True)
class Design(Sealed):
    """One fabric of a file, as far as it came: ``fabric`` is None if the text has syntax errors or names
    nothing usable."""

    name: str
    file: str
    parameters: dict[str, object]
    fabric: Fabric | None
    claims: Sequence[ResolvedClaim]
    results: Sequence[Result]
    findings: Sequence[Diagnostic]
    elapsed_s: float
    cluster: str = ""  # the cluster it stands in, "" if it stands alone
    phase: int = 0  # which phase of the fabric it is, 0 where it has none
    needed: str = ""  # the day by which the phase is needed
    members: tuple[str, ...] = ()  # the fabrics that it consists of, where it is a cluster as one
    summary: Mapping[str, object] | None = (
        None  # what it consists of, once that was asked or the fabric given up
    )
    failed: FailedElements | None = None  # what is judged as failed
    lost: tuple[tuple[str, ...], int, int] | None = (
        None  # what failed, in figures, where the fabric was given up
    )
    failing: Failing | None = None  # what elements that may fail mean, where it is wired
    jobs: tuple[RankedJob, ...] = ()  # the training jobs on it, where it is wired
    job_costs: tuple[Mapping[str, object], ...] = ()  # what failures or faults cost its jobs, where asked for
    left_out: tuple[str, ...] = ()  # requirements that --select and --ignore keep from being judged
    sealed: bool = field(default=False, init=False, repr=False, compare=False)

    def consists(self) -> Mapping[str, object] | None:
        """What it consists of, in figures; None where it has no fabric."""
        if self.summary is not None or self.fabric is None:
            return self.summary
        from tdsl.verify.summary import fabric_summary

        summary = fabric_summary(self.fabric)
        if not self.sealed:
            self.summary = summary
        return summary

    def losses(self) -> tuple[tuple[str, ...], int, int] | None:
        """What is judged as failed: elements by name, and how many devices and links; None where all
        stands."""
        if self.lost is not None or self.failed is None:
            return self.lost
        return self.failed.names, int(self.failed.devices.sum()), int(self.failed.links.sum())

    def _repr_html_(self) -> str:
        """Answers, findings and, of small ones, the drawing: what notebooks show."""
        from tdsl import notebook

        shown = notebook.results_html(self.name, self.parameters, self.results, self.findings)
        drawn = notebook.fabric_svg(self.fabric) if self.fabric is not None else ""
        return f"{shown}\n{drawn}" if drawn and len(drawn) <= notebook.MOST_DRAWN else shown

    def _repr_svg_(self) -> str | None:
        """The drawing of the fabric, None where there is none."""
        from tdsl import notebook

        return notebook.fabric_svg(self.fabric) or None if self.fabric is not None else None


@dataclass(slots=True)
class Compilation(Sealed):
    """All that is known of one file. ``findings`` are those of all its designs, in the order of the text.
    ``clusters`` are its clusters, each with all its fabrics as one; in phases once for each."""

    file: str
    designs: Sequence[Design]
    findings: Sequence[Diagnostic]
    clusters: Sequence[Design] = field(default_factory=list, init=False)
    read: tuple[SourceFile, ...] = field(
        default=(), init=False
    )  # the files that were read for it, of the library too
    waivers: tuple[Allowance, ...] = field(
        default=(), init=False
    )  # those of these files, in the order of the text
    earlier: bool = field(default=False, init=False, compare=False)  # whether an earlier call has made it

    @property
    def of_several_cases(self) -> bool:
        """Whether it is a sweep over several combinations of parameters."""
        return False

    sealed: bool = field(default=False, init=False, repr=False, compare=False)

    def seal(self) -> Compilation:
        """The same, that nothing can change any more: sequences are tuples, and the columns of fabrics cannot
        be written."""
        for design in self.judged:
            design.claims, design.results, design.findings = (
                tuple(design.claims),
                tuple(design.results),
                tuple(design.findings),
            )
            if design.fabric is not None:
                from tdsl.fabric.narrow import widen_fabric_columns

                widen_fabric_columns(design.fabric)
                design.fabric.seal()
            design.sealed = True
        self.designs, self.clusters, self.findings = (
            tuple(self.designs),
            tuple(self.clusters),
            tuple(self.findings),
        )
        self.sealed = True
        return self

    def _repr_html_(self) -> str:
        """The answers and findings of all designs: what notebooks show."""
        from tdsl import notebook

        return "\n".join(
            notebook.results_html(d.name, d.parameters, d.results, d.findings) for d in self.judged
        )

    @property
    def judged(self) -> list[Design]:
        """All that has answers: the fabrics, then the clusters."""
        return [*self.designs, *self.clusters]

    def findings_with_files(self) -> list[tuple[str, Diagnostic]]:
        """The findings for people, each with the name of the file it is about."""
        return [(design.file, d) for design in self.judged for d in design.findings]
