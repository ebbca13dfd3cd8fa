"""The commands belay and npu-smi, as pip puts them on the PATH: they start the program that lies in the wheel."""

import os
import sys


def _start(name: str) -> None:
    program = os.path.join(os.path.dirname(os.path.realpath(__file__)), "toolkit", "bin", "belay")
    os.execv(program, [name, *sys.argv[1:]])


def belay() -> None:
    _start("belay")


def npu_smi() -> None:
    _start("npu-smi")
