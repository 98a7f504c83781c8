"""Rules of certificates, one by one: what a fabric.json may say, what lists of demands need, what is written."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tdsl.certificates import checker
from tdsl.certificates.write import certificates_by_file_name
from tdsl.certificates.write_throughput import Unshown, certificate_as_checked
from tests.harness import compile_text
from tests.verify.test_checker_alone import certificate, fabric

STEPS = 10**6


def test_a_link_of_one_bit_a_second_is_read_and_one_of_none_is_not() -> None:
    links = [("h1", "s1"), ("h2", "s1")]
    stated = certificate("diameter", value=0)
    checker.verify(stated, fabric(["h1", "h2"], ["s1"], links, rate=1))
    with pytest.raises(checker.Rejected, match="an integer of at least 1"):
        checker.verify(stated, fabric(["h1", "h2"], ["s1"], links, rate=0))
    made = fabric(["h1", "h2"], ["s1"], links)
    for rate, number in ((1, 1), (0, 1), (1, 0)):
        made["planned_links"]["rows"] = [["s1", 0, rate, number]]
        if rate and number:
            checker.verify(stated, made)
        else:
            with pytest.raises(checker.Rejected, match="an integer of at least 1"):
                checker.verify(stated, made)


def test_switches_of_other_layers_are_no_devices_of_the_network() -> None:
    """Hosts h1 and h2 on s1 and beside it on x1, which h3 is on alone; s2 has links of both, s3 none, and o1 is crossed."""
    links = [("h1", "s1"), ("h2", "s1"), ("h1", "s2"), ("h2", "s2"), ("h1", "x1"), ("h2", "x1"), ("h3", "x1"), ("h3", "s2")]
    made = fabric(["h1", "h2", "h3"], ["s1", "s2", "s3", "x1", "o1"], links)
    for row in made["links"]["rows"][4:]:
        row[-1] = "scaleup"
    known = checker.CertifiedFabric(made)
    assert set(known.devices) == {"h1", "h2", "h3", "s1", "s2", "s3", "o1"}
    assert [(x.a, x.b) for x in known.links] == links[:4]
    via = made["links"]["columns"].index("via")
    made["links"]["rows"][4][via] = "o1"
    assert set(checker.CertifiedFabric(made).devices) == {"h1", "h2", "h3", "s1", "s2", "s3"}
    made["links"]["rows"][0][via] = "o1"
    assert set(checker.CertifiedFabric(made).devices) == {"h1", "h2", "h3", "s1", "s2", "s3", "o1"}


def test_lists_of_demands_have_no_symmetries_and_are_not_empty() -> None:
    """Two hosts on a thin link and two on a thick one: symmetries that are not verified would hide the thin one."""
    links = [("h1", "s1"), ("h2", "s2"), *[("h3", "s1")] * 3, *[("h4", "s2")] * 3, *[("s1", "s2")] * 4]
    made = fabric(["h1", "h2", "h3", "h4"], ["s1", "s2"], links)
    flows = {"h1": [["h1", "s1", 1], ["s1", "s2", 1], ["s2", "h2", 1]]}
    route = {"by": "flows", "share": 1, "parts": 1, "flows": flows}

    def stated(demands: list[Any], **ends: Any) -> dict[str, Any]:
        proofs = {"lower": {"routes": [route]}, "upper": {"lengths": []}}
        bounds = {"lower_bps": 100, "upper_bps": 100}
        return certificate("throughput", pattern="file", units=4, demands=demands, **bounds, **(proofs | ends))

    one = [["h1", "h2", 1]]
    checker.verify(stated(one), made)
    checker.verify(stated(one, lower={"routes": [route], "symmetries": []}, upper={"lengths": [], "symmetries": []}), made)
    swapped = [{"h1": "h3", "h3": "h1"}]
    for ends in ({"lower": {"routes": [route], "symmetries": swapped}}, {"upper": {"lengths": [], "symmetries": swapped}}):
        with pytest.raises(checker.Rejected, match="symmetries of a list"):
            checker.verify(stated(one, **ends), made)
    with pytest.raises(checker.Rejected, match="nothing is demanded"):
        checker.verify(stated([]), made)


SMALL = """fabric f {
  host node[4]: BOX
  switch leaf[2]: SW
  switch spine[2]: SW
  connect node[n].nic to leaf[n//2] x 2
  connect leaf[*] to spine[*] spread x 2
}"""
WRITTEN = {
    "bisection": {"proved", "refuted", "bounded", "modelled"},
    "reachability": {"proved", "refuted"},
    "diameter": {"proved"},
    "mean_hops": {"proved", "refuted"},
    "edge_redundancy": {"proved", "refuted"},
    "node_redundancy": {"proved", "refuted"},
    "oversubscription": {"proved", "refuted"},
    "blast_radius": set(),
}
"""The statuses of results, by their check, of which a certificate is written where nothing else is asked."""


def test_only_what_is_answered_has_a_certificate(tmp_path: Path) -> None:
    (design,) = compile_text(SMALL, tmp_path).designs
    assert design.fabric is not None
    other = next(r for r in design.results if r.check == "reachability")
    for check, written in WRITTEN.items():
        for status in ("proved", "refuted", "bounded", "modelled", "skipped"):
            result = replace(other, check=check, status=status)  # type: ignore[arg-type]
            expected = [f"{check}.json"] if status in written else []
            assert list(certificates_by_file_name(design.fabric, [], [result])) == expected, (check, status)
            both = certificates_by_file_name(design.fabric, [], [result, replace(result, requirement="x", status="skipped")])
            assert list(both) == expected, (check, status)


@pytest.mark.parametrize(
    ("how", "stated", "written"),
    [
        ("lengths", Fraction(100), 100),
        ("lengths", Fraction(100_000, 999), 100),  # what is a thousandth less is stated, and no more
        ("lengths", Fraction(100_000, 999) - Fraction(1, 10**9), 100),
        ("lengths", Fraction(100_000, 999) + Fraction(1, 10**9), None),
        ("lengths", Fraction(200), None),
        ("lengths", Fraction(90), None),
        ("trees", Fraction(90), 100),
        ("trees", Fraction(100), 100),
        ("trees", Fraction(100_000, 999), 100),
        ("trees", Fraction(100_000, 999) + Fraction(1, 10**9), Unshown),
        ("trees", Fraction(200), Unshown),
    ],
)
def test_what_is_shown_in_the_place_of_trees_and_of_rounded_loads(how: str, stated: Fraction, written: object) -> None:
    """Two hosts over one link: shortest paths show 100 bit/s for each."""
    links = [("h1", "s1"), ("h2", "s2")]
    made = checker.CertifiedFabric(fabric(["h1", "h2"], ["s1", "s2"], [*links, ("s1", "s2")]))
    route: dict[str, object] = {"by": how, "share": 1, "parts": 1}
    lower = {"routes": [route | ({"lengths": []} if how == "lengths" else {})]}
    body = certificate(
        "throughput", pattern="all_to_all", units=2, lower_bps=str(stated), upper_bps="10000", lower=lower, upper={"lengths": []}
    )
    if written is Unshown:
        with pytest.raises(Unshown, match="shortest paths show less"):
            certificate_as_checked(body, made, STEPS)
        return
    found = certificate_as_checked(body, made, STEPS)
    assert found["lower_bps"] == (str(stated) if written is None else str(written))
    assert found["lower"] == {"routes": [{"by": "lengths", "share": 1, "parts": 1, "lengths": []}]}
