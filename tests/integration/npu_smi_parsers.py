#!/usr/bin/env python3
"""What public programs take out of npu-smi, each written anew from its description, on every product.

Usage: npu_smi_parsers.py FOLDER HOLDER

FOLDER has npu-smi and belay; HOLDER is memory_holder. A process holds memory on device 0 while they read. First a line of
the output is spoilt for each parser that reads tables, which it must notice.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

FOLDER, HOLDER = (os.path.abspath(each) for each in sys.argv[1:3])
PRODUCTS = {  # chips per card, name in the table, has HBM
    "A2": (1, "910B3", True), "A3": (2, "Ascend910", True), "950": (1, "Ascend950PR", True),
    "310P": (1, "310P3", False), "910": (1, "910A", True), "310B": (1, "310B1", False), "IPV350": (1, "IPV350", False)}
BLOCK_MB = 64
failures = []


class Tool:
    def __init__(self, product, machines, devices):
        self.product, self.devices = product, devices
        self.per_card, self.name, self.hbm = PRODUCTS[product]
        self.environment = dict(os.environ, BELAY_PRODUCT=product, BELAY_MACHINE="npu-smi", BELAY_MACHINES=machines, BELAY_LEAKS="off",
                                LC_ALL="C")
        self.kept = {}

    def __call__(self, *words, code=0):
        if words not in self.kept:
            done = subprocess.run([os.path.join(FOLDER, "npu-smi"), *words], env=self.environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            assert done.stderr == "", done.stderr  # all of it is on standard output
            self.kept[words] = done.stdout, done.returncode
        out, found = self.kept[words]
        assert found == code, "%s: exit code %d" % (words, found)
        return out


def value(text, key):
    return re.search(r"^\s*%s\s*:\s*(.*)$" % re.escape(key), text, re.M)[1]


# --- who reads the table -----------------------------------------------------------------------------

def third_word_of_line_7(smi):  # llama.cpp, IndexSDK
    words = smi("info").split("\n")[6].split()
    assert words[2] == smi.name or (smi.product == "950" and words[3] == smi.name), words


def blocks_of_three(smi):  # gpustack
    blocks = [block.strip("\n").split("\n") for block in smi("info").split("Process id")[0].split("+\n")]
    assert not any(line != line.rstrip() for line in smi("info").split("\n")), "blanks at the end of a line"
    cards = [block for block in blocks if len(block) == 3 and re.match(r"\|\s+\d+\s", block[0])]
    heads = next([re.split(r"[|/\s]+", line.strip("| ")) for line in block[:2]] for block in blocks if len(block) == 3)
    assert heads[0][-1] == "Hugepages-Usage(page)", heads
    column = "HBM-Usage(MB)" if smi.hbm else "Memory-Usage(MB)"
    assert any(column in head for head in heads), heads
    assert len(cards) == smi.devices, len(cards)
    used, total = (int(each) for each in re.split(r"[|/\s]+", cards[0][1].strip("| "))[-2:])
    assert BLOCK_MB <= used < total, (used, total)


ROW_1 = re.compile(r"\|\s+(\d+)\s+(?:\|\s+)?(\w+)\s+\|\s+(\w+)\s+\|\s+(-|NA|[\d.]+)\s+(\d+)\s+(\d+)\s*/\s*(\d+)\s*\|")
ROW_2 = re.compile(r"\|\s+(\d+)?\s*(?:\|\s+)?(\d+)?\s*\|\s+(NA|[\dA-F]{4}:[\dA-F]{2}:[\dA-F]{2}\.\d+)\s*\|\s+(\d+)\s+.*")
PROCESS = re.compile(r"\|\s+(\d+)\s+(?:(\d+)\s*)?\|\s+(\d+)\s+\|\s+(\S+)\s+\|\s+(\d+)\s+\|")


def rows_by_expressions(smi):  # nputop
    lines = smi("info").split("\n")
    assert re.match(r"\|\s+npu-smi\s+([\w.]+)\s+Version:\s+([\w.]+)\s+\|", lines[1]), lines[1]
    known, holders = set(), []
    for at, line in enumerate(lines):
        row = ROW_1.match(line)
        second = ROW_2.match(lines[at + 1]) if row else None
        if second:
            known.add((row[1], second[1] or "0"))
            used, total = re.findall(r"(\d+)\s*/\s*(\d+)", lines[at + 1])[-1]
            assert int(used) <= int(total)
        elif PROCESS.match(line):
            holders.append(PROCESS.match(line))
    assert len(known) == smi.devices, known
    for holder in holders:
        assert (holder[1], holder[2] or "0") in known, holder[0]
    if smi.product not in ("310B", "IPV350"):
        assert [holder[4] for holder in holders] == ["memory_holder"], holders
        assert BLOCK_MB <= int(holders[0][5]) <= BLOCK_MB + 256, holders[0][0]


def line_after_row_1(smi):  # openYuanrong: three forms
    forms = (r"^\|\s+(\d+)\s+\|\s+([0-9A-Fa-f:.]+|NA)\s+\|\s+(\d+)\s+(\d+)\s*/\s*(\d+)\s+(\d+)\s*/\s*(\d+)\s*\|$",
             r"^\|\s+(\d+)\s+(\d+)\s+\|\s+([0-9A-Fa-f:.]+|NA)\s+\|\s+(\d+)\s+(\d+)\s*/\s*(\d+)\s+(\d+)\s*/\s*(\d+)\s*\|$",
             r"^\|\s+(\d+)\s+(\d+)\s+\|\s+([0-9A-Fa-f:.]+|NA)\s+\|\s+(\d+)\s+(\d+)\s*/\s*(\d+)\s*\|$")
    if smi.product == "950":  # newer than these forms
        return
    wanted = forms[2] if not smi.hbm else forms[1] if smi.product == "A3" else forms[0]
    lines = smi("info").split("\n")
    after = [lines[at + 1] for at, line in enumerate(lines) if ROW_1.match(line) and not PROCESS.match(line)]
    assert len(after) == smi.devices and all(re.match(wanted, line) for line in after), after[0]


def tenth_word(smi):  # DIOPI
    lines = [line.split() for line in smi("info").split("\n") if line.count("/") == 2 and "Version" not in line]
    if smi.product in ("A2", "910"):
        assert len(lines) == smi.devices and all(words[9].isdigit() for words in lines), lines[0]


def one_liners(smi):
    assert len(re.findall(r"NPU ID", smi("info", "-l"))) == smi.devices // smi.per_card
    if smi.product in ("A2", "A3"):
        assert len(re.findall(r"\d+(?=\s*/ 65536)", smi("info"))) == smi.devices
    if smi.product not in ("310B", "IPV350"):
        free = len(re.findall("No running processes found", smi("info")))
        assert free == smi.devices // smi.per_card - 1, free
    assert len(re.findall(r"^\| [0-9]+", smi("info"), re.M)) >= smi.devices
    assert int(value(smi("info", "-l"), "Total Count")) == smi.devices // smi.per_card


def process_section(smi):  # vllm-ascend cpu_binding.py
    lines = smi("info").split("\n")
    begin = [at for at, line in enumerate(lines) if line.startswith("| NPU") and "Process id" in line]
    assert len(begin) == (0 if smi.product in ("310B", "IPV350") else 1)
    for at in begin:
        first = " ".join(lines[at].strip("|").split("|")[0].split())
        assert first == ("NPU ID" if smi.product == "950" else "NPU Chip"), first
        pids = [line.split("|")[2].strip() for line in lines[at + 1:] if line.count("|") == 5 and "No running" not in line]
        assert pids == [str(smi.holder)], pids


# --- who reads keys and values -----------------------------------------------------------------------

def kind_of_chip(smi):  # vllm-ascend and LMCache-Ascend setup.py, sgl-kernel-npu build.sh
    card = value(smi("info", "-l"), "NPU ID")
    board = smi("info", "-t", "board", "-i", card)
    if not re.search(r"Chip Name\s*:", board):
        board = smi("info", "-t", "board", "-i", card, "-c", "0")
    assert value(board, "Chip Name") == smi.name, board
    typed, named = re.search(r"Chip Type\s*:", board), re.search(r"NPU Name\s*:", board)
    assert bool(typed) == (smi.product not in ("A3", "950")) and bool(named) == (smi.product in ("A3", "950")), board
    if smi.product in ("A2", "A3", "950"):
        assert re.search(r"^\s*Chip Name\s*:\s*(Ascend950|910B|Ascend910)", board, re.M)
    assert re.search(r"\s{2}Chip Name\s{22}: (\w+)", "  " + board), "the padding of Chip Name"  # MindCluster
    if smi.product == "950":  # triton-ascend
        assert "ascend950" in smi("info", "-m").lower()


def map_of_chips(smi):  # vllm-ascend cpu_binding.py, UCM device.py
    lines = smi("info", "-m").rstrip("\n").split("\n")
    heads = re.split(r"\s{2,}", lines[0].strip())
    assert heads[0] == "NPU ID" and "Chip ID" in heads, heads
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines[1:]]
    assert all(len(row) == len(heads) for row in rows), rows
    chips = [row for row in rows if row[-1] != "Mcu"]
    assert len(chips) == smi.devices, len(chips)
    if smi.product != "950":
        logic = heads.index("Chip Logic ID")
        assert [row[logic] for row in chips] == [str(each) for each in range(smi.devices)]


def cpus_of_devices(smi):
    rows = [line.split() for line in smi("info", "-t", "topo").split("\n") if re.match(r"(NPU|Phy-ID)(\d+)", line)]
    assert len(rows) == smi.devices and all(re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", row[-1]) for row in rows), rows


def bus_of_card(smi):
    board = smi("info", "-t", "board", "-i", "0")
    last = next(line for line in board.split("\n") if "PCIe Bus Info" in line).split()[-1]
    without = re.search(r"PCIeBusInfo:(\S+)", re.sub(r"[ \t]", "", board))[1]  # UCM removes all blanks
    assert last == without and re.fullmatch(r"NA|[0-9A-F]{4}:[0-9A-F]{2}:[0-9A-F]{2}\.\d", last), last
    assert re.search(r"VDie ID\s*:\s*([0-9A-F ]+)", smi("info", "-t", "board", "-i", "0", "-c", "0"))[1].strip()


def health(smi):  # vllm-ascend worker.py
    lines = [line for line in smi("info", "-t", "health", "-i", "0").split("\n") if "Health" in line]
    assert len(lines) == smi.per_card and all(line.rstrip().endswith("OK") for line in lines), lines


def memory_by_rate(smi):  # msit, MindCluster
    text = smi("info", "-t", "usages", "-i", "0", "-c", "0")
    kind = "HBM" if smi.hbm else "DDR"
    capacity, rate = int(value(text, kind + " Capacity(MB)")), int(value(text, kind + " Usage Rate(%)"))
    used, total = map(int, re.findall(r"(\d+)\s*/\s*(\d+)", smi("info").split("\n")[7])[-1])
    assert capacity == total and abs(capacity * rate / 100 - used) <= capacity / 100, (capacity, rate, used)
    if smi.hbm:
        assert re.search(r"HBM Capacity\(MB\)\s{15}: (\d{4,6})", text), "the padding of HBM Capacity"


def refusals(smi):
    assert "Invalid card id." in smi("info", "-t", "board", "-i", "99", code=215)
    assert "Invalid chip id." in smi("info", "-t", "board", "-i", "0", "-c", "9", code=215)
    assert "does not support querying nothing." in smi("info", "-t", "nothing", "-i", "0", code=217)
    smi("info", "-t", "product", "-i", "0", code=217 if smi.product in ("A2", "A3", "950") else 0)
    smi("info", "-d", "2", code=211)  # of watch only
    smi("nothing", code=211)
    smi(code=215)
    assert re.fullmatch(r"npu-smi version: [\w.]+\n", smi("-v"))


KEYS = {  # of the cards with HBM, in their order
    "usages": "DDR Capacity(MB),DDR Usage Rate(%),DDR Hugepages Total(page),DDR Hugepages Usage Rate(%),HBM Capacity(MB),"
              "HBM Usage Rate(%),Aicore Usage Rate(%),Aivector Usage Rate(%),Aicpu Usage Rate(%),Ctrlcpu Usage Rate(%),"
              "DDR Bandwidth Usage Rate(%),HBM Bandwidth Usage Rate(%),NPU Utilization(%),Aicube Usage Rate(%)",
    "memory": "DDR Capacity(MB),DDR Clock Speed(MHz),HBM Capacity(MB),HBM Clock Speed(MHz),HBM Temperature(C),"
              "HBM Manufacturer ID",
    "common": "Memory Usage Rate(%),HBM Usage Rate(%),Aicore Usage Rate(%),Aicore Freq(MHZ),Aicore curFreq(MHZ),"
              "Aicore Count,Temperature(C),NPU Real-time Power(W)",
    "health": "Health Status,Error Code,Error Information", "temp": "NPU Temperature (C)", "power": "NPU Real-time Power(W)",
    "ecc": ",".join("HBM %s Bit %s" % (bits, what) for what in ("Error Count", "Aggregate Total Err Cnt", "Isolated Pages Count",
                                                              "Next-Isolated Pages Count") for bits in ("Single", "Double"))}


def keys_in_order(smi):
    if smi.product not in ("A2", "A3"):
        return
    for kind, keys in KEYS.items():
        width = 40 if kind == "ecc" else 30
        for more, around in ((("-c", "0"), False), ((), True)):
            found = [line[1:width + 1].rstrip() for line in smi("info", "-t", kind, "-i", "0", *more).split("\n") if line]
            wanted = keys.split(",")
            if around:  # the number of a chip comes behind its fields, but for common
                chip = ["Chip ID", *wanted] if kind == "common" else [*wanted, "Chip ID"]
                wanted = ["NPU ID", "Chip Count", *(chip * smi.per_card)]
            found = [each.split(" : ")[0].rstrip() for each in found]
            assert found == wanted, (kind, more, found)
    text = smi("info", "-t", "proc-mem", "-i", "0", "-c", "0")
    assert re.fullmatch(r"\tProcess id:%-7d Process name:memory_holder {5}Process memory\(MB\):\d+\n" % smi.holder, text), text
    assert smi("info", "-t", "proc-mem", "-i", "1", "-c", "0") == "\tNo process in device.\n"


def watched(smi):  # a heading, then a row for each chip again and again; options in any order
    with subprocess.Popen([os.path.join(FOLDER, "npu-smi"), "info", "-s", "pm", "-d", "1", "watch", "-i", "0"],
                          env=smi.environment, text=True, stdout=subprocess.PIPE) as running:
        lines = [running.stdout.readline() for _ in range(1 + smi.per_card)]
        running.kill()
    assert re.split(r"\s{2,}", lines[0].strip()) == ["NpuID(Idx)", "ChipId(Idx)", "Pwr(W)", "Memory(%)"], lines[0]
    assert lines[0].index("Memory(%)") == 39, lines[0]
    for chip, line in enumerate(lines[1:]):
        assert re.fullmatch(r"0 {12}%d {12}(NA|[\d.]+) +\d+\n" % chip, line), line


PARSERS = (third_word_of_line_7, blocks_of_three, rows_by_expressions, line_after_row_1, tenth_word, one_liners,
           process_section, kind_of_chip, map_of_chips, cpus_of_devices, bus_of_card, health, memory_by_rate)
OTHERS = (refusals, keys_in_order, watched)  # what the tool's own pages say


def must_notice(smi):
    """The readers of the table find what is wrong with it."""
    good = smi.kept[("info",)]
    lines = good[0].split("\n")
    for parser, bad in ((third_word_of_line_7, ["", *lines]), (blocks_of_three, [lines[0] + " ", *lines[1:]]),
                        (rows_by_expressions, lines[:7] + lines[8:]), (process_section, lines[:20])):
        smi.kept[("info",)] = "\n".join(bad), 0
        try:
            parser(smi)
            failures.append("%s does not notice a spoilt table" % parser.__name__)
        except (AssertionError, IndexError):
            pass
    smi.kept[("info",)] = good


def main():
    for product in PRODUCTS:
        with tempfile.TemporaryDirectory() as machines:
            smi = Tool(product, machines, 0)
            listed = json.loads(subprocess.run([os.path.join(FOLDER, "belay"), "smi", "--json"], env=smi.environment,
                                               check=True, stdout=subprocess.PIPE).stdout)
            smi.devices = len(listed["devices"])
            holder = subprocess.Popen([HOLDER, "0", "0", str(BLOCK_MB << 20)], env=smi.environment, text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert holder.stdout.readline().startswith("ready")
            smi.holder = holder.pid
            for parser in (*PARSERS, *OTHERS):
                try:
                    parser(smi)
                except Exception as error:
                    failures.append("%s on %s: %r" % (parser.__name__, product, error))
            if product == "A2":
                must_notice(smi)
            holder.communicate("")
    for failure in failures:
        print("FAILED:", failure)
    print("%d parsers on %d products" % (len(PARSERS), len(PRODUCTS)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
