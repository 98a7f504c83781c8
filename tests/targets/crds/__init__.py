"""Schemas of CustomResourceDefinitions, and how documents are held against them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")
jsonschema = pytest.importorskip("jsonschema")


def refuse_unknown_fields(schema: Any) -> Any:
    """The schema with objects that have no fields but theirs, as ``kubectl apply --validate=strict`` judges."""
    if isinstance(schema, list):
        return [refuse_unknown_fields(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: refuse_unknown_fields(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema and schema.get("type") == "object":
        out["additionalProperties"] = False
    return out


def documents(data: bytes, name: str) -> list[Mapping[str, Any]]:
    """Documents of a file that the definition ``name`` of this folder takes, by its kind, group, version and schema."""
    definition = yaml.safe_load((Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8"))
    found = list(yaml.safe_load_all(data))
    for document in found:
        assert document["kind"] == definition["kind"]
        assert document["apiVersion"] == f"{definition['group']}/{definition['version']}"
        jsonschema.validate(document, refuse_unknown_fields(definition["schema"]))
    return found
