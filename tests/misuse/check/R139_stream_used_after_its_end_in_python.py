"""A script waits for a stream that is destroyed."""

import acl
from program import BUG, Device, must

with Device():
    stream = must(acl.rt.create_stream())
    must(acl.rt.destroy_stream(stream))
    if BUG:
        acl.rt.synchronize_stream(stream)
