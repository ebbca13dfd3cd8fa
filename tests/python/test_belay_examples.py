"""The examples in Python run, and show what they say."""

import subprocess
import sys
import uuid
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "python"


@pytest.fixture
def run(monkeypatch):
    def run(*arguments, **environment):
        for name, value in {"BELAY_PIN": "best-effort", **environment}.items():
            monkeypatch.setenv(name, value)
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            cwd=EXAMPLES,
        )

    return run


FORMS = [{}, {"BELAY_PRODUCT": "310P"}, {"BELAY_PRODUCT": "310B", "BELAY_FORM": "RC"}]


@pytest.mark.parametrize("form", FORMS, ids=["A2", "310P", "RC"])
@pytest.mark.parametrize("arguments", [[], ["bytes"]], ids=["pinned", "bytes"])
def test_data_transfer(run, arguments, form):
    done = run("data_transfer.py", *arguments, **form)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "1048576 bytes there and back, all as expected"
    assert done.stderr == ""


@pytest.mark.parametrize("schedule", ["eager", "lazy", "seed:1"])
def test_callbacks(run, schedule):
    done = run("callbacks.py", BELAY_SCHEDULE=schedule)
    assert done.returncode == 0, done.stderr
    calls = "[{'filled with': 0}, {'filled with': 1}, {'filled with': 2}]"
    assert done.stdout == f"called in this order: {calls}\n"
    assert done.stderr == ""


def test_growing_buffer(run):
    done = run("growing_buffer.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "1024 MB of addresses are reserved; memory used: 0 MB",
        "  3 MB wished:   4 MB used, same address, same contents",
        " 40 MB wished:  40 MB used, same address, same contents",
        "300 MB wished: 300 MB used, same address, same contents",
        " 12 MB wished:  12 MB used, same address, same contents",
        "at the end all memory is given back",
    ]
    assert done.stderr == ""


def test_sleep_and_wake(run):
    done = run("sleep_and_wake.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "the model is awake: 100 MB in use",
        "it sleeps: 0 MB in use",
        "a fill at its addresses returns 507899 meanwhile",
        "another model uses the device: 302 MB in use",
        "it is awake again: 100 MB in use, and the old pointer leads to the same numbers",
    ]
    assert done.stderr == ""


@pytest.mark.parametrize("schedule", ["eager", "lazy", "seed:1"])
@pytest.mark.parametrize("dies", [False, True], ids=["lives", "dies"])
def test_shared_buffer(run, dies, schedule):
    machine = "pytest-" + uuid.uuid4().hex[:12]  # not a private one: these are two processes
    done = run("shared_buffer.py", *["dies"] * dies, BELAY_SCHEDULE=schedule, BELAY_MACHINE=machine)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    if dies:
        assert lines[0] == "round 5 never came: 507022"
        assert "which has ended before" in lines[1]
        assert "a copy from the memory of the process that ended: 507899" in lines
    rounds, ended = (5, -9) if dies else (8, 0)
    assert lines[-2:] == [
        "%d rounds of 4194304 bytes came over, all as expected" % rounds,
        "the producer ended with %d" % ended,
    ]
    assert done.stderr == ""


@pytest.mark.parametrize("schedule", ["eager", "lazy", "seed:1"])
def test_buffers(run, schedule):
    done = run("-W", "error", "buffers.py", BELAY_SCHEDULE=schedule)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("device 0 is Ascend910B")
    assert lines[1:3] == ["the sum is 4999950000, expected 4999950000", "the first two numbers: [0.0, 1.0]"]
    assert "host code cannot touch device memory" in lines[3]
    assert lines[4].endswith("were held, now 0")
    assert lines[5].startswith("on Ascend310P") and lines[5].endswith("07" * 16)


OPTIONS = [[], ["--belay-schedule=lazy"], ["--belay-schedule=seed:5", "--belay-peak"]]


@pytest.mark.parametrize("options", OPTIONS, ids=["plain", "lazy", "seed"])
def test_the_tests_of_the_example_pass(run, options):
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_example.py", *options)
    assert done.returncode == 0, done.stdout
    assert "23 passed" in done.stdout
    assert ("pinned 8 KB  " in done.stdout) == ("--belay-peak" in options)
