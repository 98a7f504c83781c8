"""Imports a folder of CSV files into a NetBox through its own pages for bulk import, and undoes it.

Run by NetBox's Python with the folder of its manage.py and that of the files. Prints what NetBox said and counted, as JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def main(netbox: str, folder: Path) -> dict[str, Any]:
    """Errors by file, and the numbers of objects that the files add."""
    sys.path.insert(0, netbox)
    os.environ["DJANGO_SETTINGS_MODULE"] = "netbox.settings"
    import django  # type: ignore[import-not-found, unused-ignore]

    django.setup()
    from dcim import models  # type: ignore[import-not-found, unused-ignore]
    from django.contrib.auth import get_user_model  # type: ignore[import-not-found, unused-ignore]
    from django.db import transaction  # type: ignore[import-not-found, unused-ignore]
    from django.test import Client  # type: ignore[import-not-found, unused-ignore]
    from django.test.utils import setup_test_environment  # type: ignore[import-not-found, unused-ignore]
    from django.urls import reverse  # type: ignore[import-not-found, unused-ignore]

    named = {model.__name__.lower(): model for model in vars(models).values() if isinstance(model, type)}
    setup_test_environment()  # pages keep their forms, with what is wrong in them
    told: dict[str, Any] = {"errors": {}, "added": {}, "names": []}
    with transaction.atomic():
        client = Client(raise_request_exception=True)
        client.force_login(get_user_model().objects.create_superuser("importer", password="importer"))
        for path in sorted(folder.glob("*.csv")):
            kind = path.stem.lstrip("0123456789").replace("-", "").removesuffix("s")
            before = named[kind].objects.count()
            form = {"import_method": "direct", "data": path.read_text(), "format": "csv", "csv_delimiter": ","}
            answer = client.post(reverse(f"dcim:{kind}_bulk_import"), form)
            if answer.status_code != 302:
                told["errors"][path.name] = json.loads(answer.context["form"].errors.as_json())
            told["added"][kind] = named[kind].objects.count() - before
        told["names"] = sorted(named["device"].objects.values_list("name", flat=True))
        told["cabled"] = named["interface"].objects.filter(cable__isnull=False).count()
        told["placed"] = named["device"].objects.filter(rack__isnull=False, position__isnull=False).count()
        transaction.set_rollback(True)
    return told


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]))))
