# Shared by the scripts here; source it. It leaves the caller in the project's root.
#
#   need package...   brings Debian packages that are missing; quick when none is
#   say text          a line about what happens
#   die text          a message, and the end
#   project_python    the Python to build and test with: $PYTHON, else Debian's own
#   help_if_asked "$@"   prints the comment at the top of the calling script for --help

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

say() { printf '\n== %s\n' "$*"; }

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 2
}

help_if_asked() {
    local argument
    for argument in "$@"; do
        if [[ $argument == --help || $argument == -h ]]; then
            sed -n '2,/^[^#]/{ /^#/!d; s/^# \{0,1\}//; p; }' "${BASH_SOURCE[1]}"
            exit 0
        fi
    done
}

project_python() {
    local python=${PYTHON:-/usr/bin/python3}
    if [[ -z ${PYTHON:-} && ! -x $python ]]; then python=python3; fi
    command -v "$python" || die "there is no Python '$python'; set PYTHON to one, or install python3"
}

need() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        printf 'not a Debian system; make sure that the contents of these packages are installed: %s\n' "$*" >&2
        return 0
    fi
    local package missing=()
    local -A installed=()
    while read -r package; do
        installed[$package]=yes
    done < <(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | sed -n 's/ installed$//p')
    for package in "$@"; do
        [[ -n ${installed[$package]:-} ]] || missing+=("$package")
    done
    ((${#missing[@]} > 0)) || return 0

    local as_root=()
    if ((EUID != 0)); then
        command -v sudo >/dev/null ||
            die "packages are missing, and only root can install them: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    say "Installing ${missing[*]}"
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120)
    "${as_root[@]}" "${apt[@]}" update || die 'apt-get update failed; is there a network?'
    "${as_root[@]}" "${apt[@]}" install -y --no-install-recommends "${missing[@]}" ||
        die "could not install ${missing[*]}"
}
