"""`belay smi --shares`: what processes gave to each other, as real processes made it (V-215 to V-435, R-188, R-211)."""

import json
import os
import subprocess
import uuid

import pytest

import acl
from actors import actors

MiB = 1 << 20
BELAY = os.path.join(os.path.dirname(acl.__file__), "..", "..", "bin", "belay")
ON_DEVICE = {"memAttr": 13, "location": {"id": 0, "type": 1}}


@pytest.fixture
def machine(monkeypatch):
    """A machine that the processes of one test share."""
    name = "pytest-" + uuid.uuid4().hex[:12]
    monkeypatch.setenv("BELAY_MACHINE", name)
    monkeypatch.setenv("BELAY_HBM", "4G")
    yield name
    subprocess.run([BELAY, "machine", "rm", name], capture_output=True, check=False)


def smi(*options):
    done = subprocess.run([BELAY, "smi", "--shares", *options], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def shares(*options):
    return json.loads(smi("--json", *options))["shares"]


def pids(people):
    return [each["pid"] for each in people]


def key_of(actor, size, flags):
    block = actor.ok("malloc", size, 0)
    return block, actor.ok("ipc_mem_get_export_key", block, size, 65, flags)


def test_nobody_shares_anything(machine):
    assert shares() == []
    with actors(1):
        assert shares() == []
        assert "Nothing is shared" in smi()
        assert max(map(len, smi().splitlines())) <= 100


def test_v382_v398_v409_a_key_from_export_to_close(machine):
    with actors(3) as (exporter, importer, other):
        _, key = key_of(exporter, 2 * MiB, 0)
        (share,) = shares()
        assert (share["kind"], share["device"], share["bytes"]) == ("key", 0, 2 * MiB)
        assert share["exporter"]["pid"] == exporter.pid and share["exporter"]["name"].startswith("python")
        assert share["exporter_lives"] and share["importable"] and share["checks_pids"]
        assert share["may_import"] == [] == share["importers"] and share["dangles"] is None
        assert share["charged_to"]["pid"] == exporter.pid

        exporter.ok("ipc_mem_set_import_pid", key, [importer.pid, other.pid])
        assert shares()[0]["may_import"] == sorted([importer.pid, other.pid]) == shares()[0]["not_there"]
        importer.ok("ipc_mem_import_by_key", key, 0)
        (share,) = shares()
        assert pids(share["importers"]) == [importer.pid] and share["not_there"] == [other.pid]
        assert "1 not there" in smi() and "may be imported by %d" % other.pid in smi()

        importer.ok("ipc_mem_close", key)
        assert shares()[0]["importers"] == []
        exporter.ok("ipc_mem_close", key)
        assert shares() == []


@pytest.mark.parametrize("how", ["closed", "freed", "killed"])
def test_v433_a_revoked_key_dangles(machine, how):
    with actors(2) as (exporter, importer):
        block, key = key_of(exporter, MiB, 1)
        theirs = importer.ok("ipc_mem_import_by_key", key, 0)
        if how == "closed":
            exporter.ok("ipc_mem_close", key)
        elif how == "freed":
            exporter.ok("free", block)
        else:
            exporter.kill()
        (share,) = shares()
        assert share["kind"] == "key" and share["dangles"] == "revoked" and not share["importable"]
        assert share["exporter"]["pid"] == exporter.pid and share["exporter_lives"] == (how != "killed")
        assert pids(share["importers"]) == [importer.pid] and share["bytes"] >= MiB
        text = smi()
        assert "revoked: " in text and "return 507899" in text and str(importer.pid) in text
        assert importer.read(theirs, 16) == 507899
        importer.ok("ipc_mem_close", key)
        assert shares() == []


def test_v251_a_handle_outlives_its_exporter(machine):
    with actors(3) as (exporter, importer, late):
        handle = exporter.ok("malloc_physical", 2 * MiB, ON_DEVICE, 0)
        value = exporter.ok("mem_export_to_shareable_handle", handle, 0, 1)
        (share,) = shares()
        assert share["kind"] == "handle" and share["bytes"] == 2 * MiB and not share["checks_pids"]
        importer.ok("mem_import_from_shareable_handle", value, 0)
        exporter.kill()
        (share,) = shares()
        assert share["dangles"] == "exporter gone" and not share["exporter_lives"]
        assert share["exporter"]["pid"] == exporter.pid and pids(share["importers"]) == [importer.pid]
        assert "exporter gone: 2 MB by handle on device 0, exported by %d." % exporter.pid in smi()
        late.ok("mem_import_from_shareable_handle", value, 0)
        assert pids(shares()[0]["importers"]) == sorted([importer.pid, late.pid])
        for each in (importer, late):
            assert each.end() == 0
        assert shares() == []


def test_r211_a_notify_and_who_waits_for_it(machine):
    with actors(2) as (maker, waiter):
        notify = maker.ok("create_notify", 0)
        key = maker.ok("notify_get_export_key", notify, 65, 0)
        maker.ok("notify_set_import_pid", notify, [waiter.pid])
        (share,) = shares()
        assert share["kind"] == "notify" and share["bytes"] is None and share["not_there"] == [waiter.pid]
        waiter.ok("notify_import_by_key", key, 0)
        (share,) = shares()
        assert pids(share["importers"]) == [waiter.pid] and share["not_there"] == []
        maker.kill()
        (share,) = shares()
        assert share["kind"] == "notify" and share["dangles"] == "exporter gone"
        assert "507022" in smi()


def test_no_secret_is_shown(machine):
    with actors(2) as (exporter, importer):
        _, key = key_of(exporter, MiB, 1)
        importer.ok("ipc_mem_import_by_key", key, 0)
        handle = exporter.ok("malloc_physical", 2 * MiB, ON_DEVICE, 0)
        value = exporter.ok("mem_export_to_shareable_handle", handle, 0, 1)
        notify = exporter.ok("create_notify", 0)
        other = exporter.ok("notify_get_export_key", notify, 65, 2)
        shown = smi() + smi("--json")
        assert len(shares()) == 3
        for text in (key, other):
            for at in range(len(text) - 7):
                assert text[at : at + 8] not in shown
        assert str(value) not in shown and "%x" % value not in shown and "%016x" % value not in shown


def test_one_device_of_several(machine):
    with actors(1) as (exporter,):
        key_of(exporter, MiB, 1)
        exporter.ok("set_device", 1)
        key_of(exporter, 2 * MiB, 1)
        assert [(each["device"], each["bytes"]) for each in shares()] == [(0, MiB), (1, 2 * MiB)]
        assert [each["bytes"] for each in shares("--device", "1")] == [2 * MiB]


def test_v389_a_key_over_several_mappings_is_one_row(machine):
    with actors(2) as (exporter, importer):
        start = exporter.ok("reserve_mem_address", 4 * MiB, 0, 0, 0)
        for at in (0, 2 * MiB):
            handle = exporter.ok("malloc_physical", 2 * MiB, ON_DEVICE, 0)
            exporter.ok("map_mem", start + at, 2 * MiB, 0, handle, 0)
        key = exporter.ok("ipc_mem_get_export_key", start, 4 * MiB, 65, 1)
        importer.ok("ipc_mem_import_by_key", key, 0)
        (share,) = shares()
        assert share["bytes"] == 4 * MiB and pids(share["importers"]) == [importer.pid]
        exporter.ok("ipc_mem_close", key)
        assert {each["dangles"] for each in shares()} == {"revoked"}
        importer.ok("ipc_mem_close", key)
        assert shares() == []
