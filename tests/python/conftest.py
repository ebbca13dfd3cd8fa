"""What all tests of the Python modules share: a machine of their own, and two fixtures.

pytest runs with the built modules on PYTHONPATH (tests/python/CMakeLists.txt). Each test of `acl` begins and ends without
a device; what must be alone in its process runs in another one.
"""

import os
import subprocess
import sys
import tempfile

# Before anything imports acl: tests run beside each other, and nothing is written into anybody's home.
os.environ.setdefault("BELAY_MACHINE", "private")
os.environ.setdefault("BELAY_PIN", "best-effort")
os.environ.setdefault("ASCEND_PROCESS_LOG_PATH", os.path.join(tempfile.gettempdir(), "belay-python-test-log"))

import pytest  # noqa: E402


@pytest.fixture
def device():
    """Device 0, set by this thread, and reset with everything on it afterwards."""
    import acl

    assert acl.init() in (0, 100002)
    assert acl.rt.set_device(0) == 0
    yield 0
    acl.rt.set_device(0)  # the test may have reset it
    assert acl.rt.reset_device_force(0) == 0
    acl.finalize()
    acl.get_recent_err_msg()
    acl.rt.get_last_error(0)


@pytest.fixture
def fresh():
    """fresh(code, env=..., timeout=..., python=...): runs code in a new interpreter, and gives what became of it."""

    def run(code, *, env=None, timeout=60, python=sys.executable):
        environment = dict(os.environ)
        environment.pop("BELAY_STACKS", None)  # which the plugin sets; such a process is none of pytest's
        environment.update(env or {})
        return subprocess.run([python, "-c", code], env=environment, timeout=timeout, text=True, errors="backslashreplace",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)

    return run
