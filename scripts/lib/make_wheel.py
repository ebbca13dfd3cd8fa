#!/usr/bin/env python3
"""Makes packages of an install tree that run on any Linux with the same processor: an archive and a wheel.

Usage: make_wheel.py TREE FOLDER [--most-glibc 2.34]

  TREE               a tree that `cmake --install` has made, with libdw of the system
  FOLDER             gets belay-VERSION-linux-ARCH.tar.xz and belay_ascend-VERSION-cp39-abi3-....whl
  --most-glibc N.M   fail if a file needs a newer C library than this, or the shared C++ library

libdw and what it needs are copied into the tree, beside the command that uses them, with their licences. The wheel holds
the tree as belay/toolkit, without links, which wheels cannot hold; share/belay/links names them.
"""

import argparse
import base64
import calendar
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

# Part of every system that a manylinux tag promises; libstdc++ only where --most-glibc does not forbid it.
OF_THE_SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|ld-linux[-\w]*)\.so")
INSIDE = ("libfmt-dev", "nlohmann-json3-dev", "libcli11-dev", "libstdc++-12-dev")  # in our own files
WHEN = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def programs_of(folder):
    """Every file with machine code."""
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.join(place, name)
            if not os.path.islink(path):
                with open(path, "rb") as file:
                    if file.read(4) == b"\x7fELF":
                        yield path


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", path))


def libraries_of(program):
    """All that it needs from outside, however deep: name -> file."""
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", output("ldd", program), re.M))
    return {name: path for name, path in found.items() if not OF_THE_SYSTEM.match(name)}


def licence_of(library):
    """The Debian package of a file, and the file with its licence."""
    for path in (library, os.path.realpath(library), os.path.realpath(library).replace("/usr/lib/", "/lib/", 1)):
        done = subprocess.run(["dpkg", "-S", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    sys.exit("make_wheel.py: no Debian package has %s, so its licence is not known" % library)


def bundle(tree):
    program = os.path.join(tree, "bin", "belay")
    folder = os.path.join(tree, "lib64", "bundled")
    licences = os.path.join(tree, "share", "doc", "belay", "licences")
    os.makedirs(folder)
    os.makedirs(licences)
    packages = set(INSIDE)
    for name, path in sorted(libraries_of(program).items()):
        copy = os.path.join(folder, name)
        shutil.copyfile(os.path.realpath(path), copy)
        os.chmod(copy, 0o755)
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", copy], check=True)
        packages.add(licence_of(path))
    subprocess.run(["patchelf", "--set-rpath", "$ORIGIN/../lib64/bundled", program], check=True)
    for package in sorted(packages):
        text = "/usr/share/doc/%s/copyright" % package
        if os.path.exists(text):
            shutil.copyfile(text, os.path.join(licences, package))
        else:
            sys.exit("make_wheel.py: %s is missing, a licence that must be handed on" % text)
    # Debian's own papers only name the texts that every Debian has; other systems do not have them.
    papers = b"".join(contents(os.path.join(licences, package)) for package in sorted(packages))
    for name in sorted(set(re.findall(rb"/usr/share/common-licenses/([\w.+-]*\w)", papers))):
        shutil.copyfile(os.path.join("/usr/share/common-licenses", name.decode()), os.path.join(licences, name.decode()))
    shutil.copyfile(os.path.join(os.path.dirname(__file__), "..", "..", "LICENSE"), os.path.join(licences, "belay"))


def glibc_of(tree):
    """The C library that is needed, as (2, 34), and by which file."""
    most, by = (2, 17), None
    for path in programs_of(tree):
        for version in re.findall(r"Name: GLIBC_(\d+)\.(\d+)", output("readelf", "-V", path)):
            if tuple(map(int, version)) > most:
                most, by = tuple(map(int, version)), path
    return most, by


def judge(tree, most):
    found, by = glibc_of(tree)
    if found > most:
        sys.exit("make_wheel.py: %s needs glibc %d.%d; at most %d.%d is promised" % ((by,) + found + most))
    for path in programs_of(tree):
        own = os.listdir(os.path.join(tree, "lib64", "bundled")) + ["libascendcl.so"]
        for name in needed(path):
            if name.startswith("libstdc++") or not (OF_THE_SYSTEM.match(name) or name in own):
                sys.exit("make_wheel.py: %s needs %s, which other systems may not have" % (path, name))


def archive(tree, name, folder):
    def plain(member):
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = calendar.timegm(WHEN)
        if not member.issym():  # whatever the umask was
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member
    with tarfile.open(os.path.join(folder, name + ".tar.xz"), "w:xz") as file:
        file.add(tree, name, filter=plain)


class Wheel:
    def __init__(self, path):
        self.zip, self.record = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED), []

    def add(self, name, content, executable=False):
        entry = zipfile.ZipInfo(name, WHEN[:6])
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append("%s,sha256=%s,%d" % (name, digest, len(content)))

    def close(self, information):
        self.record.append("%s/RECORD,," % information)
        self.add("%s/RECORD" % information, ("\n".join(self.record) + "\n").encode())
        self.zip.close()


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def files_of(folder):
    for place, inner, names in os.walk(folder):
        inner[:] = sorted(each for each in inner if each != "__pycache__" and not os.path.islink(os.path.join(place, each)))
        for name in sorted(names):
            path = os.path.join(place, name)
            if not os.path.islink(path):
                yield path, os.path.relpath(path, folder)


def wheel(tree, folder):
    site = os.path.join(tree, "python", "site-packages")
    information = next(each for each in os.listdir(site) if each.endswith(".dist-info"))
    name = information[:-len(".dist-info")]
    tag = "cp39-abi3-manylinux_%d_%d_%s" % (glibc_of(tree)[0] + (os.uname().machine,))
    # The modules leave the tree, so their way to the library changes.
    subprocess.run(["patchelf", "--set-rpath", "$ORIGIN/belay/toolkit/lib64", os.path.join(site, "acl.so")], check=True)
    subprocess.run(["patchelf", "--set-rpath", "$ORIGIN/toolkit/lib64", os.path.join(site, "belay", "_native.so")],
                   check=True)
    made = Wheel(os.path.join(folder, "%s-%s.whl" % (name, tag)))
    licences = os.path.join(tree, "share", "doc", "belay", "licences")
    for path, place in files_of(site):
        if not place.startswith(information):
            made.add(place, contents(path))
    for path, place in files_of(tree):
        if place.startswith(("python" + os.sep, "share/man", "share/doc", "share/zsh", "share/bash", "share/fish")):
            continue
        content = contents(path)
        if place == os.path.join("share", "belay", "links"):  # the modules are not in the tree
            content = b"".join(line for line in content.splitlines(True) if not line.startswith(b"pyACL"))
        made.add("belay/toolkit/" + place, content, executable=place == os.path.join("bin", "belay"))
    for path, place in files_of(os.path.join(tree, "share", "man")):
        made.add("%s.data/data/share/man/%s" % (name, place), content=contents(path))
    metadata = contents(os.path.join(site, information, "METADATA")).decode()
    for path, place in files_of(licences):
        made.add("%s/licenses/%s" % (information, place), contents(path))
        metadata += "License-File: licenses/%s\n" % place
    made.add("%s/METADATA" % information, metadata.encode())
    made.add("%s/WHEEL" % information, ("Wheel-Version: 1.0\nGenerator: belay\nRoot-Is-Purelib: false\nTag: %s\n" % tag).encode())
    made.add("%s/entry_points.txt" % information, contents(os.path.join(site, information, "entry_points.txt")) +
             b"\n[console_scripts]\nbelay = belay._command:belay\nnpu-smi = belay._command:npu_smi\n")
    made.close(information)
    return name.split("-")[1]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tree")
    parser.add_argument("folder")
    parser.add_argument("--most-glibc")
    arguments = parser.parse_args()
    folder = os.path.abspath(arguments.folder)
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        tree = os.path.join(work, "tree")
        shutil.copytree(arguments.tree, tree, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        bundle(tree)
        if arguments.most_glibc:
            judge(tree, tuple(map(int, arguments.most_glibc.split("."))))
        version = next(re.findall(r"-([\d.]+)\.dist-info$", each)[0]
                       for each in os.listdir(os.path.join(tree, "python", "site-packages")) if each.endswith(".dist-info"))
        if arguments.most_glibc:  # what is tested only by its wheel needs no archive, which takes long to compress
            archive(tree, "belay-%s-linux-%s" % (version, os.uname().machine), folder)
        wheel(tree, folder)


if __name__ == "__main__":
    main()
