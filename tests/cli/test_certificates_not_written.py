"""What is said of certificates that are rejected, left out, or show less than the result."""

from __future__ import annotations

from tdsl.certificates.write import Certified
from tdsl.commands.check import unwritten_certificate_findings


def test_each_has_a_finding_with_its_reason() -> None:
    made = Certified({}, {"a.json": "a cut is less"}, {"b.json": "it is long"}, {"c.json": "80% of 100%"})
    said = [(d.code, d.severity.name, d.message, d.help) for d in unwritten_certificate_findings(made, "f")]
    assert said == [
        (
            "E0906", "ERROR", "internal error: the checker rejects the certificate f/a.json: a cut is less",
            "report this with the design; do not rely on the result that it is about",
        ),
        (
            "E0906", "NOTE", "the certificate f/b.json is not written: it is long",
            "the result was proved, but no certificate shows it",
        ),
        (
            "E0906", "NOTE", "the certificate f/c.json shows less than the result: 80% of 100%",
            "the rest was proved, but no form of certificate shows it",
        ),
    ]  # fmt: skip
