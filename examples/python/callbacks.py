"""Callbacks of a stream, with the plain module ``acl``.

A callback is a function that a stream calls when it gets there. It runs on a report thread, which the program
starts, subscribes to the stream and keeps in acl.rt.process_report.
"""

import sys

import acl

ACL_CALLBACK_BLOCK = 1
TIMEOUT_MS = 100
SIZE = 4096


class Reports:
    """The report thread: its loop ends when the program says so."""

    def __init__(self):
        self.running = True
        self.calls = []

    def loop(self, _):
        while self.running:
            acl.rt.process_report(TIMEOUT_MS)  # 0, or a code when nothing came or nobody subscribed yet

    def called(self, user_data):
        self.calls.append(user_data)


def check(ret, call):
    if ret != 0:
        sys.exit(f"{call} returned {ret}\n{acl.get_recent_err_msg() or ''}")


def main():
    check(acl.init(), "acl.init")
    check(acl.rt.set_device(0), "acl.rt.set_device")
    stream, ret = acl.rt.create_stream()
    check(ret, "acl.rt.create_stream")
    block, ret = acl.rt.malloc(SIZE, 0)
    check(ret, "acl.rt.malloc")

    reports = Reports()
    thread, ret = acl.util.start_thread(reports.loop, [])
    check(ret, "acl.util.start_thread")
    check(acl.rt.subscribe_report(thread, stream), "acl.rt.subscribe_report")

    # A callback that blocks holds up what comes after it, so the order is sure.
    for step in range(3):
        check(acl.rt.memset_async(block, SIZE, step, SIZE, stream), "acl.rt.memset_async")
        ret = acl.rt.launch_callback(reports.called, {"filled with": step}, ACL_CALLBACK_BLOCK, stream)
        check(ret, "acl.rt.launch_callback")
    check(acl.rt.synchronize_stream(stream), "acl.rt.synchronize_stream")
    print("called in this order:", reports.calls)

    check(acl.rt.unsubscribe_report(thread, stream), "acl.rt.unsubscribe_report")
    reports.running = False
    check(acl.util.stop_thread(thread), "acl.util.stop_thread")  # only waits: the loop has to end by itself

    check(acl.rt.free(block), "acl.rt.free")
    check(acl.rt.destroy_stream(stream), "acl.rt.destroy_stream")
    check(acl.rt.reset_device(0), "acl.rt.reset_device")
    check(acl.finalize(), "acl.finalize")
    if [call["filled with"] for call in reports.calls] != [0, 1, 2]:
        sys.exit("the callbacks came in another order")


if __name__ == "__main__":
    main()
