"""What is said of certificates that are rejected, left out, or show less than the result."""

from __future__ import annotations

from tdsl.certificates.write import Certified
from tdsl.commands.check import unwritten_certificate_findings


def test_each_has_a_finding_with_its_reason() -> None:
    made = Certified({}, {"a.json": "a cut is less"}, {"b.json": "it is long"}, {"c.json": "80% of 100%"})
    found = list(unwritten_certificate_findings(made, "f"))
    assert [(d.code, d.severity.name) for d in found] == [("E0906", "ERROR"), ("E0906", "NOTE"), ("E0906", "NOTE")]
    reasons = (
        "rejects the certificate f/a.json: a cut is less",
        "f/b.json is not written: it is long",
        "f/c.json shows less than",
    )
    assert all(words in d.message and d.help for words, d in zip(reasons, found, strict=True))
    assert found[2].message.endswith("80% of 100%")
