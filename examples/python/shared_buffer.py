"""A producer and a consumer, two processes that share device memory, with the plain module ``acl``.

The producer exports a block as an IPC key, and the consumer imports it. Two notifies say whose turn it is: that the
block is filled, and that it was read. Streams wait for them, so nobody polls. What goes through the pipe is only keys.

With the word ``dies``, the producer is killed when the consumer waits for it. The wait then fails with 507022, the
memory of the producer is gone (507899), and the consumer goes on.

Both must be on one emulated machine: not with ``BELAY_MACHINE=private``.
"""

import multiprocessing
import os
import signal
import sys

import acl

ACL_MEM_MALLOC_HUGE_FIRST = 0
ACL_MEMCPY_DEVICE_TO_HOST = 2
ACL_MEMCPY_DEVICE_TO_DEVICE = 3
KEY_LENGTH = 65

SIZE = 4 * 1024 * 1024
ROUNDS = 8
LAST_ROUND = 5  # of a producer that dies


def check(ret, call):
    """Codes raise no exceptions: every one must be checked."""
    if ret != 0:
        message = acl.get_recent_err_msg()  # None when there is none
        sys.exit(f"{call} returned {ret}\n{message or ''}")


def checked(call, *arguments):
    """The output of a call of acl.rt that must work."""
    given = getattr(acl.rt, call)(*arguments)
    output, ret = given if isinstance(given, tuple) else (None, given)
    check(ret, "acl.rt." + call)
    return output


def share_notify(peer):
    """A notify, and the key by which the process `peer` may import it."""
    notify = checked("create_notify", 0)
    key = checked("notify_get_export_key", notify, KEY_LENGTH, 0)
    checked("notify_set_import_pid", notify, [peer])
    return notify, key


def produce(pipe, dies):
    check(acl.init(), "acl.init")
    checked("set_device", 0)
    stream = checked("create_stream")
    pipe.send(checked("device_get_bare_tgid"))  # as the device knows this process
    consumer, read_key = pipe.recv()

    block = checked("malloc", SIZE, ACL_MEM_MALLOC_HUGE_FIRST)
    key = checked("ipc_mem_get_export_key", block, SIZE, KEY_LENGTH, 0)
    checked("ipc_mem_set_import_pid", key, [consumer])
    filled, filled_key = share_notify(consumer)
    read = checked("notify_import_by_key", read_key, 0)
    pipe.send((key, filled_key))

    for turn in range(ROUNDS):
        if turn > 0:
            checked("wait_and_reset_notify", read, stream, 0)
        if dies and turn == LAST_ROUND:
            while pipe.recv() < LAST_ROUND:  # until the consumer waits for this round
                pass
            os.kill(os.getpid(), signal.SIGKILL)
        checked("memset_async", block, SIZE, turn + 1, SIZE, stream)
        checked("record_notify", filled, stream)
    checked("synchronize_stream", stream)

    while pipe.recv() != "closed":  # whoever imported closes first
        pass
    checked("destroy_notify", read)
    checked("destroy_notify", filled)
    checked("ipc_mem_close", key)
    checked("free", block)
    checked("destroy_stream", stream)
    checked("reset_device", 0)
    check(acl.finalize(), "acl.finalize")


def consume(pipe):
    """Gives how many rounds came."""
    check(acl.init(), "acl.init")
    checked("set_device", 0)
    stream = checked("create_stream")
    own = checked("malloc", SIZE, ACL_MEM_MALLOC_HUGE_FIRST)
    read, read_key = share_notify(pipe.recv())
    pipe.send((checked("device_get_bare_tgid"), read_key))
    key, filled_key = pipe.recv()
    theirs = checked("ipc_mem_import_by_key", key, 0)
    filled = checked("notify_import_by_key", filled_key, 0)

    came = 0
    data = bytes(SIZE)
    for turn in range(ROUNDS):
        checked("wait_and_reset_notify", filled, stream, 0)
        checked("memcpy_async", own, SIZE, theirs, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream)
        checked("record_notify", read, stream)
        pipe.send(turn)
        ret = acl.rt.synchronize_stream(stream)
        if ret != 0:
            print(f"round {turn} never came: {ret}\n{acl.get_recent_err_msg()}", end="")
            ret = acl.rt.memcpy(own, SIZE, theirs, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE)
            print(f"a copy from the memory of the process that ended: {ret}")
            acl.get_recent_err_msg()  # it says why
            break
        checked("memcpy", acl.util.bytes_to_ptr(data), SIZE, own, SIZE, ACL_MEMCPY_DEVICE_TO_HOST)
        if data != bytes([turn + 1]) * SIZE:
            sys.exit(f"round {turn} came over wrong")
        came += 1
    print(f"{came} rounds of {SIZE} bytes came over, all as expected")

    checked("ipc_mem_close", key)  # also where the producer has ended
    checked("destroy_notify", filled)
    checked("destroy_notify", read)
    if came == ROUNDS:
        pipe.send("closed")
    checked("free", own)
    checked("destroy_stream", stream)
    checked("reset_device", 0)
    check(acl.finalize(), "acl.finalize")


def main():
    dies = sys.argv[1:] == ["dies"]
    # "spawn": a process that was forked could not use what its parent has of AscendCL.
    processes = multiprocessing.get_context("spawn")
    pipe, theirs = processes.Pipe()
    producer = processes.Process(target=produce, args=(theirs, dies))
    producer.start()
    theirs.close()
    consume(pipe)
    producer.join()
    print(f"the producer ended with {producer.exitcode}")
    return 0 if producer.exitcode == (-signal.SIGKILL if dies else 0) else 1


if __name__ == "__main__":
    sys.exit(main())
