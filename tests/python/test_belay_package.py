"""The package as such: what importing it does, what it offers, and that its tables are true."""

import inspect
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import belay
from belay import _codes, _settings

ROOT = Path(__file__).resolve().parents[2]


def run(code):
    call = [sys.executable, "-c", code]
    return subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)


def test_importing_the_package_or_the_plugin_imports_neither_acl_nor_numpy():
    done = run(
        "import sys, belay\n"
        "try:\n"
        "    import belay.pytest_plugin\n"
        "except ImportError as error:\n"
        "    assert error.name == 'pytest', error\n"
        "print([name for name in ('acl', 'belay._native', 'numpy') if name in sys.modules])"
    )
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_every_name_can_be_had_and_is_listed():
    for name in belay.__all__:
        assert getattr(belay, name) is not None
        assert name in dir(belay)
    assert sorted(belay._HOME_OF) == sorted(belay.__all__)


def test_dir_shows_what_is_public_and_nothing_else():
    import belay.pytest_plugin  # noqa: F401  what is loaded meanwhile does not show

    for name in belay.__all__:
        getattr(belay, name)
    assert dir(belay) == sorted([*belay.__all__, "__version__"])


def test_the_version_is_that_of_the_project():
    project = re.search(r"^project\(belay VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert belay.__version__ == project[1]


def test_settings_and_copies_have_signatures_of_their_own():
    parameters = inspect.signature(belay.settings).parameters
    assert list(parameters) == list(_settings.SETTINGS)
    copies = [inspect.signature(belay.DeviceMemory.copy_from), inspect.signature(belay.HostMemory.copy_to)]
    named = [*parameters.values()] + [copy.parameters[name] for copy in copies for name in ("offset", "stream")]
    assert {parameter.kind for parameter in named} == {inspect.Parameter.KEYWORD_ONLY}
    assert all(parameter.annotation is not inspect.Parameter.empty for parameter in named)
    assert "source" in typing.get_type_hints(belay.DeviceMemory.copy_from)
    assert "hbm" in typing.get_type_hints(belay.settings.__init__)


def test_star_import_gives_all_names():
    names = {}
    exec("from belay import *", names)
    assert set(belay.__all__) <= set(names)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'devcie'"):
        belay.devcie
    assert not hasattr(belay, "acl")


def test_none_of_the_names_comes_with_numpy():
    done = run(
        "import sys, belay\n"
        "for name in belay.__all__: getattr(belay, name)\n"
        "print('numpy' in sys.modules)"
    )
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr


def test_without_acl_the_first_use_says_what_is_missing():
    done = run("import sys; sys.modules['acl'] = None\nimport belay\nbelay.device(0)")
    assert done.returncode != 0
    assert "ImportError: belay needs the module 'acl'" in done.stderr
    assert "set_env.sh" in done.stderr


def test_another_module_named_acl_is_told():
    done = run(
        "import sys, types; sys.modules['acl'] = types.ModuleType('acl')\n"
        "import belay\n"
        "belay.device(0)"
    )
    assert done.returncode != 0
    assert "is another acl" in done.stderr


def test_acl_gets_no_names_from_belay():
    done = run(
        "import acl\n"
        "def names(): return {m: sorted(dir(m)) for m in (acl, acl.rt, acl.util, acl.media)}\n"
        "before = names()\n"
        "import belay\n"
        "for name in belay.__all__: getattr(belay, name)\n"
        "print(before == names())"
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_the_package_is_typed():
    assert (Path(belay.__file__).parent / "py.typed").exists()


def test_names_of_codes_are_those_of_the_headers():
    text = "\n".join(path.read_text() for path in (ROOT / "include" / "acl").rglob("*.h"))
    of_header = {name: int(code) for name, code in re.findall(r"\b(ACL_ERROR_\w+)\s*=?\s*(\d{6})", text)}
    assert len(of_header) > 100
    assert {name: code for code, (name, _) in _codes.CODES.items()} == {
        name: of_header.get(name) for name, _ in _codes.CODES.values()
    }


def test_settings_are_those_of_the_documentation():
    rows = re.findall(r"^\| `BELAY_(\w+)` \|", (ROOT / "docs" / "settings.md").read_text(), re.MULTILINE)
    assert len(rows) > 15
    assert sorted(name.lower() for name in rows) == sorted(_settings.SETTINGS)
