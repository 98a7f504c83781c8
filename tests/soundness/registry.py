"""All families of designs with what judges each: ``judged_seed`` gives what differs for one seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from tests.soundness.families.changed_contracts import change_of_seed
from tests.soundness.families.collective_times import timed_design
from tests.soundness.families.empty_commands import empty_calls
from tests.soundness.families.extended_instances import extended_design
from tests.soundness.families.nested_devices import nested_design
from tests.soundness.families.planted_captures import capture_of_seed
from tests.soundness.families.planted_facts import fact_capture_of_seed
from tests.soundness.families.scale_up_failures import scale_up_design
from tests.soundness.families.scoped_groups import scoped_design
from tests.soundness.families.shared_clusters import cluster_design
from tests.soundness.families.unequal_planes import plane_design
from tests.soundness.families.unequal_sites import unequal_design
from tests.soundness.families.unlinked_members import unlinked_design
from tests.soundness.judge_clusters import judged_cluster
from tests.soundness.judge_collectives import judged_times
from tests.soundness.judge_commands import judged_call, judged_capture, judged_change
from tests.soundness.judge_failures import judged_failures
from tests.soundness.judge_world import judged_world
from tests.soundness.verdicts import Compared, judged_blueprint

Judge = Callable[[int, Path, bool], Compared]


def judged_empty_call(seed: int, folder: Path, _: bool) -> Compared:
    """The call of a command that has nothing to judge."""
    calls = empty_calls()
    return judged_call(calls[seed % len(calls)], folder)


FAMILIES: Mapping[str, Judge] = {
    "scoped_groups": lambda seed, folder, shrink: judged_blueprint(scoped_design(seed), folder, shrink),
    "unlinked_members": lambda seed, folder, shrink: judged_blueprint(unlinked_design(seed), folder, shrink),
    "nested_devices": lambda seed, folder, shrink: judged_blueprint(nested_design(seed), folder, shrink),
    "extended_instances": lambda seed, folder, shrink: judged_blueprint(extended_design(seed), folder, shrink),
    "unequal_planes": lambda seed, folder, shrink: judged_blueprint(plane_design(seed), folder, shrink),
    "unequal_sites": lambda seed, folder, shrink: judged_blueprint(unequal_design(seed), folder, shrink),
    "shared_clusters": lambda seed, folder, shrink: judged_cluster(cluster_design(seed), folder),
    "scale_up_failures": lambda seed, folder, shrink: judged_failures(scale_up_design(seed), folder),
    "collective_times": lambda seed, folder, shrink: judged_times(timed_design(seed), folder),
    "planted_captures": lambda seed, folder, shrink: judged_capture(capture_of_seed(seed), folder),
    "planted_facts": lambda seed, folder, shrink: judged_capture(fact_capture_of_seed(seed), folder),
    "planted_world": lambda seed, folder, shrink: judged_world(seed, folder),
    "changed_contracts": lambda seed, folder, shrink: judged_change(change_of_seed(seed), folder),
    "empty_commands": judged_empty_call,
}
"""Families by name."""


def judged_seed(family: str, seed: int, shrink: bool = True) -> Compared:
    """What is compared, and what differs, for one seed of a family."""
    folder = Path(mkdtemp())
    try:
        return FAMILIES[family](seed, folder, shrink)
    finally:
        rmtree(folder, ignore_errors=True)


def family_of_seed(seed: int) -> str:
    """The family that a seed belongs to where none is named."""
    return [*FAMILIES][seed % len(FAMILIES)]
