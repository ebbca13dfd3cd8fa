"""Custom allocators: names and registration. No Python allocator is ever asked for memory."""

import pytest

import acl
from arguments import check_arguments
from offered import offered
from support import ok

NAMES = {
    "rt.allocator_create_desc": "aclrtAllocatorCreateDesc",
    "rt.allocator_destroy_desc": "aclrtAllocatorDestroyDesc",
    "rt.allocator_set_obj_to_desc": "aclrtAllocatorSetObjToDesc",
    "rt.allocator_set_alloc_func_to_desc": "aclrtAllocatorSetAllocFuncToDesc",
    "rt.allocator_set_free_func_to_desc": "aclrtAllocatorSetFreeFuncToDesc",
    "rt.allocator_set_alloc_advise_func_to_desc": "aclrtAllocatorSetAllocAdviseFuncToDesc",
    "rt.allocator_set_get_addr_from_block_func_to_desc": "aclrtAllocatorSetGetAddrFromBlockFuncToDesc",
    "rt.allocator_register": "aclrtAllocatorRegister",
    "rt.allocator_unregister": "aclrtAllocatorUnregister",
}


def all_offered():
    return all([offered(name, c_name) for name, c_name in NAMES.items()])


@pytest.mark.parametrize("name", sorted(NAMES))
def test_y177_a_name_comes_with_its_c_function(device, name):
    if not offered(name, NAMES[name]):
        return
    if name in ("rt.allocator_destroy_desc", "rt.allocator_unregister"):
        check_arguments(name, "ptr", (0,))
    elif name == "rt.allocator_register":
        check_arguments(name, "ptr ptr", (0, 0))
    elif name == "rt.allocator_create_desc":
        desc = acl.rt.allocator_create_desc()
        assert type(desc) is int and desc > 0
        assert acl.rt.allocator_destroy_desc(desc) == 0


def filled():
    desc = acl.rt.allocator_create_desc()
    assert acl.rt.allocator_set_obj_to_desc(desc, 1) == 0
    for setter in ("alloc", "free", "alloc_advise", "get_addr_from_block"):
        assert getattr(acl.rt, "allocator_set_%s_func_to_desc" % setter)(desc, called) == 0
    return desc


def called(*args):
    raise AssertionError("nobody calls it: %r" % (args,))


def test_y177_y178_registering_and_working_without_it(device):
    if not all_offered():
        assert not any(hasattr(acl.rt, name.split(".")[1]) for name in NAMES), "all or none"
        return
    stream = ok(acl.rt.create_stream())
    desc = filled()
    assert acl.rt.allocator_register(stream, desc) == 0
    block = ok(acl.rt.malloc(64, 2))
    ok(acl.rt.memset_async(block, 64, 1, 64, stream))
    ok(acl.rt.synchronize_stream(stream))
    ok(acl.rt.free(block))
    assert acl.rt.allocator_unregister(stream) == 0
    assert acl.rt.allocator_destroy_desc(desc) == 0
    ok(acl.rt.destroy_stream(stream))
