"""Traces from Python: belay.trace, belay.range, belay.label."""

import os
import sys

import pytest

import belay

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "integration"))
import trace_parser


def only_process(path):
    (process,) = trace_parser.Trace(path).processes.values()
    return process


def test_a_part_of_a_program(belay_device, tmp_path):
    path = tmp_path / "part.trace"
    before = belay.malloc(5000)
    with belay.trace(path):
        with belay.range("forward"), belay.malloc(3_000_000) as block:
            belay.label(block, "activations")
            block.fill(7)
        before.free()
    with belay.malloc(1000):  # not in it
        pass
    process = only_process(path)
    blocks = [(each["what"], each["bytes"]) for each in process.records if each["what"] in (0, 1)]
    assert blocks == [(0, 5000), (0, 3_000_000), (1, 3_000_000), (1, 5000)]
    assert [each["text"] for each in process.records if each["what"] == 19] == ["forward"]
    labelled = [each for each in process.records if each["what"] == 21]
    assert [each["text"] for each in labelled] == ["activations"]
    assert labelled[0]["serial"] == [each["serial"] for each in process.records if each["what"] == 0][1]
    assert process.ended != 0
    assert sum(1 for each in process.records if each["what"] == 3) == 1


def test_again_and_elsewhere(belay_device, tmp_path):
    path = tmp_path / "a.trace"
    for size in (1000, 2000):
        with belay.trace(path), belay.malloc(size):
            pass
        assert {each["bytes"] for each in only_process(path).records if each["what"] == 0} == {size}
    with belay.trace(path), pytest.raises(belay.Error, match="traced already"), belay.trace(tmp_path / "b.trace"):
        pass
    letter = tmp_path / "letter"
    letter.write_text("dear reader")
    with pytest.raises(belay.Error, match="is no trace"), belay.trace(letter):
        pass
    assert letter.read_text() == "dear reader"


def test_names_without_a_trace(belay_device):
    with belay.range("nothing"), belay.malloc(10) as block:
        belay.label(block, "nothing")
    with pytest.raises(ValueError, match="no block"):
        belay.label(12345, "nothing")
