"""What belay does not run is there, and answered (C-22)."""

import textwrap

import pytest

import acl
from absent import ROWS

UNSUPPORTED = 207000


def test_c22_the_table_is_long():
    assert len(ROWS) > 300
    assert {row[0] for row in ROWS} == {"mdl", "op", "media", "prof", "blas"}


@pytest.mark.parametrize("module, name, arguments, result, function", ROWS, ids=[".".join(row[:2]) for row in ROWS])
def test_c22_each_answers_in_its_shape(module, name, arguments, result, function):
    acl.get_recent_err_msg()
    answer = getattr(getattr(acl, module), name)(*range(len([a for a in arguments.split(",") if a])))
    shape = [part.strip() for part in result.strip("()").split(",")]
    if result.startswith("("):
        assert isinstance(answer, tuple) and len(answer) == len(shape)
        assert answer[shape.index("ret")] == UNSUPPORTED
        for part, value in zip(shape, answer):
            assert part == "ret" or (value == -1 if part == "format" else not value), part
    elif result == "ret":
        assert answer == UNSUPPORTED
    else:
        assert answer in (0, None, -1)
    message = acl.get_recent_err_msg()
    assert function in message and "C-22" in message


def test_c22_c25_one_line_says_so(fresh):
    ended = fresh(textwrap.dedent("""
        import acl
        assert acl.init() == 0 and acl.rt.set_device(0) == 0
        for _ in range(3):
            model, ret = acl.mdl.load_from_file("model.om")
            assert (model, ret) == (0, 207000)
        assert acl.media.dvpp_vpc_resize_async(0, 0, 0, 0, 0) == 207000
        pointer, ret = acl.rt.malloc(4096, 0)
        assert ret == 0 and acl.rt.free(pointer) == 0
    """))
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("\n") == 1
    assert "aclmdlLoadFromFile" in ended.stderr and "runs no models, operators or media processing" in ended.stderr
