"""Buffers, streams and figures with the module ``belay``.

Numbers go to the device on one stream and come back on another, the second waiting for an event of the first.
Device memory is not host memory: the last lines show what happens when it is used as such.
"""

import array

import belay

COUNT = 100_000


def main():
    numbers = array.array("d", range(COUNT))
    size = COUNT * numbers.itemsize

    with belay.device(0) as npu:
        print(f"device {npu.id} is {npu.name} with {npu.total >> 20} MB")

        # Nothing may be left allocated at the end; otherwise this raises an error that lists the blocks.
        with belay.no_leaks(), belay.peak_of(device=0) as peak:
            with belay.malloc_host(2 * size) as pinned, belay.malloc(size) as block:
                there, back = pinned[:size], pinned[size:]
                there.copy_from(numbers)

                with belay.stream() as up, belay.stream() as down, belay.event() as arrived:
                    block.copy_from(there, stream=up)
                    arrived.record(up)
                    down.wait(arrived)
                    block.copy_to(back, stream=down)
                    down.synchronize()

                with memoryview(back) as view, view.cast("d") as doubles:
                    print(f"the sum is {sum(doubles):.0f}, expected {COUNT * (COUNT - 1) // 2}")
                print("the first two numbers:", array.array("d", block[:16].tobytes()).tolist())

                try:
                    memoryview(block)
                except BufferError as error:
                    print("device memory as a host buffer:", error)

        print(f"at most {peak.bytes} bytes of device memory were held, now {belay.used()}")

    # A fresh machine with other settings, in the same process.
    with belay.settings(host_access="allow", product="310P"), belay.device(0) as npu:
        with belay.malloc(16) as block:
            block.fill(7)
            print(f"on {npu.name}, where the host may look: {bytes(block).hex()}")


if __name__ == "__main__":
    main()
