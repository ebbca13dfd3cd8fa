"""A name is in the module exactly when the library has its C function (Y-18): hasattr tells the truth."""

import ctypes

import acl


def exported(c_name):
    """Does libascendcl, as loaded by this process, have the function?"""
    return hasattr(ctypes.CDLL("libascendcl.so"), c_name)


def offered(name, c_name):
    """Is there acl.<name>? Demands that it is there exactly with its C function."""
    module, function = name.split(".")
    there = hasattr(getattr(acl, module), function)
    assert there == exported(c_name), "acl.%s and %s" % (name, c_name)
    assert (function in dir(getattr(acl, module))) == there
    return there
