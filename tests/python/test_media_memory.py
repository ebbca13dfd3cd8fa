"""Memory of the media functions: acl.media and acl.himpi."""

import ctypes
import itertools
import os

import pytest

import acl
from arguments import check_arguments, refused
from support import bytes_at, fill, free_bytes, ok, run

SIZES = [1, 31, 32, 33, 127, 128, 129, 4063, 4064, 4065, 1 << 20, (2 << 20) + 1]


def taken(size):
    """Pages of 4 KB that a media block of this size takes."""
    footprint = (size + 31) // 32 * 32 + 32
    return (footprint + 4095) // 4096 * 4096


def test_y169_arguments(device):
    check_arguments("media.dvpp_malloc", "ptr", (64,), repeatable=False)
    check_arguments("media.dvpp_free", "ptr", (0,))


@pytest.mark.parametrize("size", SIZES)
def test_y169_y220_size_and_alignment(device, size):
    before = free_bytes()
    block, ret = acl.media.dvpp_malloc(size)
    assert ret == 0 and block > 0 and block % 128 == 0
    assert before - free_bytes() == taken(size), "rounded up to 32 plus 32"
    ok(acl.rt.memset(block, size, 7, size))
    assert bytes_at(block + size - 1, 1) == b"\7"
    attrs, ret = acl.rt.pointer_get_attributes(block)
    assert ret == 0 and attrs["location"] == {"id": 0, "type": 1}
    assert acl.media.dvpp_free(block) == 0
    assert free_bytes() == before


def test_y169_failures(device):
    assert acl.media.dvpp_free(0) == 100000
    assert acl.media.dvpp_malloc((1 << 64) - 1) == (0, 100000)
    assert acl.media.dvpp_malloc(1 << 50) == (0, 207001)
    block = ok(acl.media.dvpp_malloc(64))
    assert acl.media.dvpp_free(block + 32) == 107000
    assert acl.media.dvpp_free(block) == 0
    assert acl.media.dvpp_free(block) == 107000


def test_y170_with_configuration(device):
    check_arguments("media.dvpp_malloc_with_cfg", "ptr i32 dict", (64, 0, {}), repeatable=False)
    with pytest.raises(TypeError) as caught:
        acl.media.dvpp_malloc_with_cfg(64, 0, None)
    assert str(caught.value) == "pyCfg is not dict!"
    cfg = {"numAttrs": 1, "attrs": [{"attr": 1, "value": {"moduleId": 33}}]}
    for given in (cfg, {}):
        block, ret = acl.media.dvpp_malloc_with_cfg(64, 0, given)
        assert ret == 0 and block % 128 == 0
        ok(acl.rt.memset(block, 64, 1, 64))
        assert acl.media.dvpp_free(block) == 0
    assert acl.media.dvpp_malloc_with_cfg(1 << 50, 0, cfg) == (0, 207001)
    with pytest.raises(KeyError):
        acl.media.dvpp_malloc_with_cfg(64, 0, {**cfg, "numAttrs": 2})
    with pytest.raises(TypeError):
        acl.media.dvpp_malloc_with_cfg(64, 0, {"numAttrs": 1})


def test_y171_device_memory_like_any_other(device):
    size = 1 << 20
    data = os.urandom(size)
    stream = ok(acl.rt.create_stream())
    host = ok(acl.rt.malloc_host(size))
    block = ok(acl.media.dvpp_malloc(size))
    fill(block, data)
    assert bytes_at(block, size) == data
    ok(acl.rt.memcpy_async(host, size, block, size, 2, stream))
    ok(acl.rt.synchronize_stream(stream))
    assert ctypes.string_at(host, size) == data
    ctypes.memset(host, 0x44, size)
    ok(acl.rt.memcpy_async(block, size, host, size, 1, stream))
    ok(acl.rt.synchronize_stream(stream))
    assert bytes_at(block, size) == b"\x44" * size
    ok(acl.media.dvpp_free(block))
    ok(acl.rt.free_host(host))
    ok(acl.rt.destroy_stream(stream))


def test_y172_arguments(device):
    check_arguments("himpi.dvpp_malloc", "i32 ptr", (0, 64), repeatable=False)
    check_arguments("himpi.dvpp_free", "ptr", (0,))


@pytest.mark.parametrize("named", [0, 1, 7, 99, -1, (1 << 31) - 1, -(1 << 31)])
@pytest.mark.parametrize("current", [0, 1])
def test_y172_the_current_device_counts(device, current, named):
    ok(acl.rt.set_device(current))
    try:
        before = free_bytes()
        block, ret = acl.himpi.dvpp_malloc(named, 100)
        assert ret == 0 and block % 128 == 0
        assert before - free_bytes() == taken(100)
        attrs, ret = acl.rt.pointer_get_attributes(block)
        assert ret == 0 and attrs["location"] == {"id": current, "type": 1}
        assert acl.himpi.dvpp_free(block) == 0
        assert free_bytes() == before
    finally:
        if current:
            ok(acl.rt.reset_device_force(current))
        ok(acl.rt.set_device(0))


def test_y172_codes_are_unsigned(device, fresh):
    assert acl.himpi.dvpp_malloc(0, 0) == (0, 0xA0028003)
    assert acl.himpi.dvpp_malloc(0, 1 << 50) == (0, 0xA002800C)
    assert acl.himpi.dvpp_free(0) == 0xA0028006
    assert acl.himpi.dvpp_free(64) == 0xA0028003
    run(fresh, """
        import acl
        assert acl.himpi.dvpp_malloc(0, 64) == (0, 0xA0028010), "no current device"
    """)


def test_y173_sys_init_and_exit():
    for _ in range(2):
        assert acl.himpi.sys_init() == 0
        assert acl.himpi.sys_exit() == 0
    assert type(acl.himpi.sys_init(1, "ignored", None)) is int
    assert acl.himpi.sys_exit(1) == 0
    for name in ("sys_init", "sys_exit"):
        with pytest.raises(TypeError, match="takes no keyword arguments"):
            getattr(acl.himpi, name)(a=1)


def test_y174_himpi_memory_stays_in_its_process(fresh):
    run(fresh, """
        import os
        import acl
        assert acl.rt.set_device(0) == 0
        block, ret = acl.himpi.dvpp_malloc(0, 4096)
        assert ret == 0 and acl.rt.memset(block, 4096, 7, 4096) == 0
        child = os.fork()
        if child == 0:
            ok = acl.rt.set_device(0) == 0
            back = bytes(bytearray(16))
            ok = ok and acl.rt.memcpy(acl.util.bytes_to_ptr(back), 16, block, 16, 2) == 507899
            ok = ok and acl.rt.memset(block, 16, 9, 16) == 507899
            ok = ok and acl.himpi.dvpp_free(block) == 0xA0028003
            ok = ok and back == bytes(16)
            os._exit(0 if ok else 1)
        assert os.waitpid(child, 0)[1] == 0
        back = bytes(bytearray(4096))
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(back), 4096, block, 4096, 2) == 0
        assert back == bytes([7]) * 4096
        assert acl.himpi.dvpp_free(block) == 0
    """)


MAKERS = {
    "malloc": (lambda size: acl.rt.malloc(size, 2), acl.rt.free),
    "host": (lambda size: acl.rt.malloc_host(size), acl.rt.free_host),
    "media": (lambda size: acl.media.dvpp_malloc(size), acl.media.dvpp_free),
    "himpi": (lambda size: acl.himpi.dvpp_malloc(0, size), acl.himpi.dvpp_free),
}


@pytest.mark.parametrize("source, target", list(itertools.product(MAKERS, MAKERS)), ids="-".join)
def test_y175_all_pairs(device, source, target):
    size = 100_000
    data = os.urandom(size)
    a, b = ok(MAKERS[source][0](size)), ok(MAKERS[target][0](size))
    fill(a, data)
    kind = {(True, True): 0, (True, False): 1, (False, True): 2}.get((source == "host", target == "host"), 3)
    assert acl.rt.memcpy(b, size, a, size, kind) == 0
    assert bytes_at(b, size) == data
    assert MAKERS[source][1](a) == 0
    assert MAKERS[target][1](b) == 0


@pytest.mark.parametrize("maker", ["media", "himpi"])
def test_y176_its_own_free_function(device, maker):
    before = free_bytes()
    make, free = MAKERS[maker]
    block = ok(make(1000))
    assert free(block) == 0
    assert free_bytes() == before
    assert free(block) != 0, "once only"
    # Mixing is not documented; whatever it answers, nothing is freed twice and the books stay right.
    block = ok(make(1000))
    if acl.rt.free(block) == 0:
        assert free(block) != 0
    else:
        assert free(block) == 0
    assert free_bytes() == before


@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 100, 192, 1000, 4096, 4097, 65536 + 1, (1 << 20) + 1])
def test_y220_both_allocators_align_to_128(device, size):
    blocks = []
    for _ in range(4):
        for block in (ok(acl.media.dvpp_malloc(size)), ok(acl.himpi.dvpp_malloc(0, size))):
            assert block % 128 == 0
            blocks.append(block)
        plain = ok(acl.rt.malloc(size, 0))
        assert plain % 64 == 0
    assert len(set(blocks)) == 8


@pytest.mark.parametrize("product, media, himpi", [("950", 207000, 0xA0028008), ("910", 0, 0xA0028008),
                                                   ("310P", 0, 0), ("310B", 0, 0), ("A3", 0, 0)])
def test_y220_y169_y172_products(fresh, product, media, himpi):
    out = run(fresh, """
        import acl
        assert acl.rt.set_device(0) == 0
        block, first = acl.media.dvpp_malloc(100)
        other, second = acl.himpi.dvpp_malloc(0, 100)
        assert block % 128 == other % 128 == 0
        print(first, second)
    """, env={"BELAY_PRODUCT": product})
    assert out.split() == [str(media), str(himpi)]


def test_y169_wrong_counts(device):
    for args in ((), (1, 2), (None,), (1.0,)):
        refused("media.dvpp_malloc", *args)
    for args in ((), (0,), (0, 1, 2), (None, 1), (0, None), (1 << 31, 1)):
        refused("himpi.dvpp_malloc", *args)
