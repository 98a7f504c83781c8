"""One file a check: every module of this folder is found by ``tdsl.verify.check.checks_by_name``."""
