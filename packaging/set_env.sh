# The environment for building and running programs with this installation:
#
#     source <this directory>/set_env.sh        in bash and zsh
#     . <this directory>/set_env.sh             in sh: dash, busybox, mksh, ksh93
#
# It finds its own place, also through links, and may be sourced again, from anywhere, under `set -e` and
# `set -u`. It changes no shell option and leaves nothing behind but the variables it exports.

_belay_env_file=
_belay_env_shell=
if [ -n "${BASH_VERSION:-}" ]; then
    eval '_belay_env_file=${BASH_SOURCE[0]}'
elif [ -n "${ZSH_VERSION:-}" ]; then
    eval '_belay_env_file=${(%):-%x}'
else
    case ${KSH_VERSION:-} in
    (*93*) eval '_belay_env_file=${.sh.file}' ;;
    (*) # other shells have it open while they read it; their number here, because subshells close it
        IFS=' ' read -r _belay_env_shell _belay_env_file 2>/dev/null </proc/self/stat || :
        _belay_env_file= ;;
    esac
fi

# All work is done in a subshell, whose variables, functions and options end with it. It prints assignments.
_belay_env=$(
    set +efu

    _belay_is_ours() { # file: whether it is this script
        case $1 in
        (*/set_env.sh | */setenv.bash) [ -f "$1" ] && grep -q '^_belay_env_file=$' "$1" 2>/dev/null ;;
        (*) false ;;
        esac
    }

    # The last file that the shell has opened and that is this script.
    if [ -n "$_belay_env_shell" ]; then
        highest=-1
        for each in "/proc/$_belay_env_shell/fd/"*; do
            file=$(readlink "$each" 2>/dev/null)
            if [ "${each##*/}" -gt "$highest" ] 2>/dev/null && _belay_is_ours "$file"; then
                highest=${each##*/}
                _belay_env_file=$file
            fi
        done
    fi
    if [ -z "$_belay_env_file" ]; then
        for each in "${ASCEND_HOME_PATH:-.}" .; do
            if [ -z "$_belay_env_file" ] && _belay_is_ours "$each/set_env.sh"; then
                _belay_env_file=$each/set_env.sh
            fi
        done
    fi
    if [ -z "$_belay_env_file" ]; then
        printf '%s\n' 'set_env.sh: this shell does not tell where the script lies. Say it:' \
            '    ASCEND_HOME_PATH=/path/to/its/directory; . "$ASCEND_HOME_PATH/set_env.sh"' >&2
        exit 1
    fi

    home=$(readlink -f -- "$_belay_env_file")
    home=${home%/*}
    home=${home%/bin}           # as bin/setenv.bash, where links were copied as files
    root=${home%/*}             # <root>/cann-<version>, or <root>/ascend-toolkit/<version>
    root=${root%/ascend-toolkit}

    _belay_give() { # variable value
        if [ -z "$2" ]; then
            return 0
        fi
        rest=$2 quoted=
        while [ "$rest" != "${rest#*\'}" ]; do
            quoted=$quoted${rest%%\'*}"'\\''"
            rest=${rest#*\'}
        done
        printf "export %s='%s'\n" "$1" "$quoted$rest"
    }

    # Puts a directory that exists into a list with colons. The same directory from an earlier run, and those
    # of other versions below the same root, are taken out.
    _belay_put() { # list front|back directory
        list=$1
        if [ ! -d "$3" ]; then
            return 0
        fi
        rest=${list:+$list:} list=
        while [ -n "$rest" ]; do
            entry=${rest%%:*}
            rest=${rest#*:}
            case $entry in
            ("$3") ;;
            ("$home" | "$home"/*) list=$list:$entry ;;
            ("$root"/cann | "$root"/cann/* | "$root"/cann-[0-9]* | "$root"/ascend-toolkit/*) ;;
            (*) list=$list:$entry ;;
            esac
        done
        if [ "$2" = front ]; then
            list=$3$list
        else
            list=${list:+${list#:}:}$3
        fi
    }

    _belay_give ASCEND_HOME_PATH "$home"
    _belay_give ASCEND_TOOLKIT_HOME "$home"
    _belay_give ASCEND_INSTALL_PATH "$home"
    _belay_give ASCEND_AICPU_PATH "$home"
    _belay_give ASCEND_OPP_PATH "$home/opp"
    _belay_give TOOLCHAIN_HOME "$home/toolkit"

    _belay_put "${PATH:-}" front "$home/bin"
    _belay_give PATH "$list"
    _belay_put "${LD_LIBRARY_PATH:-}" front "$home/lib64"
    _belay_put "$list" back "$home/devlib"
    _belay_give LD_LIBRARY_PATH "$list"
    # Not lib64: CMake takes what it finds in LIBRARY_PATH for a directory of the system, and leaves it out of
    # the RUNPATH of what it links (C-27).
    _belay_put "${LIBRARY_PATH:-}" front "$home/devlib/link"
    _belay_give LIBRARY_PATH "$list"
    _belay_put "${PYTHONPATH:-}" front "$home/python/site-packages"
    _belay_give PYTHONPATH "$list"
    _belay_put "${CMAKE_PREFIX_PATH:-}" front "$home"
    _belay_put "$list" front "$home/lib64/cmake"
    _belay_give CMAKE_PREFIX_PATH "$list"
    _belay_put "${PKG_CONFIG_PATH:-}" front "$home/lib64/pkgconfig"
    _belay_give PKG_CONFIG_PATH "$list"
) || {
    unset _belay_env _belay_env_file _belay_env_shell
    return 1
}
eval "$_belay_env"
unset _belay_env _belay_env_file _belay_env_shell
