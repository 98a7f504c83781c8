"""Imports a folder of files into a NetBox through its own pages for bulk import and its REST API, and undoes it.

Run by NetBox's Python with the folder of its manage.py and that of the files. Prints what NetBox said and counted, as JSON."""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
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
    from ipam.models import IPAddress  # type: ignore[import-not-found, unused-ignore]

    named = {model.__name__.lower(): model for model in vars(models).values() if isinstance(model, type)}
    named["ipaddress"] = IPAddress
    setup_test_environment()  # pages keep their forms, with what is wrong in them
    told: dict[str, Any] = {"errors": {}, "added": {}, "names": []}
    with transaction.atomic():
        client = Client(raise_request_exception=True)
        client.force_login(get_user_model().objects.create_superuser("importer", password="importer"))

        def send(method: str, path: str, body: object = None) -> Any:
            """What load.py asks of the REST API."""
            given = {"data": json.dumps(body), "content_type": "application/json"} if body is not None else {}
            answer = client.generic(method, f"/api/{path}", **given)
            if answer.status_code >= 300:
                told["errors"].setdefault("load.py", []).append([path, body, answer.content.decode()[:500]])
                return {"results": []}
            return json.loads(answer.content)

        load = runpy.run_path(str(folder / "load.py"))
        named["manufacturer"].objects.get_or_create(name="NVIDIA", slug="nvidia")  # which others have imported
        with contextlib.redirect_stdout(io.StringIO()):
            load["load_shared"](folder, send)
        for path in sorted(p for p in folder.iterdir() if p.name[0].isdigit() and p.name[0] not in "134"):
            kind = path.stem.partition("-")[2].replace("-", "").removesuffix("s").replace("addresse", "address")
            before = named[kind].objects.count()
            form = {"import_method": "direct", "data": path.read_text(), "format": path.suffix[1:], "csv_delimiter": ","}
            app = named[kind]._meta.app_label
            answer = client.post(reverse(f"{app}:{kind}_bulk_import"), form)
            if answer.status_code != 302:
                told["errors"][path.name] = json.loads(answer.context["form"].errors.as_json())
            told["added"][kind] = named[kind].objects.count() - before
        with contextlib.redirect_stdout(io.StringIO()):
            for _ in range(2):  # the second time there is nothing to add
                load["load_rest"](folder, send)
        told["names"] = sorted(named["device"].objects.values_list("name", flat=True))
        told["interfaces"] = named["interface"].objects.count()
        told["cables"] = named["cable"].objects.count()
        told["cabled"] = named["interface"].objects.filter(cable__isnull=False).count()
        told["reached"] = sum(
            i.path is not None and i.path.is_complete for i in named["interface"].objects.filter(cable__isnull=False)
        )
        told["oob"] = named["device"].objects.filter(oob_ip__isnull=False).count()
        told["managed"] = named["interface"].objects.filter(mgmt_only=True).count()
        told["placed"] = named["device"].objects.filter(rack__isnull=False, position__isnull=False).count()
        transaction.set_rollback(True)
    return told


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]))))
