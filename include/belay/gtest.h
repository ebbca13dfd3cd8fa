/*
 * What belay finds in a program that is checked (BELAY_CHECK, `belay check`) fails the test of GoogleTest that made the
 * mistake. One line in one source file of the test program, with or without a main of its own:
 *
 *     static const bool checked = belay::check_tests();
 *
 * Needs C++11 and GoogleTest. belay's functions are looked up when the program runs, so that it also links and runs
 * with a real toolkit: there, and where nothing is checked, all of this does nothing. (Before glibc 2.34, link with
 * -ldl.)
 */
#ifndef BELAY_GTEST_H_
#define BELAY_GTEST_H_

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "belay/belay.h"

namespace belay {

enum class Leaks {
    AtEnd,  /* found when a device is reset and when the program ends, as in any program */
    PerTest /* what a test makes and has not given back when it ends fails that test */
};

namespace gtest_detail {

/* NULL where the library does not have it. */
template <class Function>
Function *function(const char *name) {
    return reinterpret_cast<Function *>(::dlsym(RTLD_DEFAULT, name));
}

inline std::vector<belayFinding> findings() {
    static const auto ask = function<decltype(belay_findings)>("belay_findings");
    std::vector<belayFinding> all;
    if (ask == nullptr) {
        return all;
    }
    /* More may come between the two questions. */
    for (std::size_t count = ask(0, nullptr, 0); count > all.size(); count = ask(0, all.data(), all.size())) {
        all.resize(count);
    }
    return all;
}

/* How often each was made, by its number. */
typedef std::vector<std::uint64_t> Counts;

inline Counts counts() {
    Counts all;
    for (const belayFinding &each : findings()) {
        all.push_back(each.count);
    }
    return all;
}

/* How often finding `number` was made since. Accepting lowers a count. */
inline std::uint64_t since(const Counts &before, std::size_t number, std::uint64_t now) {
    const std::uint64_t then = number < before.size() ? before[number] : 0;
    return now > then ? now - then : 0;
}

inline std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

/* What follows "at " in a line such as "belay:   at function (file.cpp:12)". Empty: it is another line. */
inline std::string frame_in(const std::string &line) {
    const std::string start = "belay:";
    const std::size_t word = line.find_first_not_of(' ', start.size());
    const bool is_frame = line.compare(0, start.size(), start) == 0 && word != std::string::npos &&
                          line.compare(word, 3, "at ") == 0;
    return is_frame ? line.substr(word + 3) : std::string();
}

/* Of a frame with a place in the sources. False: it has none. */
inline bool find_place(const std::string &frame, std::string &file, int &line) {
    const std::size_t open = frame.rfind(" ("), colon = frame.rfind(':');
    if (open == std::string::npos || colon == std::string::npos || colon < open) {
        return false;
    }
    file = frame.substr(open + 2, colon - open - 2);
    line = std::atoi(frame.c_str() + colon + 1);
    return line > 0;
}

inline void fail(const belayFinding &finding, std::uint64_t times, const char *file_of_test, int line_of_test) {
    std::string file = file_of_test != nullptr ? file_of_test : "", message;
    int line = line_of_test;
    bool found = false, in_gtest = false;
    for (const std::string &each : lines_of(finding.text)) {
        const std::string frame = frame_in(each);
        in_gtest = !frame.empty() && (in_gtest || frame.compare(0, 9, "testing::") == 0);
        if (in_gtest) {
            continue; /* how GoogleTest, and who called it, calls a test says nothing about the test */
        }
        message += (message.empty() ? "" : "\n") + each;
        found = found || find_place(frame, file, line);
    }
    if (times > 1) {
        message += "\n" + std::to_string(times) + " times";
    }
    ADD_FAILURE_AT(file.c_str(), line) << message;
}

}  // namespace gtest_detail

/*
 * Fails each test that makes a mistake of a class that counts (`belay check --fail-on`), at the line of the program that
 * made the call if it is known, else at the test. A mistake is told once for each place in the program, but every test
 * that makes it fails. Mistakes outside of all tests, such as in SetUpTestSuite, fail the run.
 */
class CheckListener : public ::testing::EmptyTestEventListener {
public:
    explicit CheckListener(Leaks leaks = Leaks::AtEnd) : leaks_(leaks) {}

    void OnTestStart(const ::testing::TestInfo &) override {
        if (leaks_ == Leaks::PerTest) {
            mark();
        }
        start_ = gtest_detail::counts();
    }

    void OnTestEnd(const ::testing::TestInfo &test) override {
        end_of_test();
        /* One that failed half-way had no chance to give anything back. */
        if (leaks_ == Leaks::PerTest && !test.result()->Failed()) {
            mark();
        }
        tell(start_, test.file(), test.line());
    }

    void OnTestIterationEnd(const ::testing::UnitTest &, int) override {
        end_of_test();
        tell(told_, nullptr, -1);
    }

private:
    static void mark() {
        static const auto set = gtest_detail::function<decltype(belay_mark)>("belay_mark");
        if (set != nullptr) {
            set();
        }
    }
    static void end_of_test() {
        static const auto look = gtest_detail::function<decltype(belay_end_of_test)>("belay_end_of_test");
        if (look != nullptr) {
            look();
        }
    }

    void tell(const gtest_detail::Counts &before, const char *file, int line) {
        const std::vector<belayFinding> all = gtest_detail::findings();
        told_.resize(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::uint64_t times = gtest_detail::since(before, i, all[i].count);
            told_[i] += times;
            if (times != 0 && all[i].fails != 0) {
                gtest_detail::fail(all[i], times, file, line);
            }
        }
    }

    const Leaks leaks_;
    gtest_detail::Counts start_, told_;
};

/* Adds a CheckListener to those of GoogleTest. Can be called before main. */
inline bool check_tests(Leaks leaks = Leaks::AtEnd) {
    ::testing::UnitTest::GetInstance()->listeners().Append(new CheckListener(leaks));
    return true;
}

/*
 * For a test that makes a mistake on purpose: findings of this id ("double-free") or class ("lifetime") that are made as
 * long as this object lives fail no test and decide no exit code.
 */
class MayFind {
public:
    explicit MayFind(const char *id_or_class) : meant_(id_or_class), start_(gtest_detail::counts()) {}
    MayFind(const MayFind &) = delete;
    MayFind &operator=(const MayFind &) = delete;

    ~MayFind() {
        const auto accept = gtest_detail::function<decltype(belay_accept_finding)>("belay_accept_finding");
        const std::vector<belayFinding> all = gtest_detail::findings();
        for (std::size_t i = 0; accept != nullptr && i < all.size(); ++i) {
            const std::uint64_t times = gtest_detail::since(start_, i, all[i].count);
            if (times != 0 && (meant_ == all[i].id || meant_ == all[i].className)) {
                accept(i, times);
            }
        }
    }

private:
    const std::string meant_;
    const gtest_detail::Counts start_;
};

}  // namespace belay

#endif
