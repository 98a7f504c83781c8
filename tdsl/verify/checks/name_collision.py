"""Names: no two devices share one."""

from __future__ import annotations

import re
import unicodedata

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, PropertyFault, property_fails, property_holds


class NameCollision(Check):
    """No two devices have one name.

    ## What it means
    Labels, configurations, DNS and monitoring all find a device by its name. Two names that differ only in
    capitals count as one, since DNS makes no difference, and so do two that are one text in other characters,
    such as an accent of its own.

    ## Formula and source
    Names after `naming`, else the path (`su0-leaf3`), compared without regard to case (RFC 4343) in Unicode's
    form NFKC. Planned but omitted devices keep their names and take part.

    ## What it assumes
    Paths of one declaration never collide, so only declarations whose names have one shape are compared. In a
    cluster names are compared over all its fabrics; hosts that the cluster declares are the same in each.

    ## A design that passes
    ```fab
    naming leaf[i] "leaf{i:02}"
    ```

    ## A design that fails
    ```fab
    naming su[s].leaf[i] "leaf{i}"                          # the same in every su
    ```

    ### What it prints
    ```
    E0415: su[0].leaf[0] and su[1].leaf[0] are both named "leaf0" (and 7 more)
    ```
    """

    code = "E0415"
    name = "name_collision"
    wrong = "Two devices with one name"
    kind = "yes_no"
    cost = 0
    fails_by_default = True
    monotone = True
    of_design = True
    together = "shared"
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        f = view.fabric
        first: dict[str, int] = {}
        clashes: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for device, name in _devices_that_may_collide(f):
            if not f.members and view.name and not view.core[device]:
                continue
            known = first.setdefault(_normalised_name(name), device)
            if known != device and (not f.members or view.core[known] or view.core[device] or not view.name):
                pair = int(f.device_set[known]), int(f.device_set[device])
                clashes.setdefault(pair, []).append((known, device))
        if not clashes:
            return property_holds(
                "every device has a name of its own"
                + (", in all fabrics of the cluster" if f.members else "")
            )
        faults = [self._fault(f, pairs) for pairs in clashes.values()]
        one, two = next(iter(clashes.values()))[0]
        witness = {"devices": [f.device_path(one), f.device_path(two)], "name": f.device_name(one)}
        return property_fails(faults[0].message, tuple(faults), witness)

    def _fault(self, f: Fabric, pairs: list[tuple[int, int]]) -> PropertyFault:
        one, two = pairs[0]
        names = f.device_name(one), f.device_name(two)
        paths = f.device_path(one), f.device_path(two)
        more = f" (and {len(pairs) - 1} more)" if len(pairs) > 1 else ""
        if names[0] == names[1]:
            message = f'{paths[0]} and {paths[1]} are both named "{names[0]}"{more}'
        else:
            how = "case" if names[0].casefold() == names[1].casefold() else "how one text is encoded"
            message = (
                f'{paths[0]} is named "{names[0]}" and {paths[1]} "{names[1]}", which differ in '
                f"{how} only{more}"
            )
        labels = (
            ((f.set_of(one).origin.span, "the first is declared here"),)
            if f.device_set[one] != f.device_set[two]
            else ()
        )
        at = f.named_by.get(two) or f.named_by.get(one) or f.set_of(two).origin
        apart = f.set_of(one).prefix != f.set_of(two).prefix  # in a cluster, of different fabrics
        help = "give them different names with `naming`" + (', such as "{fabric}-leaf{i}"' if apart else "")
        return PropertyFault(at, message, len(pairs), labels, help=help)


def _name_shape(name: str) -> str:
    """A name with every run of digits made one sign: names of one declaration's paths have one shape."""
    return re.sub(r"\d+", "#", _normalised_name(name))


def _normalised_name(name: str) -> str:
    """A name without what DNS, file systems and eyes make no difference of: case, and ways to write one
    letter."""
    return (
        name.lower()
        if name.isascii()
        else unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    )


def _devices_that_may_collide(f: Fabric) -> list[tuple[int, str]]:
    """Devices whose names could be another's, in order: all that are named, and those whose default names
    have the shape of another declaration's or of a given name."""
    given = sorted(f.names.items())
    shapes: dict[str, list[int]] = {}
    for s in f.sets:
        if s.count:
            shapes.setdefault(_name_shape(f.default_name(s.first)), []).append(s.index)
    taken = {_name_shape(name) for _, name in given}
    out = list(given)
    for shape, sets in shapes.items():
        if len(sets) < 2 and shape not in taken:
            continue
        for i in sets:
            s = f.sets[i]
            rows = np.arange(s.first, s.first + s.count).tolist()
            out += [(d, f.default_name(d)) for d in rows if d not in f.names]
    return sorted(out)
