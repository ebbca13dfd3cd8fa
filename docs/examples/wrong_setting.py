"""Asks for a machine that cannot be, for docs/python-testing.md."""

import belay

with belay.settings(hbm="much"):
    pass
