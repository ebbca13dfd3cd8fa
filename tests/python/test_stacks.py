"""Which lines of Python a message names, with BELAY_STACKS: those of the call, and those where the block was made and
freed. M-111 is the mistake that most of them make: a block is freed twice."""

import re

import pytest

from programs import Program
from slices import slice_of
from test_fork import SANITIZER


@pytest.fixture
def program(tmp_path):
    return lambda code, **how: Program(tmp_path, code, **how)


def expect(message, program, parts):
    assert message.parts == [(name, program.places(*places)) for name, places in parts.items()], message.text


TWICE = """
def make():
    return acl.rt.malloc(64, 0)[0]  # makes

def give(block):
    return acl.rt.free(block)  # frees

block = make()  # begin
assert give(block) == 0  # once
assert give(block) == 107000  # twice
tell()
"""


def test_m111_a_second_free_names_the_lines_of_all_three_calls(program):
    made = program(TWICE)
    (message,) = made.run()
    expect(message, made, {"call": ["give: frees", "<module>: twice"], "made": ["make: makes", "<module>: begin"],
                           "freed": ["give: frees", "<module>: once"]})
    assert " at " not in re.sub(r" +at .+ \(program\.py:\d+\)", "", message.text), "frames of the interpreter"


@pytest.mark.parametrize("frames", [1, 2, 32])
def test_m111_as_many_frames_as_are_asked_for(program, frames):
    made = program("""
        def down(block, depth):
            return down(block, depth - 1) if depth else acl.rt.free(block)  # down

        block, ret = acl.rt.malloc(64, 0)
        assert down(block, 40) == 0  # outermost
        assert down(block, 40) == 107000
        tell()
        """)
    (message,) = made.run(stacks=frames)
    assert [len(places) for _, places in message.parts] == [frames, 1, frames], message.text
    assert set(message.parts[0][1]) == set(made.places("down: down"))


def test_m111_without_stacks_there_is_none(program):
    (message,) = program(TWICE).run(stacks="off")
    assert message.parts == [] and "    at " not in message.text and "program.py" not in message.text, message.text


KINDS = {
    "method": ("""
        class Pool:
            def give(self, block):
                return acl.rt.free(block)  # frees

        pool = Pool()
        give = pool.give
        """, ["Pool.give: frees"]),
    "class and static method": ("""
        class Pool:
            class Inner:
                @classmethod
                def give(cls, block):
                    return cls.really(block)  # passes on

                @staticmethod
                def really(block):
                    return acl.rt.free(block)  # frees

        give = Pool.Inner.give
        """, ["Pool.Inner.really: frees", "Pool.Inner.give: passes on"]),
    "nested function": ("""
        def outer():
            def inner(block):
                return acl.rt.free(block)  # frees
            return inner

        give = outer()
        """, ["outer.<locals>.inner: frees"]),
    "lambda": ("""
        give = lambda block: acl.rt.free(block)  # frees
        """, ["<lambda>: frees"]),
    "generator": ("""
        def freeing():
            ret = None
            while True:
                block = yield ret
                ret = acl.rt.free(block)  # frees

        def through(it):
            yield from it  # passes on

        it = through(freeing())
        next(it)
        give = it.send
        """, ["freeing: frees", "through: passes on"]),
    "coroutine": ("""
        async def inner(block):
            return acl.rt.free(block)  # frees

        async def outer(block):
            return await inner(block)  # awaits

        def give(block):
            try:
                outer(block).send(None)  # sends
            except StopIteration as end:
                return end.value
        """, ["inner: frees", "outer: awaits", "give: sends"]),
    "over several lines": ("""
        def give(block):
            return acl.rt.free(  # frees
                block
            )
        """, ["give: frees"]),
    "through code of C": ("""
        def give(block):
            return list(map(acl.rt.free, [block]))[0]  # frees
        """, ["give: frees"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_m111_functions_of_every_kind(program, kind):
    code, places = KINDS[kind]
    made = program(code.replace("\n        ", "\n") + """
block, ret = acl.rt.malloc(64, 0)  # makes
assert give(block) == 0  # once
assert give(block) == 107000  # twice
tell()
""")
    (message,) = made.run()
    expect(message, made, {"call": [*places, "<module>: twice"], "made": ["<module>: makes"],
                           "freed": [*places, "<module>: once"]})


def test_m239_a_call_that_lets_other_threads_run_names_its_lines(program):
    made = program("""
        size = 1 << 20
        block, ret = acl.rt.malloc(size, 0)  # makes
        host, ret = acl.rt.malloc_host(size)

        def copy():
            return acl.rt.memcpy(host, size, block, size, 2)  # copies

        assert copy() == 0
        assert acl.rt.free(block) == 0  # frees
        assert copy() == 507899  # too late
        tell()
        """)
    (message,) = made.run()
    expect(message, made, {"call": ["copy: copies", "<module>: too late"], "made": ["<module>: makes"],
                           "freed": ["<module>: frees"]})


def test_r53_the_first_call_of_a_process_names_its_lines(program):
    made = program("""
        import acl

        def start():
            return acl.rt.set_device(12345)  # sets

        assert start() == 107001  # starts
        print(acl.get_recent_err_msg())
        """, head="")
    (message,) = made.run()
    expect(message, made, {"call": ["start: sets", "<module>: starts"]})


def test_m111_threads_name_their_own_lines(program):
    made = program("""
        import threading
        context, ret = acl.rt.get_context()

        def work(blocks):
            acl.rt.set_context(context)
            block, ret = acl.rt.malloc(64, 0)  # makes
            assert acl.rt.free(block) == 0  # once
            assert acl.rt.free(block) == 107000  # twice
            tell()

        thread = threading.Thread(target=work, args=([],))
        thread.start()
        thread.join()
        ident, err = acl.util.start_thread(work, [])
        assert acl.util.stop_thread(ident) == 0
        """)
    threading_, start_thread = made.run()
    assert [places[:1] for _, places in threading_.parts] == [made.places("work: %s" % each)
                                                             for each in ("twice", "makes", "once")], threading_.text
    assert all(file.endswith("threading.py") for _, places in threading_.parts for _, file, _ in places[1:])
    expect(start_thread, made, {"call": ["work: twice"], "made": ["work: makes"], "freed": ["work: once"]})


CALLBACK = """
import ctypes
import threading
stream, ret = acl.rt.create_stream()
host, ret = acl.rt.malloc_host(1 << 20)
blocks = [acl.rt.malloc(1 << 20, 0)[0] for _ in range(2)]
for block in blocks:
    assert acl.rt.free(block) == 0  # once
library = ctypes.CDLL("libascendcl.so")
library.aclrtFree.argtypes = (ctypes.c_void_p,)

def called(act):
    act()  # calls

def serve():
    assert acl.rt.process_report(30000) == 0  # serves

def from_stream(act):
    assert acl.rt.launch_callback(called, act, 1, stream) == 0
    serve()  # from stream
    assert acl.rt.synchronize_stream(stream) == 0

assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0
"""


@pytest.mark.parametrize("act, code", [("acl.rt.free(blocks[0])", 107000),
                                       ("acl.rt.memcpy(host, 1 << 20, blocks[0], 1 << 20, 2)", 507899)])
def test_y160_a_callback_names_its_own_lines(program, act, code):
    made = program(CALLBACK + """
def act():
    assert %s == %d  # acts
    tell()

from_stream(act)  # begin
assert %s == %d  # afterwards
tell()
""" % (act, code, act, code))
    inside, afterwards = made.run()
    assert inside.parts[0] == ("call", made.places("act: acts", "called: calls", "serve: serves",
                                                   "from_stream: from stream", "<module>: begin")), inside.text
    assert afterwards.parts[0] == ("call", made.places("<module>: afterwards")), afterwards.text


def test_y160_a_callback_that_lets_go_of_the_lock_itself_is_not_where_the_report_is_processed(program):
    made = program(CALLBACK + """
def act():
    assert library.aclrtFree(blocks[0]) == 107000
    tell()

from_stream(act)
""")
    (message,) = made.run()
    assert message.parts[0] == ("call", []), message.text


def test_m111_the_lines_of_belays_own_package_are_left_out(program):
    made = program("""
        import belay

        def make():
            return belay.malloc(64)  # makes

        def give(memory):
            memory.free()  # frees

        def copy(memory):
            memory.copy_to(bytearray(64))  # copies

        memory = make()  # begin
        copy(memory)
        address = memory.ptr
        give(memory)  # once
        assert acl.rt.free(address) == 107000  # twice
        tell()

        left = make()
        assert acl.rt.memset(left.ptr, 64, 0, 64) == 0
        assert acl.rt.free(left.ptr) == 0
        try:
            acl.rt.reset_device(0)
            with belay.device(12345):  # no such device
                pass
        except belay.Error as error:
            print("[PID]", error)
        """)
    twice, error = made.run()
    expect(twice, made, {"call": ["<module>: twice"], "made": ["make: makes", "<module>: begin"],
                         "freed": ["give: frees", "<module>: once"]})
    assert error.parts[0] == ("call", made.places("<module>: no such device")), error.text


CTYPES = """
import ctypes
library = ctypes.%s("libascendcl.so")
library.aclrtFree.argtypes = (ctypes.c_void_p,)

def give(block):
    return library.aclrtFree(block)  # frees

block, ret = acl.rt.malloc(64, 0)  # makes
assert give(block) == 0  # once
assert give(block) == 107000  # twice
tell()
"""


def test_m111_c_code_that_holds_the_lock_has_lines_of_python(program):
    made = program(CTYPES % "PyDLL")
    (message,) = made.run()
    expect(message, made, {"call": ["give: frees", "<module>: twice"], "made": ["<module>: makes"],
                           "freed": ["give: frees", "<module>: once"]})


def test_m111_c_code_without_the_lock_has_none(program):
    made = program(CTYPES % "CDLL")
    (message,) = made.run()
    expect(message, made, {"call": [], "made": ["<module>: makes"], "freed": []})


def test_m111_what_is_made_while_a_module_is_imported(program, tmp_path):
    other = Program(tmp_path, """
        import acl
        block, ret = acl.rt.malloc(64, 0)  # makes
        """, head="")
    (tmp_path / "other_module.py").write_text(other.source)
    made = program("""
        import other_module  # imports
        assert acl.rt.free(other_module.block) == 0  # once
        assert acl.rt.free(other_module.block) == 107000  # twice
        tell()
        """)
    (message,) = made.run()
    assert message.parts == [
        ("call", made.places("<module>: twice")),
        ("made", other.places("<module>: makes", file="other_module.py") + made.places("<module>: imports")),
        ("freed", made.places("<module>: once"))], message.text


def test_m111_files_below_the_current_directory_are_named_from_there(program, tmp_path):
    made = program(TWICE)
    (tmp_path / "below").mkdir()
    (inside,) = made.run(path=made.path)
    assert {file for _, places in inside.parts for _, file, _ in places} == {"program.py"}
    made.directory = tmp_path / "below"
    (outside,) = made.run(path=made.path)
    assert {file for _, places in outside.parts for _, file, _ in places} == {made.path}


@pytest.mark.parametrize("name, shown", [
    ("<made up>", "<made up>"), (r"a\nb.py", "a?b.py"), (r"\x01\x02\x03.py", "???.py"),
    (r"gr\u00f6\u00dfe.py", "größe.py"), (r"\udcff.py", "\\udcff.py"), ("", "")])
def test_m111_a_file_of_any_name(program, name, shown):
    made = program("""
        source = "block, ret = acl.rt.malloc(64, 0)\\n\\nfor _ in range(2):\\n  acl.rt.free(block)"
        exec(compile(source, "%s", "exec"))
        print(acl.get_recent_err_msg().encode("utf-8", "strict").decode("utf-8"))
        """ % name)
    (message,) = made.run(env={"PYTHONIOENCODING": "utf-8"})
    assert [places[0][1:] for _, places in message.parts] == [(shown, 4), (shown, 1), (shown, 4)], message.text


@pytest.mark.skipif(SANITIZER, reason="the sanitizer's allocator does not survive a fork beside other threads")
def test_r69_in_the_child_of_a_fork(program):
    made = program("""
        import os
        block, ret = acl.rt.malloc(64, 0)
        assert acl.rt.free(block) == 0

        def twice():
            acl.rt.set_device(0)
            block, ret = acl.rt.malloc(64, 0)  # makes
            acl.rt.free(block)  # once
            acl.rt.free(block)  # twice
            tell()

        for _ in range(3):
            pid = os.fork()
            if pid == 0:
                twice()  # child
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        twice()  # parent
        """)
    messages = made.run()
    assert len(messages) == 4
    for message in messages[:3]:
        expect(message, made, {"call": ["twice: twice", "<module>: child"], "made": ["twice: makes", "<module>: child"],
                               "freed": ["twice: once", "<module>: child"]})
    expect(messages[3], made, {"call": ["twice: twice", "<module>: parent"], "made": ["twice: makes", "<module>: parent"],
                               "freed": ["twice: once", "<module>: parent"]})


@pytest.mark.parametrize("threads", [0, 2])
def test_y50_while_the_interpreter_ends(program, threads):
    made = program("""
        import atexit
        import os
        import sys
        import threading
        block, ret = acl.rt.malloc(64, 0)  # makes
        assert acl.rt.free(block) == 0  # once

        def at_exit():
            assert acl.rt.free(block) == 107000  # at exit
            tell()
        atexit.register(at_exit)

        class Last:
            def __del__(self, free=acl.rt.free, copy=acl.rt.memcpy, message=acl.get_recent_err_msg, write=os.write,
                        block=block):
                free(block)  # in del
                write(1, message().encode() + b"\\n")
                copy(block, 1 << 20, block + 8, 1 << 20, 3)  # copies in del
                write(1, message().encode() + b"\\n")

        sys.last = Last()  # ends with the module sys, after all others
        last = Last()

        def for_ever():
            while True:
                acl.rt.free(acl.rt.malloc(64, 0)[0])
                acl.rt.synchronize_device()

        for _ in range(%d):
            threading.Thread(target=for_ever, daemon=True).start()
        """ % threads)
    for _ in range(slice_of(3, 30)):
        messages = made.run()
        assert messages[0].parts[0] == ("call", made.places("at_exit: at exit")), messages[0].text
        # Beside threads that are still there, not every object is ended.
        assert len(messages) == (3 if threads else 5)
        for freed, copied in zip(messages[1::2], messages[2::2]):
            assert freed.parts[0] == ("call", made.places("Last.__del__: in del")), freed.text
            assert copied.parts[0] == ("call", made.places("Last.__del__: copies in del")), copied.text


def test_m111_stacks_begin_and_end_with_a_restart(program):
    made = program("""
        import os
        import belay

        def twice():
            assert acl.rt.set_device(0) == 0
            block, ret = acl.rt.malloc(64, 0)  # makes
            acl.rt.free(block)  # once
            acl.rt.free(block)  # twice
            tell()

        for stacks in "off", "1", "off", "8":
            os.environ["BELAY_STACKS"] = stacks
            belay.restart()
            twice()  # runs
        """)
    messages = made.run()
    assert [[len(places) for _, places in message.parts] for message in messages] == [[], [1] * 3, [], [2] * 3]
    expect(messages[3], made, {"call": ["twice: twice", "<module>: runs"], "made": ["twice: makes", "<module>: runs"],
                               "freed": ["twice: once", "<module>: runs"]})


def test_m111_beside_a_second_interpreter(program):
    """Once there has been one, PyGILState_Check answers yes to every thread, whether it holds the lock or not."""
    made = program("""
        import ctypes
        import sys
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        CODE = '''
        import acl
        block, ret = acl.rt.malloc(64, 0)
        acl.rt.free(block)
        assert acl.rt.free(block) == 107000
        acl.rt.synchronize_device()
        assert "107000" in acl.get_recent_err_msg()
        '''.replace("        ", "")

        def in_another():
            if sys.version_info >= (3, 13):
                other = interpreters.create("legacy")
            else:
                other = interpreters.create(**({"isolated": False} if sys.version_info >= (3, 10) else {}))
            assert interpreters.run_string(other, CODE) is None
            interpreters.destroy(other)

        library = ctypes.CDLL("libascendcl.so")
        library.aclrtFree.argtypes = (ctypes.c_void_p,)
        for _ in range(3):
            in_another()
            block, ret = acl.rt.malloc(64, 0)  # makes
            assert acl.rt.free(block) == 0  # once
            assert acl.rt.free(block) == 107000  # twice
            tell()
            assert library.aclrtFree(block) == 107000
            tell()
        """)
    messages = made.run()
    assert len(messages) == 6
    for message in messages[0::2]:
        expect(message, made, {"call": ["<module>: twice"], "made": ["<module>: makes"], "freed": ["<module>: once"]})
    for message in messages[1::2]:
        expect(message, made, {"call": [], "made": ["<module>: makes"], "freed": ["<module>: once"]})


def test_m110_looking_is_not_noticed(program):
    """No garbage is collected and no function of an audit is called in the middle of a call."""
    made = program("""
        import gc
        import sys
        seen = []
        watched = []
        gc.callbacks.append(lambda phase, about: seen.append(phase))
        if sys.version_info >= (3, 9):  # before, there is no other way to a frame's code
            sys.addaudithook(lambda name, given: seen.append(name) if watched else None)

        def down(depth, free=acl.rt.free, on=gc.enable, off=gc.disable, watch=watched.append):
            if depth:
                return down(depth - 1)
            watch(1)
            on()
            free(0)  # makes no object by itself that could be garbage
            off()
            watched.clear()

        gc.disable()
        gc.set_threshold(5)
        for depth in range(8):
            garbage = [[] for _ in range(20)]
            down(depth)
        assert seen == [], seen
        gc.collect()
        assert seen == ["start", "stop"]
        tell()
        """)
    message = made.run()[-1]
    assert message.parts[0][1][0][0] == "down", message.text


def test_m111_more_lines_than_are_kept(program):
    made = program("""
        lines = 40
        code = compile("\\n".join(["free(malloc(64, 0)[0])"] * lines), "generated.py", "exec")
        names = {"malloc": acl.rt.malloc, "free": acl.rt.free}
        for copy in range(65536 // lines + 2):
            exec(code.replace(co_firstlineno=copy * lines + 1), names)

        def twice():
            block, ret = acl.rt.malloc(64, 0)
            acl.rt.free(block)
            acl.rt.free(block)
            tell()

        twice()
        """)
    (message,) = made.run(stacks=1)
    assert message.parts == [("call", []), ("made", []), ("freed", [])]
    assert message.text.count("at more lines of Python than belay keeps\n") == 3, message.text


def test_m111_many_lines_on_many_threads(program):
    made = program("""
        import ctypes
        import re
        import threading
        library = ctypes.CDLL("libascendcl.so")
        library.aclrtFree.argtypes = (ctypes.c_void_p,)
        SIZE = 1 << 16
        wrong = []

        def work(number):
            acl.rt.set_device(number)
            host, ret = acl.rt.malloc_host(SIZE)
            for turn in range(%d):
                name = "work_%%d_%%d" %% (number, turn %% 50)
                source = "\\n" * turn + "def %%s(call, *given):\\n  return call(*given)" %% name
                space = {}
                exec(compile(source, name + ".py", "exec"), space)
                call = space[name]
                block, ret = call(acl.rt.malloc, SIZE, 0)
                call(acl.rt.free, block)
                if turn %% 3 == 0:
                    call(acl.rt.free, block)
                elif turn %% 3 == 1:
                    call(acl.rt.memcpy, host, SIZE, block, SIZE, 2)
                else:
                    call(library.aclrtFree, block)
                lines = re.findall("at work_.*", acl.get_recent_err_msg())
                if lines != ["at %%s (%%s.py:%%d)" %% (name, name, turn + 2)] * (2 if turn %% 3 == 2 else 3):
                    wrong.append((number, turn, lines))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == [], wrong[:3]
        """ % slice_of(300, 4000))
    assert made.run(timeout=600) == []
