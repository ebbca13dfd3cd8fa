#!/usr/bin/env bash
# C9, C10: functions are found by name at run time, missing ones are missing, and a preloaded library that wraps
# aclrtMalloc sees every call.
#
# Usage: C9_C10_dlopen_and_preload.sh <root of an installation>

source "$(dirname "${BASH_SOURCE[0]}")/install_tree.sh"

library=$root/lib64/libascendcl.so
include=$root/include

check_C10_dlopen() {
    cat >"$work/probe.cpp" <<'END'
// Loads the library by name, looks functions up and uses them; linked with nothing.
#include <dlfcn.h>
#include <cstdio>
#include <initializer_list>
#include "acl/acl.h"

#define LOOK_UP(name) reinterpret_cast<decltype(&name)>(dlsym(library, #name))

static int fail(const char* what) { std::printf("%s\n", what); return 1; }

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return fail(dlerror());
    auto set_device = LOOK_UP(aclrtSetDevice);
    auto malloc_device = LOOK_UP(aclrtMalloc);
    auto memset_device = LOOK_UP(aclrtMemset);
    auto copy = LOOK_UP(aclrtMemcpy);
    auto free_device = LOOK_UP(aclrtFree);
    auto reset = LOOK_UP(aclrtResetDevice);
    auto atomics = LOOK_UP(aclrtDeviceGetHostAtomicCapabilities);
    if (!set_device || !malloc_device || !memset_device || !copy || !free_device || !reset || !atomics) {
        return fail("a function of the interface is not found");
    }
    // Vendor functions outside the interface, and names nobody has.
    for (const char* name : {"aclmdlRICaptureBegin", "rtMalloc", "halMemAlloc", "aclrtNoSuchFunction"}) {
        if (dlsym(library, name) != nullptr) return fail(name);
    }
    void* block = nullptr;
    char back[16] = {};
    if (set_device(0) != ACL_SUCCESS) return fail("aclrtSetDevice");
    if (malloc_device(&block, sizeof(back), ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return fail("aclrtMalloc");
    if (memset_device(block, sizeof(back), 7, sizeof(back)) != ACL_SUCCESS) return fail("aclrtMemset");
    if (copy(back, sizeof(back), block, sizeof(back), ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS) return fail("aclrtMemcpy");
    if (back[0] != 7 || back[15] != 7) return fail("wrong bytes");
    // Marked as unsupported in the interface: there, and answering so.
    aclrtAtomicOperation operation{};
    uint32_t value = 0;
    const aclError answer = atomics(&value, &operation, 1, 0);
    if (answer != ACL_ERROR_RT_FEATURE_NOT_SUPPORT) {
        std::printf("aclrtDeviceGetHostAtomicCapabilities answered %d\n", answer);
        return 1;
    }
    if (free_device(block) != ACL_SUCCESS || reset(0) != ACL_SUCCESS) return fail("end");

    // Every name is the same runtime.
    for (int i = 2; i < argc; ++i) {
        void* other = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (other == nullptr) return fail(dlerror());
        if (dlsym(other, "aclrtMalloc") != reinterpret_cast<void*>(malloc_device)) return fail("another runtime");
    }
    dlclose(library);
    std::printf("well\n");
    return 0;
}
END
    succeeds 'C10: the probe compiles' "$CXX" -std=c++11 "$work/probe.cpp" -o "$work/probe" -I"$include" -ldl
    succeeds 'C10: by full path' "$work/probe" "$library" "$root/lib64/libacl_rt.so"
    succeeds 'C10: by name' env LD_LIBRARY_PATH="$root/lib64" \
        "$work/probe" libascendcl.so libacl_rt.so libruntime.so libacl_rt_impl.so
    succeeds 'C10: libacl_rt.so first' env LD_LIBRARY_PATH="$root/lib64" "$work/probe" libacl_rt.so libascendcl.so
}

check_C10_python_ctypes() {
    succeeds 'C10: ctypes' python3 - "$library" <<'END'
import ctypes, sys
acl = ctypes.CDLL(sys.argv[1])
assert acl.aclrtSetDevice(0) == 0
block = ctypes.c_void_p()
assert acl.aclrtMalloc(ctypes.byref(block), ctypes.c_size_t(1 << 20), 0) == 0 and block.value
assert acl.aclrtFree(block) == 0
assert acl.aclrtResetDevice(0) == 0
assert not hasattr(acl, "aclmdlRICaptureBegin")
END
}

check_C9_preloaded_wrapper() {
    cat >"$work/saver.c" <<'END'
/* A memory saver: its own aclrtMalloc and aclrtFree, which reach the real ones. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include "acl/acl.h"

static unsigned allocated, freed;

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
    aclError (*real)(void **, size_t, aclrtMemMallocPolicy);
    *(void **)&real = dlsym(RTLD_NEXT, "aclrtMalloc");
    if (real == NULL || real == aclrtMalloc) return -1;
    ++allocated;
    return real(devPtr, size, policy);
}

aclError aclrtFree(void *devPtr) {
    aclError (*real)(void *);
    *(void **)&real = dlsym(RTLD_NEXT, "aclrtFree");
    if (real == NULL || real == aclrtFree) return -1;
    ++freed;
    return real(devPtr);
}

__attribute__((destructor)) static void tell(void) { fprintf(stderr, "wrapped %u %u\n", allocated, freed); }
END
    cat >"$work/program.c" <<'END'
#include "acl/acl.h"
/* Three calls of aclrtMalloc, two of aclrtFree; the other allocations must not come by the wrapper. */
int main(void) {
    void *block[3], *other, *host;
    int i;
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
    for (i = 0; i < 3; ++i) {
        if (aclrtMalloc(&block[i], 5000, ACL_MEM_MALLOC_NORMAL_ONLY) != ACL_SUCCESS) return 2;
    }
    if (aclrtMallocAlign32(&other, 100, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 3;
    if (aclrtMallocHost(&host, 100) != ACL_SUCCESS || aclrtFreeHost(host) != ACL_SUCCESS) return 4;
    if (aclrtFree(block[0]) != ACL_SUCCESS || aclrtFree(block[2]) != ACL_SUCCESS) return 5;
    if (aclrtResetDevice(0) != ACL_SUCCESS || aclFinalize() != ACL_SUCCESS) return 6;
    return 0;
}
END
    succeeds 'C9: the saver compiles' "$CC" -shared -fPIC "$work/saver.c" -o "$work/saver.so" -I"$include" -ldl
    succeeds 'C9: the program compiles' "$CC" "$work/program.c" -o "$work/program" -I"$include" -L"$root/lib64" -lascendcl
    succeeds 'C9: the program runs' env LD_LIBRARY_PATH="$root/lib64" BELAY_LEAKS=off LD_PRELOAD="$work/saver.so" "$work/program"
    same 'C9: calls that the saver saw' "$(grep '^wrapped' "$work/output")" 'wrapped 3 2'
}

check_C9_no_symbolic_binding() {
    if readelf -dW "$library" | grep -E '\(SYMBOLIC\)|\(FLAGS\).*SYMBOLIC'; then
        fail 'C9: linked with symbolic binding'
    fi
}

check_C10_dlopen
check_C10_python_ctypes
check_C9_preloaded_wrapper
check_C9_no_symbolic_binding
finish 'C9, C10'
