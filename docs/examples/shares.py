"""Three processes that share memory, and what `belay smi --shares` says of them, for docs/sharing.md."""

import multiprocessing
import re
import subprocess

import acl

MB = 1 << 20
ON_DEVICE = {"memAttr": 13, "location": {"id": 0, "type": 1}}


def work(pipe):
    assert acl.rt.set_device(0) == 0
    pipe.send(acl.rt.device_get_bare_tgid()[0])
    while True:
        name, arguments = pipe.recv()
        pipe.send(getattr(acl.rt, name)(*arguments))


class Worker:
    def __init__(self):
        processes = multiprocessing.get_context("spawn")
        self.pipe, theirs = processes.Pipe()
        self.process = processes.Process(target=work, args=(theirs,), daemon=True)
        self.process.start()
        self.pid = self.pipe.recv()

    def __getattr__(self, name):
        def call(*arguments):
            self.pipe.send((name, arguments))
            answer = self.pipe.recv()
            *output, ret = answer if isinstance(answer, tuple) else (answer,)
            assert ret == 0, (name, arguments, answer)
            return output[0] if output else None

        return call


def with_stand_ins(line, numbers):
    """The numbers of the processes differ from run to run; columns stay where they are."""
    cells = [
        re.sub(r"\d+", lambda found: numbers.get(found[0], found[0]), cell).rstrip().ljust(len(cell))
        for cell in line.split("|")
    ]
    return "|".join(cells).rstrip()


def main():
    prefill, weights, decode = Worker(), Worker(), Worker()
    cache = prefill.malloc(2 * MB, 0)
    key = prefill.ipc_mem_get_export_key(cache, 2 * MB, 65, 0)
    prefill.ipc_mem_set_import_pid(key, [decode.pid, weights.pid])
    decode.ipc_mem_import_by_key(key, 0)
    old = prefill.malloc(2 * MB, 0)
    key = prefill.ipc_mem_get_export_key(old, 2 * MB, 65, 1)
    decode.ipc_mem_import_by_key(key, 0)
    prefill.free(old)
    prefill.notify_get_export_key(prefill.create_notify(0), 65, 2)
    handle = weights.malloc_physical(64 * MB, ON_DEVICE, 0)
    value = weights.mem_export_to_shareable_handle(handle, 0, 1)
    decode.mem_import_from_shareable_handle(value, 0)
    weights.process.kill()
    weights.process.join()

    done = subprocess.run(["belay", "smi", "--shares"], capture_output=True, text=True, check=True)
    numbers = {str(prefill.pid): "7112", str(weights.pid): "7113", str(decode.pid): "7114"}
    print("$ belay smi --shares")
    for line in done.stdout.splitlines():
        print(with_stand_ins(line, numbers))
    for each in (prefill, decode):
        each.process.kill()
        each.process.join()


if __name__ == "__main__":
    main()
