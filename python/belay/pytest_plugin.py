"""Fixtures for tests on emulated devices. pytest loads this by itself where belay is installed.

``belay_machine``
    a fresh machine for this test alone; its value is the module ``belay``.
``belay_device``
    device 0 of such a machine, set and ready; its value is that of ``with belay.device(0)``. Blocks that
    are still alive after the test and its fixtures are an error.
``belay_module_machine``, ``belay_module_device``, ``belay_session_machine``, ``belay_session_device``
    the same for all tests of a module, or of the run: one machine that they share. Any restart ends it, and
    so do the fixtures above; a test that asks for it after that, or uses its objects, gets an error.
``@pytest.mark.belay(product="310P", hbm="4G", schedule="lazy")``
    settings of that machine, see :class:`belay.settings`. ``device=1`` chooses another device for
    ``belay_device``, ``may_leak=True`` allows leaks, and ``may_find="double-free"`` allows mistakes by their id
    or class.
``--belay-schedule=lazy``, ``--belay-schedule=seed:42``
    one schedule for the whole run, unless a marker names another.
``--belay-peak``
    lists at the end how much memory each of these tests held at most, the largest first.

``--belay-check``, ``--belay-check=cheap``
    looks for mistakes, and fails each test that makes one.
``--belay-fail-on=lifetime,leaks``
    the classes of mistakes that fail a test.

``acl`` is imported when a fixture is first used, or with ``--belay-check`` before the first test. Stacks of 8
frames are kept, unless BELAY_STACKS is set, so that leaks are told with the line that allocated them.

Needs pytest 7 or later. With an older version there is a warning, and no fixtures.
"""

from __future__ import annotations

import warnings

import pytest

if hasattr(pytest, "StashKey"):  # since 7.0
    from ._fixtures import (
        belay_device,
        belay_machine,
        belay_module_device,
        belay_module_machine,
        belay_session_device,
        belay_session_machine,
        pytest_addoption,
        pytest_configure,
        pytest_fixture_setup,
        pytest_load_initial_conftests,
        pytest_report_header,
        pytest_runtest_call,
        pytest_runtest_makereport,
        pytest_runtest_setup,
        pytest_terminal_summary,
        pytest_unconfigure,
    )

    __all__ = [
        "belay_device",
        "belay_machine",
        "belay_module_device",
        "belay_module_machine",
        "belay_session_device",
        "belay_session_machine",
        "pytest_addoption",
        "pytest_configure",
        "pytest_fixture_setup",
        "pytest_load_initial_conftests",
        "pytest_report_header",
        "pytest_runtest_call",
        "pytest_runtest_makereport",
        "pytest_runtest_setup",
        "pytest_terminal_summary",
        "pytest_unconfigure",
    ]
else:
    # An error here would end every run of that pytest, also those that have nothing to do with devices.
    warnings.warn(
        f"the fixtures of belay need pytest 7 or later, this is {pytest.__version__}; they are not available"
    )
