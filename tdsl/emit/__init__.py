"""From the fabric to artefacts: targets are folders; templates see view records only; folders are written
whole or not at all."""
