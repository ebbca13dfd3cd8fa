"""The type stubs say what the module says, and a type checker understands them."""

import importlib.util
import pathlib
import shutil
import subprocess
import sys

import pytest

PYTHON = pathlib.Path(__file__).resolve().parents[2] / "python"


def make_stubs():
    spec = importlib.util.spec_from_file_location("make_stubs", PYTHON / "make_stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_stubs_are_what_the_module_says():
    import acl

    made = make_stubs().files(acl)
    there = {str(path.relative_to(PYTHON / "stubs")): path.read_text(encoding="utf-8")
             for path in (PYTHON / "stubs").rglob("*.pyi")}
    assert there == made, "write them anew: python3 python/make_stubs.py python/stubs"


def test_every_function_has_a_stub_that_compiles():
    import acl

    for path, text in make_stubs().files(acl).items():
        compile(text, path, "exec")
    one = make_stubs().files(acl)["acl.pyi"]
    for module in [acl] + [getattr(acl, name) for name in make_stubs().SUBMODULES]:
        for name in dir(module):
            if callable(getattr(module, name)) and not name.startswith("_"):
                assert "def %s(" % name in one


PROGRAM = """\
import acl
import acl.util
from acl import media
from acl.rt import memcpy

ptr, ret = acl.rt.malloc(1024, 0)
number: int = ptr + memcpy(ptr, 16, ptr, 16, 3)
name = acl.get_soc_name() or "none"
print(name.upper(), media.dvpp_malloc(16)[1], acl.init(), acl.init("x.json"))
"""
MISTAKES = {
    "acl.rt.malloc(1024)": "Too few arguments",
    'acl.rt.malloc("a", 0)': "incompatible type",
    "acl.rt.malloc(size=1, policy=0)": "Unexpected keyword argument|Too few arguments",
    "acl.rt.MEMCPY_HOST_TO_DEVICE": "has no attribute",
    "acl.get_soc_name().upper()": "has no attribute",
    "ptr.free()": "has no attribute",
}


BELAY_PROGRAM = """\
import array
import pathlib

import belay

with belay.settings(product="310P", devices=2, hbm="4G", huge=None, host_access=True, machines=pathlib.Path("/tmp/x")):
    with belay.device(0) as npu, belay.malloc(64) as block, belay.malloc_host(64) as pinned, belay.stream() as s:
        block.copy_from(b"bytes", offset=8)
        block.copy_from(pinned, stream=s)
        block.copy_from(memoryview(b"x"))
        block.copy_to(bytearray(8), offset=8, stream=s)
        block.copy_to(array.array("i", [1]))
        size: int = npu.free + len(block)
found: list[belay.Finding] = belay.findings()
first: str = found[0].id + found[0].text
grown: int = belay.mark() + found[0].count
text: str = belay.__version__
"""
BELAY_MISTAKES = {
    'belay.settings(hmb="4G")': 'Unexpected keyword argument "hmb"',
    "belay.settings(hbm=4.5)": "incompatible type",
    'belay.settings("310P")': "Too many positional arguments",
    "belay.settings(product=3)": "incompatible type",
    "block.copy_from(b'x', 8)": "Too many positional arguments",
    "block.copy_from(b'x', ofset=8)": "Unexpected keyword argument",
    "block.copy_from('text')": "incompatible type",
    "block.copy_from(b'x', stream='s')": "incompatible type",
    "belay.devcie(0)": "has no attribute",
    "belay.findings(1, 2)": "Too many arguments",
    "found[0].kind": "has no attribute",
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """What the checker made of the standard library, which takes it seconds; once is enough."""
    return tmp_path_factory.mktemp("cache")


def check_types(tmp_path, cache, text, *options):
    checker = shutil.which("mypy")
    if checker is None:
        pytest.skip("mypy is not installed")
    program = tmp_path / "program.py"
    program.write_text(text)
    # The checker is a program of its own: no sanitizer for it. It looks for packages where this Python finds acl.
    site = str(pathlib.Path(sys.modules["acl"].__file__).parent)
    what = options or [str(program)]
    return subprocess.run([checker, "--cache-dir", str(cache), *what], text=True, cwd=tmp_path,
                          env={"PATH": "/usr/bin:/bin", "PYTHONPATH": site}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)


def test_mypy_accepts_a_good_program(tmp_path, cache):
    import acl  # noqa: F401

    done = check_types(tmp_path, cache, PROGRAM)
    assert done.returncode == 0, done.stdout


def test_mypy_accepts_a_good_program_of_belay(tmp_path, cache):
    import acl  # noqa: F401

    done = check_types(tmp_path, cache, BELAY_PROGRAM)
    assert done.returncode == 0, done.stdout


def test_mypy_accepts_the_package_itself(tmp_path, cache):
    import acl  # noqa: F401

    done = check_types(tmp_path, cache, "import belay\n", "--strict", "--allow-untyped-decorators",
                       "-p", "belay")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("program, mistakes", [(PROGRAM, MISTAKES), (BELAY_PROGRAM, BELAY_MISTAKES)],
                         ids=["acl", "belay"])
def test_mypy_finds_mistakes(tmp_path, cache, program, mistakes):
    import re

    import acl  # noqa: F401

    done = check_types(tmp_path, cache, program + "\n".join(mistakes) + "\n")
    assert done.returncode == 1, done.stdout
    first = program.count("\n") + 1
    for line, (mistake, words) in enumerate(mistakes.items(), first):
        assert re.search(r"program\.py:%d: error: .*(%s)" % (line, words), done.stdout), (mistake, done.stdout)
