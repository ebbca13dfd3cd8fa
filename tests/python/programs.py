"""Programs in files of their own, and the lines of Python that messages about them name (BELAY_STACKS)."""

import os
import re
import subprocess
import sys
import textwrap

HEAD = """\
import acl

def tell():
    print(acl.get_recent_err_msg(), flush=True)

assert acl.rt.set_device(0) == 0
"""
# What a message tells of, in its order: how it says so, and what the tests call it.
PARTS = {"the call was made": "call", "the block was allocated": "made", "the block was freed": "freed"}


def qualified(name):
    """What the interpreter knows of a function's name: before 3.11 only the last part."""
    return name if sys.version_info >= (3, 11) else name.rpartition(".")[2]


class Message:
    """One refusal, by the lines of Python that it names."""

    def __init__(self, text):
        self.text = text
        self.parts = []
        for line in text.splitlines():
            line = re.sub(r"the block of .* was ", "the block was ", line)  # its size, and how long ago that was
            line = re.sub(r", [\d.]+ (s|min|h) ago:$", ":", line)
            part = re.match(r" +(%s) by acl\w+:$" % "|".join(PARTS), line)
            at = re.match(r" +at (.+) \(([^()]*)(?<!\.[ch])(?<!\.cpp):(\d+)\)$", line)
            if part:
                self.parts.append((PARTS[part.group(1)], []))
            elif at:
                self.parts[-1][1].append((at.group(1), at.group(2), int(at.group(3))))


class Program:
    """Source text, and where its lines are: a line is named by the comment at its end."""

    NAME = "program.py"

    def __init__(self, directory, code, head=HEAD):
        self.directory = directory
        self.source = head + textwrap.dedent(code)
        self.path = os.path.join(str(directory), self.NAME)
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(self.source)

    def run(self, stacks=8, python=sys.executable, path=NAME, env=None, timeout=120):
        """The messages that the program printed."""
        environment = {**os.environ, "BELAY_LEAKS": "off", "PYTHONWARNINGS": "ignore", **(env or {})}
        environment["BELAY_STACKS"] = str(stacks)
        here = os.path.dirname(os.path.abspath(__file__))
        environment["PYTHONPATH"] = os.pathsep.join([environment.get("PYTHONPATH", ""), here])
        done = subprocess.run([python, path], cwd=str(self.directory), env=environment, timeout=timeout, text=True,
                              errors="backslashreplace", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, check=False)
        told = "exit code %s\n%s\n%s" % (done.returncode, done.stdout, done.stderr)
        assert done.returncode == 0 and done.stderr == "", told
        return [Message(text) for text in re.split(r"^(?=\[PID)", done.stdout, flags=re.M) if text.startswith("[PID")]

    def places(self, *places, file=NAME):
        """("Pool.take: takes",) as a message would tell it: function, file, and the number of that line."""
        return [(qualified(function), file, self.line(comment))
                for function, comment in (place.split(": ") for place in places)]

    def line(self, comment):
        (number,) = [number for number, text in enumerate(self.source.splitlines(), 1)
                     if text.endswith("  # " + comment)]
        return number
