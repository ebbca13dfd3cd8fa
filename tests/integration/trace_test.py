"""Traces of programs that do things at random: what they say they did, what an independent reader of the file finds,
what `belay stats` says, and what belay's functions say, is the same; however the programs end.

Usage: trace_test.py <belay> <trace_probe> [seed]
"""

import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import trace_parser

BELAY, PROBE = (os.path.abspath(path) for path in sys.argv[1:3])
SEED = (int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time()) % 1_000_000) // 2 * 2
WAYS = ["host to host", "host to device", "device to host", "device to device"]


class Traces(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.folder.name, "run.trace")
        self.addCleanup(self.folder.cleanup)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("BELAY_")}
        self.environment |= {"BELAY_MACHINE": "private", "BELAY_LEAKS": "off", "BELAY_HBM": "4G"}

    def belay(self, *words, code=0):
        done = subprocess.run([BELAY, *words], env=self.environment, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def run_traced(self, *words, code=0, trace=None):
        out = self.belay("run", "-q", "--trace", trace or self.file, "--", PROBE, *map(str, words), code=code)
        return {line["process"]: line for line in map(json.loads, out.splitlines())}

    def stats(self, file=None):
        return json.loads(self.belay("stats", "--json", "--top", "1000", file or self.file))

    def compare(self, told, has_rings=False):
        """Of each process: what it said, what the parser finds, what stats says."""
        trace, stats = trace_parser.Trace(self.file), self.stats()
        by_pid = {each["process"]: each for each in stats["processes"]}
        self.assertEqual(len(by_pid), len(stats["processes"]))
        for process in trace.processes.values():
            places, moved, fills, failed = trace_parser.totals(process)
            entry = by_pid[process.pid]
            if not process.rings and not has_rings:
                for place in entry["places"]:
                    mine = places[place["place"]]
                    self.assertEqual(place["allocated"], {"times": mine["made"], "bytes": mine["bytes"]})
                    self.assertEqual(place["freed"]["times"], mine["freed"])
                    self.assertEqual(place["charged_bytes"], mine["charged"])
                    self.assertEqual(place["returned_bytes"], mine["returned"])
                    self.assertEqual(place["peak_bytes"], mine["peak"])
            for way, name in enumerate(WAYS):
                self.assertEqual(entry["copied"][name], {"times": moved[way][0], "bytes": moved[way][1]})
            self.assertEqual(entry["filled"], {"times": fills[0], "bytes": fills[1]})
            self.assertEqual({(each["function"], each["code"]): each["times"] for each in entry["failed_calls"]}, failed)
            if process.pid in told:
                said = told[process.pid]
                device = next(place for place in entry["places"] if place["place"] == 0)
                self.assertEqual(device["allocated"], {"times": said["made"], "bytes": said["bytes"]})
                self.assertEqual(device["freed"]["times"], said["freed"])
                self.assertEqual(entry["copied"]["host to device"]["bytes"], said["to_device"])
                self.assertEqual(entry["copied"]["device to host"]["bytes"], said["to_host"])
                self.assertEqual(entry["filled"]["bytes"], said["filled"])
                self.assertEqual(sum(each["times"] for each in entry["failed_calls"]), said["failed"])
                self.assertEqual(device["charged_bytes"] - device["returned_bytes"],
                                 said["used"] if not device["freed_with_device"]["times"] else 0)
                self.assertEqual(sum(each["bytes"] for each in device["never_freed"]), said["used"])
        self.assertLessEqual(set(told), set(by_pid))
        return trace, stats

    def test_what_a_program_did(self):
        for seed in range(SEED, SEED + 4):
            _, stats = self.compare(self.run_traced(seed, 3000))
            place = stats["processes"][0]["places"][0]
            self.assertTrue(stats["processes"][0]["ended"])
            self.assertEqual(place["peak_bytes"], place["peak_bytes_told"])
            self.assertTrue(any("grow" in each["where"] and "trace_probe.cpp" in each["where"]
                                for each in place["holders_at_peak"]), place["holders_at_peak"])
            self.assertEqual(sum(each["bytes"] for each in place["holders_at_peak"]), place["peak_bytes"])
            self.assertEqual(stats["remarks"], [])

    def test_bytes_of_an_event(self):
        self.run_traced(SEED, 200_000)
        stats = self.stats()
        self.assertLess(stats["bytes"] / stats["events"], 20)

    def test_several_threads(self):
        trace, _ = self.compare(self.run_traced(SEED, 2000, "threads", 4))
        for process in trace.processes.values():  # what a thread tells is in its order
            for thread in {record["thread"] for record in process.records if "thread" in record}:
                alive = set()
                for record in process.records:
                    if record.get("thread") != thread or record["what"] not in (0, 1) or record["object"] != 1:
                        continue
                    if record["what"] == 0:
                        alive.add(record["serial"])
                    else:
                        alive.discard(record["serial"])

    def test_several_processes(self):
        told = self.run_traced(SEED, 1500, "children", 3, "threads", 2)
        self.assertEqual(len(told), 4)
        self.compare(told)

    def test_killed(self):
        for words in (["kill"], ["kill", "threads", 3], ["_exit"]):
            for steps in (1, 17, 300, 2500):
                told = self.run_traced(SEED, steps, *words, code=-9 if "kill" in words else 0)
                trace, stats = self.compare(told)
                self.assertFalse(stats["processes"][0]["ended"])

    def test_killed_without_belay_run(self):
        """The rings are in the file itself."""
        self.environment |= {"BELAY_TRACE": self.file, "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}
        done = subprocess.run([PROBE, str(SEED), "2000", "kill", "threads", "2"], env=self.environment, text=True,
                              stdout=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, -9)
        said = json.loads(done.stdout)
        self.compare({said["process"]: said}, has_rings=True)

    def test_killed_at_any_moment(self):
        """Whatever is there is whole, and grows."""
        environment = self.environment | {"BELAY_TRACE": self.file}
        for pause in (0.02, 0.1, 0.3):
            program = subprocess.Popen([PROBE, str(SEED), "100000000"], env=environment)
            deadline = time.monotonic() + 60
            while not os.path.exists(self.file) or os.path.getsize(self.file) < 200_000 + pause * 1e6:
                self.assertLess(time.monotonic(), deadline)
                os.sched_yield()
            program.kill()
            program.wait()
            stats = self.stats()
            self.assertEqual(stats["remarks"], [])
            self.assertGreater(stats["events"], 1000)
            os.remove(self.file)

    def test_bounded(self):
        told = self.run_traced(SEED, 300_000, trace=self.file + ",limit=1M")
        self.assertLessEqual(os.path.getsize(self.file), 1 << 20)
        stats = self.stats()
        self.assertTrue(stats["processes"][0]["thinned"])
        self.assertIn("not every event was written down", stats["remarks"][0])
        said, = told.values()
        place = stats["processes"][0]["places"][0]
        self.assertEqual(place["allocated"], {"times": said["made"], "bytes": said["bytes"]})
        self.assertEqual(place["freed"]["times"] + place["freed_with_device"]["times"], said["freed"])
        self.assertEqual(stats["processes"][0]["copied"]["host to device"]["bytes"], said["to_device"])
        self.assertEqual(stats["processes"][0]["filled"]["bytes"], said["filled"])
        places, _, _, _ = trace_parser.totals(trace_parser.Trace(self.file).processes[0])
        self.assertEqual(places[0]["made"], said["made"])

    def test_diff(self):
        other = os.path.join(self.folder.name, "other.trace")
        self.run_traced(SEED + 1, 1000)  # of an odd seed, it frees nothing in the end
        self.run_traced(SEED + 1, 1000, trace=other)
        self.assertIn("ask for the same", self.belay("diff", self.file, other))
        self.run_traced(SEED + 1, 1001 + 64, trace=other)
        found = json.loads(self.belay("diff", "--json", self.file, other, code=1))
        self.assertIsNone(found["first_divergence"]["before"])
        self.run_traced(SEED, 1000, trace=other)
        found = json.loads(self.belay("diff", "--json", self.file, other, code=1))
        self.assertNotEqual(found["first_divergence"]["before"], found["first_divergence"]["after"])

    def test_replay(self):
        self.run_traced(SEED, 3000)
        peak = self.stats()["processes"][0]["places"][0]["peak_bytes"]
        same = json.loads(self.belay("replay", "--json", self.file))
        self.assertEqual(same["devices"], [{"device": 0, "peak_bytes": peak,
                                            "asked_bytes_at_peak": same["devices"][0]["asked_bytes_at_peak"]}])
        enough = -(-peak // (2 << 20)) * (2 << 20)
        self.belay("replay", self.file, "--hbm", str(enough))
        small = json.loads(self.belay("replay", "--json", self.file, "--hbm", str(enough // (4 << 20) * (2 << 20)), code=1))
        self.assertGreater(small["misfits"], 0)
        self.assertIn("trace_probe.cpp", small["first_misfit"]["where"])
        self.assertLess(json.loads(self.belay("replay", "--json", self.file, "--policy", "NORMAL_ONLY"))
                        ["devices"][0]["peak_bytes"], peak)
        self.belay("replay", self.file, "--all-products")

    def test_export(self):
        self.run_traced(SEED, 2000, "threads", 2)
        place = self.stats()["processes"][0]["places"][0]
        events = json.loads(self.belay("export", self.file, "--to", "chrome"))["traceEvents"]
        self.assertEqual(max(each["args"]["bytes"] for each in events
                             if each["ph"] == "C" and each["name"] == "memory of device 0"), place["peak_bytes"])
        rows = list(csv.DictReader(io.StringIO(self.belay("export", self.file, "--to", "csv"))))
        self.assertEqual(sum(1 for row in rows if row["event"] == "allocated" and row["object"] == "block"),
                         place["allocated"]["times"])
        self.assertEqual(sum(int(row["bytes"]) for row in rows if row["event"] == "allocated" and row["object"] == "block"),
                         place["allocated"]["bytes"])
        text = self.belay("export", self.file, "--to", "msmemscope")
        self.assertEqual(text.splitlines()[0], "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,"
                                               "Attr,Call Stack(Python),Call Stack(C)")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(sum(1 for row in rows if (row["Event"], row["Event Type"]) == ("MALLOC", "HAL")),
                         place["allocated"]["times"])
        self.assertTrue(all(len(row["Ptr"]) == 18 and row["Attr"][0] == "{" for row in rows if row["Event"] == "FREE"))

    def test_files_that_are_none(self):
        for words in (["stats"], ["replay"], ["diff", PROBE], ["export", "--to", "csv"]):
            self.belay(*words, os.path.join(self.folder.name, "nothing"), code=2)
            self.belay(*words, PROBE, code=2)
            self.belay(*words, self.folder.name, code=2)
        self.belay("run", "--trace", PROBE, "--", PROBE, "1", "1", code=2)
        self.belay("run", "--trace", self.file + ",limit=1", "--", PROBE, "1", "1", code=2)

    def test_cut_off(self):
        self.run_traced(SEED, 20_000)
        with open(self.file, "rb") as file:
            whole = file.read()
        events = self.stats()["events"]
        for length in range(16384, len(whole), len(whole) // 7):
            with open(self.file, "wb") as file:
                file.write(whole[:length])
            self.assertLessEqual(self.stats()["events"], events)


if __name__ == "__main__":
    print("seed", SEED, file=sys.stderr)
    unittest.main(argv=sys.argv[:1])
