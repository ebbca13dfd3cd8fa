"""Reads traces as docs/trace-format.md describes them, and nothing else: what belay's own reader is held against."""

import struct

UNIT = 16384
BLOCK_OBJECTS = {1: "device", 2: "host", 10: "device", 11: "host"}


class Source:
    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return self.at < len(self.data)

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value & (2**64 - 1)
            shift += 7

    def signed(self):
        folded = self.number()
        return folded >> 1 if folded % 2 == 0 else -(folded >> 1) - 1

    def near(self, before):
        code = self.number()
        if code == 0:
            return self.number()
        folded = code >> 1
        step = folded >> 1 if folded % 2 == 0 else -(folded >> 1) - 1
        return (before + step * (4096 if code % 2 else 1)) % 2**64

    def text(self):
        length = self.number()
        self.at += length
        return self.data[self.at - length:self.at].decode("utf-8", "replace")


def likely_pages(size, shift):
    page = 1 << max(shift, 12)
    return -(-((size + 31) // 32 * 32 + 32) // page) * page // 4096


class Process:
    def __init__(self, data):
        (self.pid, self.parent, self.start, self.began, self.ended) = struct.unpack_from("<iiQQQ", data, 0)
        self.name, self.soc = (data[at:at + 32].split(b"\0")[0].decode() for at in (32, 64))
        self.devices = struct.unpack_from("<I", data, 192)[0]
        self.lost, self.thinnings = struct.unpack_from("<QQ", data, 776)
        # place -> page -> made, bytes, freed, bytes, charged, returned
        self.omitted = {(place, page): struct.unpack_from("<6Q", data, 1816 + (place * 3 + page) * 48)
                        for place in range(65) for page in range(3)}
        self.omitted_moves = [struct.unpack_from("<QQ", data, 11176 + 16 * way) for way in range(5)]
        self.omitted_events = struct.unpack_from("<32Q", data, 11256)
        self.texts, self.shapes, self.sites, self.records, self.rings = [""], [], {}, [], []


class Trace:
    """All processes of a trace, each with its records in the order of time."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = data = file.read()
        assert data[:8] == b"belaytrc", "no trace"
        assert struct.unpack_from("<II", data, 8) == (1, UNIT)
        self.processes, chunks = {}, []
        at = UNIT
        while at + 64 <= len(data):
            magic, kind, process, lane, sequence, units, time, used = struct.unpack_from("<4sB3xIIIIQQ", data, at)
            if magic != b"BCHK":
                at += UNIT
                continue
            chunks.append((kind, process, lane, sequence, time, data[at + 64:at + 64 + used]))
            if kind == 1:
                self.processes[process] = Process(data[at + 64:at + 64 + used])
            at += units * UNIT
        for kind, process, lane, sequence, time, payload in sorted(chunks, key=lambda each: each[:4]):
            if process not in self.processes:
                continue
            if kind == 2:
                self._define(self.processes[process], Source(payload))
        for kind, process, lane, sequence, time, payload in sorted(chunks, key=lambda each: each[1:4]):
            if kind == 3:
                self._read(self.processes[process], Source(payload), time, lane)
            if kind == 4 and payload:
                self.processes[process].rings.append(payload)
        for process in self.processes.values():
            process.records.sort(key=lambda record: (record["time"], record["lane"]))

    @staticmethod
    def _define(process, source):
        while source.left():
            what = source.number()
            if what == 1:
                process.texts.append(source.text())
            elif what == 2:
                source.number(), source.number()
            elif what == 3:
                number, function = source.number(), source.number()
                frames = []
                for _ in range(source.number()):
                    kind = source.number()
                    if kind:
                        frames.append((kind - 1, source.number()))
                    else:
                        frames.append((process.texts[source.number()], process.texts[source.number()], source.number()))
                process.sites[number] = (process.texts[function], frames)
            elif what == 4:
                word = struct.pack("<Q", source.number())
                site, function, fields = source.number(), source.number(), source.number()
                process.shapes.append((word, site, function, fields))
            else:
                raise AssertionError(f"definition {what}")

    @staticmethod
    def _read(process, source, time, lane):
        serial = address = stream = position = extent = host = thread = 0
        while source.left():
            head = source.number()
            if head == 1:
                thread = source.number()
                continue
            time += source.number()
            if head == 2:
                figures = [[source.number() for _ in range(8)] for _ in range(source.number())]
                process.records.append({"time": time, "lane": lane, "what": "figures", "figures": figures})
                continue
            word, site, function, fields = process.shapes[head - 16]
            record = {"time": time, "lane": lane, "thread": thread, "what": word[0], "actor": word[1], "object": word[2],
                      "operation": word[3], "shift": word[4], "device": word[6], "flags": word[7], "site": site,
                      "function": process.texts[function], "bytes": 0, "pages": 0, "moved": [0] * 4}
            if fields & 1:
                serial = record["serial"] = (serial + source.signed()) % 2**64
            if fields & 2:
                address = record["address"] = source.near(address)
            if fields & 4:
                record["bytes"] = source.number()
            if fields & 8:
                record["pages"] = likely_pages(record["bytes"], word[4]) + source.signed()
            if fields & 16:
                record["outcome"] = source.signed()
            if fields & 32:
                stream = record["stream"] = (stream + source.signed()) % 2**64
            if fields & 64:
                position = record["position"] = (position + source.signed()) % 2**64
            for bit, name in ((7, "record"), (8, "other"), (9, "value")):
                if fields >> bit & 1:
                    record[name] = source.number()
            if fields >> 10 & 1:
                record["caller"] = source.number(), source.number()
            if fields >> 11 & 1:
                record["rule"] = process.texts[source.number()]
            if fields >> 12 & 1:
                record["flag"] = source.number()
            if fields >> 13 & 1:
                ways = source.number()
                record["moved"] = [source.number() if ways >> way & 1 else 0 for way in range(4)]
            if fields >> 14 & 1:
                parts = []
                for _ in range(source.number()):
                    bits = source.number()
                    if bits & 16:
                        extent = (extent + source.signed()) % 2**64
                        offset = source.number()
                    else:
                        offset = host = source.near(host)
                    size = record["bytes"] if bits & 8 else source.number()
                    rows = 1
                    if bits & 4:
                        rows, _ = source.number(), source.number()
                    parts.append((bits & 1, bits & 2, extent if bits & 16 else 0, offset, size * rows))
                left_out = source.number()
                if not left_out and not any(record["moved"]):
                    for to, origin in zip(parts[::2], parts[1::2]):
                        if to[1] and not origin[1]:
                            record["moved"][2 * origin[0] + to[0]] += to[4]
                record["parts"] = parts
            if fields >> 15 & 1:
                record["text"] = source.text()
            process.records.append(record)


def totals(process):
    """What stats must say: by device (or "host") made, freed, bytes; copies by way; failed calls."""
    places, moved, fills, failed = {}, [[0, 0] for _ in range(4)], [0, 0], {}

    def place(name):
        return places.setdefault(name, {"made": 0, "bytes": 0, "freed": 0, "swept": 0, "charged": 0, "returned": 0,
                                        "used": 0, "peak": 0})

    for record in process.records:
        what = record["what"]
        if what in (0, 1) and record["object"] in BLOCK_OBJECTS:
            on = place("host" if BLOCK_OBJECTS[record["object"]] == "host" else record["device"])
            charged = record["pages"] * 4096
            if what == 0:
                on["made"] += 1
                on["bytes"] += record["bytes"]
                on["charged"] += charged
                on["used"] += charged
                on["peak"] = max(on["peak"], on["used"])
            else:
                on["swept" if record["flags"] & 8 else "freed"] += 1
                on["returned"] += charged
                on["used"] -= charged
        done = what == 6
        if what == 2 or (done and 1 <= record["operation"] <= 6):
            for way in range(4):
                if record["moved"][way]:
                    moved[way][0] += 1
                    moved[way][1] += record["moved"][way]
        elif what == 3 or (done and record["operation"] == 7):
            fills[0] += 1
            fills[1] += record["bytes"]
        elif what == 16:
            key = record["function"], record["outcome"]
            failed[key] = failed.get(key, 0) + 1
    for (number, _), (made, size, freed, _, charged, returned) in process.omitted.items():
        if made or freed:
            on = place("host" if number == 64 else number)
            on["made"] += made
            on["bytes"] += size
            on["freed"] += freed
            on["charged"] += charged
            on["returned"] += returned
    for way, (times, size) in enumerate(process.omitted_moves[:4]):
        moved[way][0] += times
        moved[way][1] += size
    fills[0] += process.omitted_moves[4][0]
    fills[1] += process.omitted_moves[4][1]
    return places, moved, fills, failed
