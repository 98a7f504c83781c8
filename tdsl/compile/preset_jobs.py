"""Jobs of the library on the accelerators of a design that does not declare them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tdsl.system import resources
from tdsl.system.read import files_with_stamps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tdsl.fabric.graph import Fabric
    from tdsl.fabric.job_ranks import RankedJob
    from tdsl.semantics.jobs import Job

FOLDER = "jobs"


def files_of_library_jobs() -> Iterator[Path]:
    """The files of the library that declare jobs, in order of their names."""
    folder = resources.packaged_folder("stdlib") / FOLDER
    yield from (Path(path) for path in sorted(path for path, _ in files_with_stamps(folder, ".fab")))


def job_of_library(name: str) -> Job | None:
    """The job of that name that the library declares, None if there is none or it is not complete."""
    from tdsl.findings.diagnostic import Diagnostics
    from tdsl.semantics.fault import Fault
    from tdsl.semantics.jobs import read_job
    from tdsl.semantics.library import Library
    from tdsl.semantics.loader import Loader
    from tdsl.syntax import tree

    found = Diagnostics()
    library = Library(Loader(found), found)
    for path in files_of_library_jobs():
        module = library.loader.read(path)
        home = library.link(module) if module is not None else None
        entry = home.names.get(name) if home is not None else None
        if home is not None and entry is not None and isinstance(entry.node, tree.JobDecl):
            try:
                return read_job(library, home, entry.node, home.scope)
            except Fault:
                return None
    return None


def jobs_by_library_file() -> dict[str, list[str]]:
    """The jobs that each file of the library declares, as files have them: those that others build on among
    them."""
    import re

    return {
        path.stem: re.findall(r"^job (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        for path in files_of_library_jobs()
    }


def names_of_library_jobs() -> list[str]:
    """All of these jobs, in order."""
    return [name for names in jobs_by_library_file().values() for name in names]


def job_on_fabric(job: Job, fabric: Fabric) -> RankedJob | None:
    """A job on the first accelerators of a fabric, in its order; None where it has too few."""
    from tdsl.fabric.job_ranks import RankedJob, accelerators_of_fabric

    device, place = accelerators_of_fabric(fabric)
    if len(device) < job.ranks:
        return None
    return RankedJob(job, device[: job.ranks], place[: job.ranks])
