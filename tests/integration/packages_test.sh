#!/usr/bin/env bash
# The packages in clean places: the wheel in a fresh environment of Python, the Debian package unpacked elsewhere.
#
# Usage: packages_test.sh <root of an installation> <build> <sources> [<folder with packages>]
#
# Without packages they are made of the installation and the build, as scripts/package does. With ACL_TEST_LONG=1
# scripts/package itself makes them in a copy of the tree, and as root the Debian package is installed and removed in a
# fresh Debian.

source "$(dirname "${BASH_SOURCE[0]}")/install_tree.sh"
build=$2 sources=$(cd "$3" && pwd -P)
without_settings
export BELAY_MACHINE=private SOURCE_DATE_EPOCH=1767225600
dist=$work/dist
clean() { env -i PATH=/usr/bin:/bin HOME="$work" LC_ALL=C BELAY_MACHINE=private "$@"; }

if [[ -n ${4:-} ]]; then
    dist=$(cd "$4" && pwd -P)
elif [[ -n ${ACL_TEST_LONG:-} ]]; then
    mkdir "$work/copy"
    (cd "$sources" && tar --exclude=./build --exclude=./dist -c .) | tar -x -C "$work/copy"
    succeeds 'scripts/package in a copy of the tree' "$work/copy/scripts/package"
    dist=$work/copy/dist
else
    for tool in patchelf cpack fakeroot dpkg-shlibdeps; do
        command -v $tool >/dev/null || { printf 'no %s on this machine: scripts/package installs it\n' $tool; exit 0; }
    done
    pack() { # root of an installation, folder
        succeeds 'the wheel' python3 "$sources/scripts/lib/make_wheel.py" "$1" "$2"
        succeeds 'the Debian package' bash -euc "cd '$build' && cpack -G DEB -B '$2' -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip"
    }
    pack "$root" "$dist"
fi
end_if_failed
wheel=$(ls "$dist"/*.whl) deb=$(ls "$dist"/*.deb)

check_wheel() {
    case ${wheel##*/} in
    (belay_ascend-*-cp39-abi3-manylinux_2_[0-9]*_"$arch".whl) ;;
    (*) fail "the tag of $wheel" ;;
    esac
    /usr/bin/python3 -m venv "$work/venv" || { fail 'no venv; install python3-venv'; return 0; }
    local bin=$work/venv/bin
    succeeds 'pip install' clean "$bin/pip" install --no-index --disable-pip-version-check "$wheel"
    rm -rf "$work/elsewhere" && mkdir "$work/elsewhere" && cd "$work/elsewhere"
    succeeds 'no numpy there' clean "$bin/python" -c 'import importlib.util as u; assert u.find_spec("numpy") is None'
    succeeds 'import' clean "$bin/python" -c 'import acl, belay; assert acl.init() == 0; assert acl.rt.get_device_count() == (8, 0)'
    same 'the version' "$(clean "$bin/belay" --version)" "$("$root/bin/belay" --version)"
    succeeds 'npu-smi' bash -c "env -i PATH=/usr/bin:/bin BELAY_MACHINE=private '$bin/npu-smi' info | grep -q 910B3"
    succeeds 'what it requires' clean "$bin/python" -c '
from importlib.metadata import distribution
d = distribution("belay-ascend")
assert d.requires is None, d.requires
names = {f.name for f in d.files if "licenses" in f.parts}
assert {"belay", "libdw1", "LGPL-3", "GPL-3"} <= names, names'
    write_client client.c
    succeeds 'headers and library' bash -euc "tree=\$('$bin/python' -c 'import belay, os; print(os.path.dirname(belay.__file__))')/toolkit
        '$CC' client.c -g -I\$tree/include -L\$tree/lib64 -lascendcl -o client
        env -i PATH=/usr/bin:/bin BELAY_MACHINE=private '$bin/belay' run -- ./client
        env -i PATH=/usr/bin:/bin BELAY_MACHINE=private '$bin/belay' check -- ./client"
    succeeds 'the bundled libdw is used' bash -c "ldd \$(dirname '$bin')/lib/python*/site-packages/belay/toolkit/bin/belay | grep 'libdw.*bundled'"
    succeeds 'a toolkit of the wheel' bash -euc "'$bin/belay' toolkit install --root '$work/wheel-toolkit'
        source '$work/wheel-toolkit/ascend-toolkit/set_env.sh'
        '$CC' client.c -I\$ASCEND_HOME_PATH/include -L\$ASCEND_HOME_PATH/lib64/stub -lascendcl -o fixed && ./fixed
        '$bin/belay' toolkit remove --root '$work/wheel-toolkit'; test ! -e '$work/wheel-toolkit'"
    # pytest is Debian's: an environment that sees the system's packages, with the wheel in it.
    if /usr/bin/python3 -c 'import pytest' 2>/dev/null; then
        sed -i 's/^include-system-site-packages.*/include-system-site-packages = true/' "$work/venv/pyvenv.cfg"
        printf 'def test_it(belay_device):\n    assert belay_device.total > 0\n' >test_it.py
        # Without bytecode: what pytest compiles of plugins, pip does not remove.
        succeeds 'the plugin of pytest' clean "$bin/python" -B -m pytest -q -p no:cacheprovider --belay-check=all test_it.py
    fi
    succeeds 'pip uninstall' clean "$bin/pip" uninstall -qy belay-ascend
    same 'what is left' "$(find "$work/venv" -name '*belay*' -o -name 'acl*' -o -name npu-smi | grep -v __pycache__ || true)" ''
}

check_archive() { # made by scripts/package only
    local archive=("$dist"/*.tar.xz)
    [[ -e ${archive[0]} ]] || return 0
    mkdir -p "$work/some where"
    tar -xf "${archive[0]}" -C "$work/some where"
    write_client "$work/some where/client.c"
    succeeds 'the archive, anywhere' bash -euc "cd '$work/some where'; source belay-*/set_env.sh
        '$CC' client.c -I\"\$ASCEND_HOME_PATH/include\" -L\"\$ASCEND_HOME_PATH/lib64\" -lascendcl -o client
        ./client; belay check -- ./client; npu-smi info; python3 -c 'import acl, belay'; ldd \"\$(command -v belay)\" | grep -q 'libdw.*bundled'"
}

check_same_again() { # the same sources give the same packages, wherever, whenever and by whomever they are made
    [[ $dist == "$work/dist" ]] || return 0 # made by scripts/package
    cp -R "$root" "$work/tree" # with other times, in another place
    (umask 077 && TZ=Asia/Tokyo pack "$work/tree" "$work/again")
    local file
    for file in "$wheel" "$deb"; do
        cmp "$file" "$work/again/${file##*/}" || fail "${file##*/} is another file when it is made again"
    done
    rm -rf "$work/tree" "$work/again"
    # The archive takes long to compress, so it is one of a small tree.
    local mask
    for mask in 022 077; do
        (umask $mask && mkdir -p "$work/small.$mask/tree/b" "$work/small.$mask/tree/a" && cd "$work/small.$mask/tree" &&
            touch b/2 b/1 a/run && chmod u+x a/run && ln -s ../b/1 a/link &&
            TZ=$([[ $mask == 022 ]] && echo UTC || echo Asia/Tokyo) PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$sources/scripts/lib python3 -c \
                'import make_wheel; make_wheel.archive(".", "small", "..")')
    done
    cmp "$work"/small.*/small.tar.xz || fail 'the archive is another file when it is made again'
    same 'its times' "$(tar --utc --full-time -tvf "$work/small.022/small.tar.xz" | awk '{ print $4, $5 }' | sort -u)" \
        '2026-01-01 00:00:00'
}

check_names_on_pages() { # the version is in one place; pages repeat it
    local version name
    version=$("$root/bin/belay" --version | sed 's/^belay \([0-9.]*\),.*/\1/')
    for name in "belay_ascend-$version-cp39-abi3-manylinux" "belay_${version}_amd64.deb" "belay-$version-linux-"; do
        grep -qF "$name" "$sources/README.md" || fail "README.md does not say $name"
    done
}

check_deb_unpacked() {
    local top=$work/unpacked
    dpkg-deb -x "$deb" "$top"
    dpkg-deb -e "$deb" "$top/control"
    same 'belay, elsewhere' "$("$top/usr/bin/belay" --version)" "$("$root/bin/belay" --version)"
    succeeds 'npu-smi, elsewhere' "$top/usr/bin/npu-smi" info
    succeeds 'Python, elsewhere' clean PYTHONPATH="$top$(cat "$top/usr/lib/python3/dist-packages/belay.pth")" \
        python3 -c 'import acl, belay'
    local file
    for file in usr/share/man/man1/belay.1.gz usr/share/man/man1/npu-smi.1.gz usr/share/doc/belay/copyright \
        usr/share/bash-completion/completions/belay usr/share/zsh/vendor-completions/_belay \
        usr/share/fish/vendor_completions.d/belay.fish usr/share/pkgconfig/belay.pc \
        usr/share/cmake/belay/belay-config.cmake usr/lib/belay/include/acl/acl.h; do
        [[ -s $top/$file ]] || fail "the package has no $file"
    done
    grep -q '^Depends:.*libdw1' "$top/control/control" || fail 'it does not depend on libdw1'
    # What apt says of its size is what it takes, give or take how full the last block of each file is.
    local said takes
    said=$(dpkg-deb -f "$deb" Installed-Size) takes=$(du -sk --apparent-size "$top/usr" | cut -f1)
    ((said <= takes * 5 / 4 && said >= takes * 3 / 4)) || fail "it says $said KB, and takes $takes KB"
    same 'owners and writers' "$(dpkg-deb -c "$deb" | awk '$2 != "root/root" || $1 !~ /^(l|[d-]rw.r-.r-)/')" ''
    same 'pkg-config' "$(PKG_CONFIG_PATH=$top/usr/share/pkgconfig pkg-config --cflags --libs belay | xargs)" \
        '-I/usr/lib/belay/include -L/usr/lib/belay/lib64 -lascendcl -Wl,-rpath,/usr/lib/belay/lib64'
    mkdir -p "$work/found"
    write_client "$work/found/client.c"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.22)' 'project(client C)' 'find_package(belay REQUIRED)' \
        'add_executable(client client.c)' 'target_link_libraries(client belay::ascendcl)' >"$work/found/CMakeLists.txt"
    succeeds 'find_package, as in /usr' bash -euc "cd '$work/found'
        cmake -B build -DCMAKE_PREFIX_PATH='$top/usr' && cmake --build build && build/client"
}

check_deb_in_debian() {
    [[ -n ${ACL_TEST_LONG:-} ]] && ((EUID == 0)) && command -v debootstrap >/dev/null || return 0
    local top=$work/debian
    local mirror
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' | awk '$2 == "bookworm" || /debian/ { print $1; exit }')
    if ! debootstrap --variant=minbase --include=python3-minimal bookworm "$top" "$mirror" >"$work/output" 2>&1; then
        printf 'debootstrap does not work here: %s\n' "$(tail -1 "$work/output")"
        return 0
    fi
    cp /etc/apt/sources.list "$top/etc/apt/" 2>/dev/null || true
    cp -r /etc/apt/sources.list.d /etc/apt/apt.conf.d "$top/etc/apt/" 2>/dev/null || true
    cp "$deb" "$top/belay.deb"
    inside() { # commands; the mount goes away with them
        unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
            HOME=/root BELAY_MACHINE=private PYTHONDONTWRITEBYTECODE= sh -ec "$1"' "$top" "$1"
    }
    if ! inside true; then
        printf 'nothing can be mounted here: the Debian package is not installed\n'
        return 0
    fi
    listing() { (cd "$top" && find etc usr var/lib opt root ! -path 'var/lib/apt*' ! -path 'var/lib/dpkg*' ! -path 'etc/ld.so.cache' | sort); }
    succeeds 'apt update' inside 'apt-get -q update'
    succeeds 'what it depends on' inside 'apt-get -qy --no-install-recommends install libdw1'
    listing >"$work/before"
    succeeds 'apt install' inside 'apt-get -qy install ./belay.deb'
    succeeds 'in use' inside 'belay --version; npu-smi info; python3 -c "import acl, belay"; belay toolkit install
        test -e /usr/local/Ascend/ascend-toolkit/latest/lib64/libascendcl.so; test -e /etc/ascend_install.info'
    succeeds 'apt remove' inside 'apt-get -qy remove belay'
    listing >"$work/after"
    same 'what is left' "$(comm -13 "$work/before" "$work/after")" ''
}

run_checks
finish packages
