"""What this process holds now."""

from __future__ import annotations

from typing import NamedTuple, Optional

from ._errors import check_machine
from ._load import native
from ._words import amount, counted

#: Pinned host memory, in place of a device number: ``belay.used(belay.HOST)``.
HOST = -1


class Block(NamedTuple):
    """One live block."""

    address: int
    asked: int  # bytes that the program asked for
    bytes: int  # what they cost: whole pages
    page_bytes: int
    serial: int  # grows with every allocation, from the start or the last restart on
    device: int  # or HOST
    site: str = ""  # where it was allocated, a line for each frame; only leaks have it, where stacks are kept

    def __str__(self) -> str:
        place = "pinned host memory" if self.device == HOST else f"device {self.device}"
        cost = f"{amount(self.bytes)} in pages of {amount(self.page_bytes)}"
        return f"{place}: {self.address:#x}, {counted(self.asked, 'byte')} asked, {cost}"


def used(device: int = 0) -> int:
    """Bytes that this process holds on a device now, in whole pages."""
    check_machine()
    return native.use(device)[1]


def blocks(device: int = 0) -> list[Block]:
    """The live blocks of this process on a device, in the order of their allocation."""
    check_machine()
    return sorted((Block(*block, device) for block in native.blocks(device)), key=lambda block: block.serial)


def alive(device: Optional[int] = None, host: bool = True) -> list[Block]:
    """The live blocks of one device or of all (``None``), and those of pinned host memory."""
    check_machine()
    places = list(range(native.device_count())) if device is None else [device]
    if host:
        places.append(HOST)
    return [block for place in places for block in blocks(place)]
