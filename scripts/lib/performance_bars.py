"""What belay is to reach, and whether a run reached it.

A time is judged on the best of all repeats, of belay and of its peers alike: noise only ever adds time. The medians are
told beside. Memory is judged on the worst repeat. Where a bar has several points, the worst of them is told. A bar that
was not measured is neither passed nor missed.
"""

from wording import count, size

FOUR = ("glibc", "mimalloc", "jemalloc", "tcmalloc")
MEMCPYS = ("memcpy", "memcpy_shared")
KB, MB, GB = 1 << 10, 1 << 20, 1 << 30
SMALL_PAIRS = (64, 512, 4 * KB, 64 * KB, 512 * KB)
LARGE_PAIRS = (MB, 2 * MB, 8 * MB, 32 * MB, 128 * MB, 256 * MB, 512 * MB, GB)


class Figures:
    def __init__(self, result):
        self.by_name = {each["name"]: each for each in result["figures"]}

    def of(self, question, who, point):
        return self.by_name.get("%s/%s/%s" % (question, who, point))

    def peers(self, question, point, names=FOUR):
        return [each for each in (self.of(question, who, point) for who in names) if each]


class Point:
    """One comparison: what was found by the best repeats, by the medians, in words, and how far its figures spread."""

    def __init__(self, value, median, words, *figures):
        self.value, self.median, self.words = value, median, words
        self.spread = ", ".join(spread(each) for each in figures)


def spread(figure):
    """Half of what the middle half of the repeats spans, in percent of the median."""
    return "±%.0f %%" % (50 * (figure["high"] - figure["low"]) / figure["median"] if figure["median"] else 0)


def ns(number):
    for unit, name in ((1e6, "ms"), (1e3, "µs")):
        if number >= unit:
            return "%.3g %s" % (number / unit, name)
    return "%.3g ns" % number


def fastest(figures):
    return min(figures, key=lambda each: each["best"])


def ratio(ours, peers, where):
    """How many times as long as the fastest peer."""
    if not ours or not peers:
        return None
    peer = fastest(peers)
    return Point(ours["best"] / peer["best"], ours["median"] / min(each["median"] for each in peers),
                 "%s: %s, %s %s" % (where, ns(ours["best"]), peer["who"], ns(peer["best"])), ours, peer)


def pairs(figures, sizes):
    return [ratio(figures.of("pairs", "belay", bytes_), figures.peers("pairs", bytes_), size(bytes_)) for bytes_ in sizes]


def growth(figures, who, what):
    few, many = figures.of("churn_small", who, 1000), figures.of("churn_small", who, 1000000)
    return many[what] / few[what] if few and many else None


def churn_growth(figures):
    ours = growth(figures, "belay", "best")
    peers = {who: growth(figures, who, "best") for who in FOUR if growth(figures, who, "best")}
    if not ours or not peers:
        return [None]
    best = min(peers, key=peers.get)
    return [Point(ours / peers[best],
                  growth(figures, "belay", "median") / min(growth(figures, who, "median") for who in peers),
                  "×%.1f, %s ×%.1f" % (ours, best, peers[best]), *(
                      figures.of("churn_small", who, 1000000) for who in ("belay", best)))]


def large_churn(figures):
    return [ratio(figures.of("churn_large", "belay", live), figures.peers("churn_large", live), count(live) + " live")
            for live in (256, 1000, 10000)]


def beside_four(figures, question, points, words):
    """The fastest of the four at each point; `words` says what a point is."""
    return [ratio(figures.of(question, "belay", point), figures.peers(question, point), words(point)) for point in points]


def fresh_copies(figures):
    points = [(question, bytes_) for question in ("fresh_copy", "fresh_fill", "fresh_on_device", "fresh_queued")
              for bytes_ in (4 * MB, 64 * MB)]
    return [ratio(figures.of(question, "belay", bytes_), figures.peers(question, bytes_, ("memcpy",)),
                  "%s, %s" % (question[6:].replace("_", " "), size(bytes_))) for question, bytes_ in points]


def gain(figures, who, bytes_, what):
    one, two = (figures.of("threads", who, "%d/%d" % (bytes_, threads)) for threads in (1, 2))
    return one[what] / two[what] if one and two else None


def two_threads(figures):
    points = []
    for bytes_ in (64 * KB, 2 * MB):
        ours, loop = gain(figures, "belay", bytes_, "best"), gain(figures, "loop", 0, "best")
        if not ours or not loop:
            return [None]
        points.append(Point(ours / loop, gain(figures, "belay", bytes_, "median") / gain(figures, "loop", 0, "median"),
                            "%s: ×%.2f, the loop ×%.2f" % (size(bytes_), ours, loop),
                            figures.of("threads", "belay", "%d/2" % bytes_), figures.of("threads", "loop", "0/2")))
    return points


def many_threads(figures):
    """From eight threads to 64: by what factor a pair grows, beside a loop that shares nothing."""
    points = []
    for bytes_ in (64 * KB, 2 * MB):
        ours, loop = ([figures.of("threads", who, "%d/%d" % (at, threads)) for threads in (8, 64)]
                      for who, at in (("belay", bytes_), ("loop", 0)))
        if None in ours or None in loop:
            return [None]
        grows = [(pair[1][what] / pair[0][what]) for what in ("best", "median") for pair in (ours, loop)]
        points.append(Point(grows[0] / grows[1], grows[2] / grows[3],
                            "%s: ×%.2f, the loop ×%.2f" % (size(bytes_), grows[0], grows[1]), ours[1], loop[1]))
    return points


def policies(figures):
    """Every policy beside HUGE_FIRST, on the pages that it takes."""
    points = []
    for bytes_ in (4000, 3000000):
        usual = figures.of("policies", "HUGE_FIRST", bytes_)
        for each in figures.by_name.values():
            if usual and each["question"] == "policies" and each["point"] == str(bytes_) and each is not usual:
                points.append(Point(each["best"] / usual["best"], each["median"] / usual["median"],
                                    "%s, %s: %s, HUGE_FIRST %s" % (each["who"], size(bytes_), ns(each["best"]),
                                                                   ns(usual["best"])), each, usual))
    return points or [None]


def listening(figures, who):
    points = []
    for bytes_ in (4 * KB, 2 * MB):
        for threads in (1, 2, 8):
            heard, quiet = (figures.of("listening", name, "%d/%d" % (bytes_, threads)) for name in (who, "nobody"))
            if not heard or not quiet:
                return [None]
            points.append(Point(heard["best"] / quiet["best"], heard["median"] / quiet["median"],
                                "%s on %d: %s, without %s" % (size(bytes_), threads, ns(heard["best"]),
                                                                 ns(quiet["best"])), heard, quiet))
    return points


def against_mmap(figures):
    ours, mapped = figures.of("pairs", "belay", 2 * MB), figures.of("pairs", "mmap", 2 * MB)
    if not ours or not mapped:
        return [None]
    return [Point(mapped["best"] / ours["best"], mapped["median"] / ours["median"],
                  "%s, mmap %s" % (ns(ours["best"]), ns(mapped["best"])), ours, mapped)]


def first_block(figures):
    ours, empty, linked = (figures.of("start", who, 0) for who in ("belay", "empty", "linked"))
    if not ours or not empty or not linked:
        return [None]
    return [Point((ours["best"] - empty["best"]) / 1e6, (ours["median"] - empty["median"]) / 1e6,
                  "%s, empty %s, linked only %s" % (ns(ours["best"]), ns(empty["best"]), ns(linked["best"])), ours, empty)]


def plain(figures, question, point, unit):
    found = figures.of(question, "belay", point)
    return [Point(found["worst"] / unit, found["median"] / unit, "", found) if found else None]


def held(figures):
    rested, at_once = (figures.of("held", "belay", "512/" + when) for when in ("after_rest", "at_once"))
    if not rested or not at_once:
        return [None]
    return [Point(rested["worst"] / MB, rested["median"] / MB, "%.1f MB at once" % (at_once["worst"] / MB), rested)]


def copies(figures):
    """The speed of memcpy that is reached; the faster of the two kinds of memcpy counts."""
    points = []
    for question, words in (("copy_to_device", "to the device"), ("copy_to_host", "to the host")):
        for bytes_ in (64 * KB, MB, 16 * MB, 256 * MB):
            ours, peers = figures.of(question, "belay", bytes_), figures.peers(question, bytes_, MEMCPYS)
            if ours and peers:
                peer = fastest(peers)
                points.append(Point(peer["best"] / ours["best"], min(each["median"] for each in peers) / ours["median"],
                                    "%s %s: %s, memcpy %s" % (size(bytes_), words, ns(ours["best"]), ns(peer["best"])),
                                    ours, peer))
    return points or [None]


def small_copies(figures):
    points = []
    for question, words in (("copy_to_device", "to the device"), ("copy_to_host", "to the host")):
        for bytes_ in (64, 4 * KB):
            ours, peers = figures.of(question, "belay", bytes_), figures.peers(question, bytes_, MEMCPYS)
            if not ours or not peers:
                return [None]
            peer = fastest(peers)
            points.append(Point(ours["best"] - peer["best"], ours["median"] - min(each["median"] for each in peers),
                                "%s %s: %s, memcpy %s" % (size(bytes_), words, ns(ours["best"]), ns(peer["best"])), ours,
                                peer))
    return points


def beside_mmap(figures, question, sizes):
    """How many times as long as mmap with munmap."""
    return [ratio(figures.of(question, "belay", bytes_), figures.peers(question, bytes_, ("mmap",)), size(bytes_))
            for bytes_ in sizes]


def physical(figures):
    found = figures.of("physical", "belay", 2 * MB)
    return [Point(found["best"], found["median"], "", found) if found else None]


def many_mappings(figures):
    """The same address among few and among many."""
    points = []
    for question, words in (("find", "its attributes"), ("copy_small", "a copy of 64 B")):
        few, many = (figures.of(question, "belay", live) for live in (10, 100000))
        if not few or not many:
            return [None]
        points.append(Point(many["best"] / few["best"], many["median"] / few["median"],
                            "%s: %s, among 10 %s" % (words, ns(many["best"]), ns(few["best"])), many, few))
    return points


def mapped_copies(figures):
    """The speed with one block that is reached."""
    points = []
    for question, words in (("mapped_to_device", "to the device"), ("mapped_to_host", "to the host")):
        pieces, block = (figures.of(question, who, 64 * MB) for who in ("belay", "one_block"))
        if not pieces or not block:
            return [None]
        points.append(Point(block["best"] / pieces["best"], block["median"] / pieces["median"],
                            "%s: %s, one block %s" % (words, ns(pieces["best"]), ns(block["best"])), pieces, block))
    return points


def checked(figures, who, whats):
    points = []
    for what in whats:
        looked, off = (figures.of("check", name, what) for name in (who, "off"))
        if not looked or not off:
            return [None]
        points.append(Point(looked["best"] / off["best"], looked["median"] / off["median"],
                            "%s: %s, without %s" % (what, ns(looked["best"]), ns(off["best"])), looked, off))
    return points


# Two stacks a pair, beside a pair that goes the same slow way.
def one_stack(figures):
    deep, one = (figures.of("check", name, "pair") for name in ("stacks8", "slow"))
    if not deep or not one:
        return [None]
    return [Point((deep["best"] - one["best"]) / 2, (deep["median"] - one["median"]) / 2,
                  "a pair with two stacks: %s, without %s" % (ns(deep["best"]), ns(one["best"])), deep, one)]


# Question, bar in words, how the value is written, whether the limit is the most or the least, the limit, the points.
BARS = (
    ("aclrtMalloc + aclrtFree, 1 MB to 1 GB", "no slower than the fastest of four allocators at each size",
     "×%.2f", "most", 1, lambda of: pairs(of, LARGE_PAIRS)),
    ("the same, 64 B to 512 KB", "at most 2 times the fastest of the four", "×%.2f", "most", 2,
     lambda of: pairs(of, SMALL_PAIRS)),
    ("the same, 64 B to 64 KB", "at most 1.3 times the fastest of the four", "×%.2f", "most", 1.3,
     lambda of: pairs(of, [each for each in SMALL_PAIRS if each <= 64 * KB])),
    ("a million blocks of 4 KB freed in random order, and allocated again", "no slower than the fastest of the four",
     "×%.2f", "most", 1, lambda of: [point for question in ("mass_free", "mass_again")
                                     for point in beside_four(of, question, (1000000,), lambda _: question[5:])]),
    ("churn over 1,000,000 live", "no slower than the fastest of the four", "×%.2f", "most", 1,
     lambda of: beside_four(of, "churn_small", (1000000,), lambda p: count(p) + " live")),
    ("requests as models make them", "no slower than the fastest of the four", "×%.2f", "most", 1,
     lambda of: beside_four(of, "shapes", ("kv_blocks", "weights", "activations"), lambda p: p.replace("_", " "))),
    ("500 sizes up to 64 MB in turn", "no slower than the fastest of the four", "×%.2f", "most", 1,
     lambda of: beside_four(of, "sizes", (500,), lambda p: "%d sizes" % p)),
    ("allocated by one thread, freed by another, 64 KB", "no slower than the fastest of the four", "×%.2f", "most", 1,
     lambda of: beside_four(of, "handover", (64 * KB,), size)),
    ("first copies and fills of fresh memory in 4 KB pages", "no slower than memcpy into fresh memory", "×%.2f", "most",
     1, fresh_copies),
    ("aclrtMallocHost + aclrtFreeHost, 4 KB to 16 MB", "under 100 ns", "%.0f ns", "most", 100,
     lambda of: [point for bytes_ in (4 * KB, MB, 16 * MB) for point in plain(of, "pinned", bytes_, 1)]),
    ("churn, from 1,000 to 1,000,000 live", "grows by no larger a factor than the best of the four",
     "×%.2f of its growth", "most", 1, churn_growth),
    ("churn at 1 MB and up", "faster than each of the four", "×%.2f", "most", 1, large_churn),
    ("two threads against one", "at least 0.9 of what a loop gains that shares nothing", "%.2f", "least", 0.9,
     two_threads),
    ("64 threads against 8", "a pair grows by at most 1.5 times what that loop grows by", "×%.2f", "most", 1.5,
     many_threads),
    ("every documented policy and flag", "at most 1.5 times HUGE_FIRST", "×%.2f", "most", 1.5, policies),
    ("a pair that a listener counts, on 1, 2 and 8 threads", "at most 2 times one without a listener", "×%.2f",
     "most", 2, lambda of: listening(of, "counts")),
    ("the same for the summary of `belay run`", "at most 2.5 times", "×%.2f", "most", 2.5,
     lambda of: listening(of, "summary")),
    ("against mmap + munmap, 2 MB", "at least 50 times faster", "×%.0f", "least", 50, against_mmap),
    ("first aclInit + aclrtSetDevice + aclrtMalloc in a new process", "under 0.8 ms above an empty process", "%.2f ms",
     "most", 0.8, first_block),
    ("memory of that process", "under 8 MB resident", "%.1f MB", "most", 8,
     lambda of: plain(of, "resident", "0/resident_bytes", MB)),
    ("records", "at most 96 bytes per live allocation", "%.0f bytes", "most", 96,
     lambda of: plain(of, "books", "1000000/bytes_per_allocation", 1)),
    ("aclrtMemcpy host ↔ device, 64 KB and up", "at least 0.95 of the speed of memcpy", "%.3f", "least", 0.95, copies),
    ("aclrtMemcpy, 64 B and 4 KB", "at most 12 ns above memcpy", "%.0f ns", "most", 12, small_copies),
    ("memory held after 512 MB were written and freed", "back to within 1 MB of the start after a rest of 3 s",
     "%.1f MB", "most", 1, held),
    ("aclrtMapMem + aclrtUnmapMem, 2 MB", "at most 0.2 times mmap + munmap of a file in memory", "×%.2f", "most", 0.2,
     lambda of: beside_mmap(of, "map", (2 * MB,))),
    ("aclrtReserveMemAddress + aclrtReleaseMemAddress, 2 MB and 1 GB", "no slower than mmap + munmap without access",
     "×%.2f", "most", 1, lambda of: beside_mmap(of, "reserve", (2 * MB, GB))),
    ("aclrtMallocPhysical + aclrtFreePhysical, 2 MB", "under 500 ns", "%.0f ns", "most", 500, physical),
    ("an address among 100,000 mappings", "at most 1.5 times as long as among 10", "×%.2f", "most", 1.5, many_mappings),
    ("aclrtMemcpy of 64 MB over 32 mappings", "at least 0.95 of the speed with one block", "%.3f", "least", 0.95,
     mapped_copies),
    ("BELAY_STACKS=1 alone, a warm pair", "at most 1.5 times", "×%.2f", "most", 1.5,
     lambda of: checked(of, "stacks1", ("pair",))),
    ("`belay run` as it comes, a warm pair", "at most 2.2 times", "×%.2f", "most", 2.2,
     lambda of: checked(of, "run", ("pair",))),
    ("`belay check --level cheap`, copies of 64 KB", "at most 1.1 times", "×%.2f", "most", 1.1,
     lambda of: checked(of, "cheap", ("copy",))),
    ("the same, requests of a KV cache", "at most 2 times", "×%.2f", "most", 2, lambda of: checked(of, "cheap", ("kv",))),
    ("`belay check`, copies of 64 KB", "at most 2 times", "×%.2f", "most", 2, lambda of: checked(of, "all", ("copy",))),
    ("the same, requests of a KV cache and queued copies of 4 KB", "at most 5 times", "×%.2f", "most", 5,
     lambda of: checked(of, "all", ("kv", "queued"))),
    ("a stack of 8 frames", "under 250 ns", "%.0f ns", "most", 250, one_stack),
)


def judge(result):
    figures = Figures(result)
    judged = []
    for question, bar, form, side, limit, points_of in BARS:
        points = points_of(figures)
        if None in points:
            judged.append({"question": question, "bar": bar, "measured": "not measured", "median": "", "spread": "",
                           "where": "", "value": None, "limit": limit, "passed": None})
            continue
        worst = (max if side == "most" else min)(points, key=lambda point: point.value)
        judged.append({"question": question, "bar": bar, "measured": form % worst.value, "median": form % worst.median,
                       "spread": worst.spread, "where": worst.words, "value": worst.value, "limit": limit,
                       "passed": worst.value <= limit if side == "most" else worst.value >= limit})
    return judged
