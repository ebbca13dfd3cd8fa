#!/usr/bin/env python3
"""Compares what pages say with what the code says: figures, and lists of rooms, settings, pages, scripts,
findings and products.

Usage: docs_figures.py PROJECT [--belay FILE] [--count FILE]

  --belay FILE   also compares the products with this command
  --count FILE   also counts the instructions of docs/fast-path.md, with this bench_alloc under callgrind

First it plants errors in a copy of the project, each of which it must find. What it finds is printed as file: what.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
DURATIONS = {"ms": 1000, "s": 1000000, "us": 1}  # in microseconds

# Every place in the pages (not in CHANGELOG.md) that looks like the pattern must say the value of the constant.
# pattern with the figure as its group, file and name of the constant
FIGURES = (
    (r"[Uu]p to ([\d,]+) processes", "src/machine/state.h", "kSlots"),
    (r"looks at up to (\d+) links", "src/machine/discovery.cpp", "kLookedAtInPassing"),
    (r"Up to (\d+) lines may repeat", "src/report/repetitions.h", "kDifferent"),
    (r"and at most (\d+) files", "src/report/log_files.h", "kMostLogFiles"),
    (r"\b(\w+) shards on each device", "src/machine/state.h", "kShards"),
    (r"\bof devices(?: in the machine)?, 1 to (\d+)|\| 1 to (\d+) \| the product's", "src/machine/state.h", "kMostDevices"),
    (r"credit \((\d+) bits each", "src/machine/state.h", "kBits"),
    (r"[Aa]t most (255 ?GB?|\d{3} ?GB?)\b", "src/memory/device_figures.h", "kMostDeviceBytes"),
    (r"a window of (\d+ TB)|device addresses \((\d+ TB),", "src/platform/address_windows.h", "kWholeWindow"),
    (r"Its first (\d+ TB) are where the driver|in one (\d+ TB) window", "src/platform/address_windows.h", "kDeviceWindow"),
    (r"the (\d+ GB) count of media memory", "src/memory/memory.cpp", "kMediaWindow"),
    (r"heaps? of (\d+ [MG]B)", "src/memory/heap_map.h", "kHeapBytes"),
    (r"A block above (\d+ [MG]B), or of 1 GB pages", "src/memory/range_pool.h", "kLargestCarved"),
    (r"fresh byte is (0x\w+)|reading gives (0x\w+)|instead of (0x\w+)", "src/memory/backing_store.h", "kFreshByte"),
    (r"After (\d+) looks credit", "src/memory/device_memory.cpp", "kPatience"),
    (r"the (\w+) largest \|", "src/check/pieces.h", "kMostListed"),
    (r"after about (\d+ ms) of silence", "src/schedule/scheduler.cpp", "kLate"),
    (r"are dropped after (a \w+ of a second)", "src/schedule/scheduler.cpp", "kStuck"),
    (r"are waited for \((\w+ seconds) at most\)", "src/schedule/scheduler.cpp", "kRetire"),
    (r"memset` below (\d+ KB) keep the lock|From (\d+ KB) on the interpreter lock", "python/acl/call.h", "kLongCopy"),
    (r"the size is neither 0 nor above (\d+ GB)", "src/fastpath/fast_path.h", "kMostByTable"),
)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def pages_of(project):
    for folder, inner, files in os.walk(project):
        inner[:] = sorted(each for each in inner
                          if not each.startswith(".") and each != "node_modules"
                          and not (folder == project and each == "build"))
        yield from (os.path.relpath(os.path.join(folder, file), project) for file in sorted(files)
                    if file.endswith(".md") and file != "CHANGELOG.md")


def number(text):
    """A figure as pages and code write it: 1,024; 0xBE; ten; 255 GB; 256_MiB; 16 * 1024; 20ms."""
    text = text.strip().replace(",", "").replace("'", "")
    if text in WORDS:
        return WORDS[text]
    if text == "a tenth of a second":
        return DURATIONS["s"] // 10
    text = re.sub(r"^(\w+) seconds$", lambda match: "%ss" % WORDS.get(match[1], match[1]), text)
    if re.fullmatch(r"0x[0-9A-Fa-f]+", text):
        return int(text, 16)
    if re.fullmatch(r"\d+( \* \d+)+", text):
        product = 1
        for factor in text.split(" * "):
            product *= int(factor)
        return product
    match = re.fullmatch(r"(\d+) ?(us|ms|s)", text)
    if match:
        return int(match[1]) * DURATIONS[match[2]]
    match = re.fullmatch(r"(\d+)[ _]?([KMGTB]?)(?:i?B)?", text)
    if match:
        return int(match[1]) * UNITS[match[2]]
    return None


def figure_problems(project):
    pages = {page: read(project, page) for page in pages_of(project)}
    for pattern, file, name in FIGURES:
        value = re.search(r"\b%s = ([^;]+);" % name, read(project, file))
        wanted = number(value[1]) if value else None
        if wanted is None:
            yield file, "there is no constant %s to compare with" % name
            continue
        places = [(page, match) for page, text in pages.items() for match in re.finditer(pattern, text)]
        if not places:
            yield "docs", "no page says '%s' any more; take it out of docs_figures.py" % pattern
        for page, match in places:
            figure = next(each for each in match.groups() if each is not None)
            if number(figure) != wanted:
                yield page, "'%s', but %s is %s in %s" % (match[0], name, value[1], file)


def rooms_of(project):
    """{room: the rooms it sees}, as the build has it, the command line among them."""
    text = read(project, "src", "CMakeLists.txt")
    folders = sorted(each for each in os.listdir(os.path.join(project, "src"))
                     if os.path.isdir(os.path.join(project, "src", each)))
    for folder in folders:
        own = os.path.join("src", folder, "CMakeLists.txt")
        if os.path.exists(os.path.join(project, own)):
            text += read(project, own)
    sees = {}
    for room, rest in re.findall(r"belay_room\((\w+)\s([^)]*)\)", text):
        found = re.search(r"\bSEES\s+((?:\w+\s*)+?)(?:LINKS\b|$)", rest)
        sees[room] = set(found[1].split()) if found else set()
    sees["library"] = set(sees) - {"story"}  # which only the command line has a use for
    cli = read(project, "cli", "CMakeLists.txt")
    linked = {room for line in re.findall(r"target_link_libraries\(([^)]*)\)", cli)
              for room in re.findall(r"\bbelay_(\w+)", line)}
    return folders, sees, linked & set(sees)


def named(sentence, rooms):
    return {room for room in rooms if re.search(r"\b%s\b" % room, sentence)}


def room_problems(project):
    folders, sees, cli = rooms_of(project)
    if set(folders) != set(sees):
        yield "src/CMakeLists.txt", "rooms %s, folders %s" % (sorted(sees), folders)
    for room in folders:
        page = "src/%s/README.md" % room
        text = read(project, page)
        said = re.search(r"^- \*\*Sees\*\* (.*?)\.(?:\s|$)", text, re.M)
        by = re.search(r"^- \*\*Is seen by\*\* (.*?)[.;](?:\s|$)", text, re.M)
        if not said or not by:
            yield page, "no lines 'Sees' and 'Is seen by'"
            continue
        if room == "library":
            if said[1] != "every room but story":
                yield page, "sees every room but story"
            continue
        sentence = re.sub(r"`[^`]*`|the (?:public headers|\w+ library)", "", said[1])
        if named(sentence, sees) != sees[room]:
            yield page, "sees %s, but the build says %s" % (said[1], ", ".join(sorted(sees[room])) or "no room")
        if by[1] == "every other room":
            seen_by = set(sees) - {room}
        else:
            seen_by = named(re.sub(r"\([^)]*\)", "", by[1]), sees)
        really = {other for other in sees if room in sees[other]}
        if seen_by != really:
            yield page, "is seen by %s, but in the build by %s" % (by[1], ", ".join(sorted(really)))
        if by[1] != "every other room" and ("command line" in by[1]) != (room in cli):
            yield page, "the command line %s it in the build" % ("sees" if room in cli else "does not see")
    said = re.search(r"^- \*\*Sees\*\* (.*?), and", read(project, "cli/README.md"), re.M)
    if not said or named(said[1], sees) != cli:
        yield "cli/README.md", "the command line sees %s in the build" % ", ".join(sorted(cli))
    house = read(project, "docs/house.md")
    said = re.search(r"The command line sees (.*?):", house)
    if not said or named(said[1], sees) != cli:
        yield "docs/house.md", "the command line sees %s in the build" % ", ".join(sorted(cli))
    rows = set(re.findall(r"^\| \[\w+\]\(\.\./src/(\w+)/README\.md\)", house, re.M))
    if rows != set(folders):
        yield "docs/house.md", "the table of rooms differs from the folders of src: %s" % sorted(rows ^ set(folders))
    drawing = re.search(r"```text\n(.*?)```", house, re.S)
    missing = set(folders) - named(drawing[1] if drawing else "", sees)
    if missing:
        yield "docs/house.md", "the drawing lacks %s" % sorted(missing)


def list_problems(project):
    """Lists that name each file of a folder."""
    contributing = read(project, "CONTRIBUTING.md")
    for what, names, page, pattern in (
            ("script", [each for each in os.listdir(os.path.join(project, "scripts"))
                        if os.path.isfile(os.path.join(project, "scripts", each))],
             "CONTRIBUTING.md", r"^\| `scripts/%s\b"),
            ("folder of tests", [each for each in os.listdir(os.path.join(project, "tests"))
                                 if os.path.isdir(os.path.join(project, "tests", each)) and not each.startswith("_")],
             "CONTRIBUTING.md", r"^\| `tests/%s`"),
            ("preset", [each["name"] for each in json.loads(read(project, "CMakePresets.json"))["configurePresets"]
                        if not each.get("hidden")], "CONTRIBUTING.md", r"^\| `%s` \|"),
            ("page", [each for each in os.listdir(os.path.join(project, "docs"))
                      if each.endswith(".md") and each != "README.md"], "docs/README.md", r"\]\(%s\)"),
            ("example", [each for each in os.listdir(os.path.join(project, "examples")) if each.endswith((".c", ".cpp"))],
             "examples/README.md", r"^\| \[%s\]"),
            ("example", [each for each in os.listdir(os.path.join(project, "examples/python")) if each.endswith(".py")],
             "examples/python/README.md", r"^\| \[%s\]")):
        text = contributing if page == "CONTRIBUTING.md" else read(project, page)
        for name in sorted(names):
            if not re.search(pattern % re.escape(name), text, re.M):
                yield page, "the %s %s is missing" % (what, name)


def finding_problems(project):
    """What belay check finds: each has a page, a row with its class, and its name in the schema of reports."""
    classes = {name: of.lower() for of, name in
               re.findall(r'\{Misuse::\w+, MisuseClass::(\w+), "([\w-]+)"\}', read(project, "src/base/misuse.h"))}
    if len(classes) < 10:
        yield "src/base/misuse.h", "kMisuses cannot be read"
    table, schema = "docs/misuse/README.md", "docs/check-findings.schema.json"
    rows = dict(re.findall(r"^\| \[([\w-]+)\]\(\1\.md\) \| (\w+) \|", read(project, table), re.M))
    fields = json.loads(read(project, schema))["$defs"]["finding"]["properties"]
    names = {"docs/misuse": {each[:-3] for each in os.listdir(os.path.join(project, "docs/misuse"))} - {"README"},
             table: set(rows), schema: set(fields["id"]["enum"])}
    for place, found in names.items():
        yield from ((place, "the finding %s is missing" % each) for each in sorted(set(classes) - found))
        yield from ((place, "there is no finding %s" % each) for each in sorted(found - set(classes)))
    for name in sorted(set(classes) & set(rows)):
        if rows[name] != classes[name]:
            yield table, "%s is of the class %s" % (name, classes[name])
    for each in sorted(set(classes.values()) - set(fields["class"]["enum"])):
        yield schema, "the class %s is missing" % each


def setting_problems(project):
    """The tables of settings: every variable with its flag, and a default that is one word as the code has it."""
    source = re.sub(r'"\s*"', "", read(project, "src/config/settings.cpp"))
    options = re.findall(r'Option\{\s*"(BELAY_\w+)",\s*"(--[\w-]+)",\s*"[^"]*",\s*"([^"]*)"', source)
    if len(options) < 10:
        yield "src/config/settings.cpp", "kOptions cannot be read"
    for page, all_of_them in (("docs/settings.md", True), ("README.md", False)):
        rows = {}
        for row in re.findall(r"^\| `BELAY_.*\|$", read(project, page), re.M):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
            rows.setdefault(cells[0].strip("`"), (cells[1].strip("`"), cells[-2]))
        for variable, flag, default in options:
            if variable not in rows:
                if all_of_them:
                    yield page, "%s is missing" % variable
                continue
            its_flag, its_default = rows.pop(variable)
            if its_flag != flag:
                yield page, "%s has the flag %s, not %s" % (variable, flag, its_flag)
            if re.fullmatch(r"[\w-]+", default) and not re.match(r"%s\b" % re.escape(default), its_default):
                yield page, "%s is %s by default, not %s" % (variable, default, its_default)
        yield from ((page, "there is no %s" % variable) for variable in rows)
    keep = next((default for variable, _, default in options if variable == "BELAY_KEEP"), "")
    constant = re.search(r"keep_bytes = ([^;]+);", read(project, "src/memory/backing_store.h"))
    if not constant or number(constant[1]) != number(keep):
        yield "src/config/settings.cpp", "BELAY_KEEP is not the keep_bytes of src/memory/backing_store.h"


def sums_of(project):
    """The instructions of docs/fast-path.md: what the steps of each table add up to, and the totals below them."""
    text = read(project, "docs/fast-path.md")
    sums = {}
    for title, body in re.findall(r"^## `(aclrt\w+)\(.*?\n(.*?)(?=^## |\Z)", text, re.M | re.S):
        steps = [int(each) for each in re.findall(r"\| (\d+) \|$", body, re.M)]
        total = re.search(r"\| \*\*(\d+)\*\* \|$", body, re.M)
        sums[title] = (sum(steps), int(total[1]) if total else None)
    return sums


def instruction_problems(project):
    page, sums = "docs/fast-path.md", sums_of(project)
    if set(sums) != {"aclrtMalloc", "aclrtFree"}:
        yield page, "the two tables cannot be read"
        return
    for title, (steps, total) in sums.items():
        if steps != total:
            yield page, "the steps of %s add up to %d, not %s" % (title, steps, total)
    take, give = sums["aclrtMalloc"][0], sums["aclrtFree"][0]
    said = re.search(r"(\d+) instructions allocate and (\d+) free.*?of the (\d+) are locked", read(project, page))
    if not said or [int(each) for each in said.groups()] != [take, give, take + give]:
        yield page, "the text above the tables does not say %d, %d and %d" % (take, give, take + give)


def product_problems(project, products):
    """The tables of products in README.md and docs/products.md, against `belay products --json`."""
    pages = (("README.md", r"^\| `%s`(?: \(default\))? \| .* \| (\S+) \| (\d+) \| ([\d,]+ MB) \w+(?:, assumed)? \|$"),
             ("docs/products.md", r"^\| `%s` \| .* \| (\S+) \| (\d+)(?:\\\*)? \| .* \| ([\d,]+)(?:\\\*)? \| [^|]* \|$"))
    for product in products:
        for page, pattern in pages:
            row = re.search(pattern % re.escape(product["key"]), read(project, page), re.M)
            if not row:
                yield page, "no row for %s" % product["key"]
                continue
            said = (row[1], int(row[2]), number(row[3].replace(",", "")))
            wanted = (product["default_soc"], product["devices"]["value"], product["usable_bytes"]["value"])
            if said != wanted:
                yield page, "%s has %s, not %s" % (product["key"], wanted, said)


def chip_problems(project, products):
    """The table of chips in docs/products.md: those that differ from the first only in the last part are written \\_9392."""
    page, said = "docs/products.md", {}
    for key, names, usable in re.findall(r"^\| (\w+) \| (\w[\w\\, -]*) \| [^|]+ \| ([\d,]+)(?:\\\*)? \|$", read(project, page), re.M):
        names = names.replace("\\", "").split(", ")
        for name in names:
            said[key, names[0].rpartition("_")[0] + name if name.startswith("_") else name] = int(usable.replace(",", ""))
    really = {(product["key"], chip["soc"]): chip["usable_bytes"]["value"] for product in products
              for chip in product["chips"]}
    for chip in sorted(set(said) | set(really)):
        if said.get(chip) != really.get(chip):
            yield page, "%s %s has %s usable bytes, not %s" % (chip + (really.get(chip), said.get(chip)))


def count_problems(project, program):
    """Counts the instructions of the two functions, in a run of pairs after another one."""
    if shutil.which("valgrind") is None:
        print("instructions were not counted: there is no valgrind")
        return
    pairs = 1000
    for name, (wanted, _) in sums_of(project).items():
        with tempfile.TemporaryDirectory() as place:
            out = os.path.join(place, "counts")
            subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out, "--toggle-collect=" + name,
                            "--dump-after=counted_pairs", program, "--instructions", "belay:3000:%d" % pairs],
                           env=dict(os.environ, BELAY_MACHINE="private", ASCEND_PROCESS_LOG_PATH=place,
                                    GLIBC_TUNABLES="glibc.rtld.optional_static_tls=16384"),
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            counted = int(re.search(r"^totals: (\d+)", read(out + ".2"), re.M)[1]) / (2 * pairs)
        if counted != wanted:
            yield "docs/fast-path.md", "%s takes %g instructions, not %d" % (name, counted, wanted)


def problems_of(project):
    for check in (figure_problems, room_problems, list_problems, finding_problems, setting_problems,
                  instruction_problems):
        yield from check(project)


PLANTED = (  # file, what stands there, what is planted, words of the complaint
    ("docs/machine.md", r"Up to 1024 processes", "Up to 1023 processes", "kSlots is 1024"),
    ("docs/settings.md", r"at most 255G", "at most 254G", "kMostDeviceBytes"),
    ("docs/settings.md", r"\| 256M \|", "| 128M |", "BELAY_KEEP is 256M"),
    ("docs/settings.md", r"\| `--keep` \|", "| `--kept` |", "has the flag --keep"),
    ("README.md", r"\| `BELAY_LEAKS` \| `--leaks` \| report", "| `BELAY_LEAKS` | `--leaks` | off", "BELAY_LEAKS is report"),
    ("src/schedule/scheduler.cpp", r"kStuck = 100ms", "kStuck = 200ms", "kStuck is 200ms"),
    ("docs/house.md", r"two seconds at most", "three seconds at most", "kRetire"),
    ("docs/house.md", r"A fresh byte is 0xBE", "A fresh byte is 0xBF", "kFreshByte"),
    ("src/machine/state.h", r"kShards = 32;", "kShards = 16;", "kShards is 16"),
    ("src/machine/README.md", r"\*\*Sees\*\* base and platform", "**Sees** base and product", "the build says base, platform"),
    ("src/CMakeLists.txt", r"product/product.cpp SEES base\)", "product/product.cpp SEES base observe)", "product"),
    ("src/product/README.md", r"\*\*Is seen by\*\* memory, ", "**Is seen by** ", "in the build by"),
    ("cli/README.md", r"\*\*Sees\*\* base, platform, ", "**Sees** base, ", "the command line sees"),
    ("docs/house.md", r"\| \[trace\]\(.*\n", "", "['trace']"),
    ("docs/README.md", r"\| \[smi.md\].*\n", "", "the page smi.md is missing"),
    ("CONTRIBUTING.md", r"\| `scripts/tidy`.*\n", "", "the script tidy is missing"),
    ("docs/check-findings.schema.json", r'"beyond-end", ', "", "the finding beyond-end is missing"),
    ("docs/misuse/README.md", r"\| bounds \|", "| leaks |", "beyond-end is of the class bounds"),
    ("docs/fast-path.md", r"58 instructions allocate", "57 instructions allocate", "does not say"),
    ("docs/fast-path.md", r"there is a range in the bin \| 3 \|", "there is a range in the bin | 4 |", "add up to"),
)


def test_this(project):
    """Each planted error must be found."""
    with tempfile.TemporaryDirectory() as place:
        copy = os.path.join(place, "project")
        shutil.copytree(project, copy, symlinks=True,
                        ignore=lambda folder, names: [each for each in names if each in (".git", "build", "__pycache__")])
        for file, pattern, planted, words in PLANTED:
            original = read(copy, file)
            changed, times = re.subn(pattern, planted, original, count=1)
            if times == 0:
                yield file, "no '%s' to plant an error in; mend PLANTED" % pattern
                continue
            with open(os.path.join(copy, file), "w", encoding="utf-8") as page:
                page.write(changed)
            if not any(words in what for _, what in problems_of(copy)):
                yield file, "planted '%s' was not found" % planted
            with open(os.path.join(copy, file), "w", encoding="utf-8") as page:
                page.write(original)


def main(arguments):
    if not arguments or len(arguments) % 2 == 0 or set(arguments[1::2]) - {"--belay", "--count"}:
        sys.exit(__doc__)
    project, options = os.path.realpath(arguments[0]), dict(zip(arguments[1::2], arguments[2::2]))
    found = list(problems_of(project))
    if "--belay" in options:
        answer = subprocess.run([options["--belay"], "products", "--json"], stdout=subprocess.PIPE, check=True)
        products = json.loads(answer.stdout)["products"]
        found += product_problems(project, products)
        found += chip_problems(project, products)
        products[0]["devices"]["value"] += 1
        products[0]["chips"][0]["usable_bytes"]["value"] += 1
        if not list(product_problems(project, products)) or not list(chip_problems(project, products)):
            found.append(("docs_figures.py", "a product with one device or one byte more was not found"))
    if "--count" in options:
        found += count_problems(project, options["--count"])
    found = found or list(test_this(project))
    for file, what in found:
        print("%s: %s" % (file, what))
    print("%d problem(s)" % len(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
