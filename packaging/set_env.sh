# The environment for building and running programs with this installation. For bash and zsh:
#
#     source <this directory>/set_env.sh
#
# It finds its own place, also through links, and may be sourced again, from anywhere, under `set -e` and
# `set -u`. It changes no shell option and leaves nothing behind but the variables it exports.

_belay_env_file=
if [ -n "${BASH_VERSION:-}" ]; then
    eval '_belay_env_file=${BASH_SOURCE[0]}'
elif [ -n "${ZSH_VERSION:-}" ]; then
    eval '_belay_env_file=${(%):-%x}'
fi
if [ -z "$_belay_env_file" ]; then
    unset _belay_env_file
    echo "set_env.sh: this shell does not tell where the script lies; source it from bash" >&2
    return 1
fi

# _belay_env_put variable front|back directory: puts a directory that exists into a list with colons. The same
# directory from an earlier run, and those of other versions below the same root, are taken out.
_belay_env_put() {
    local name=$1 side=$2 directory=$3 rest entry kept=
    if [ ! -d "$directory" ]; then
        return 0
    fi
    eval "rest=\${$name:-}"
    rest=${rest:+$rest:}
    while [ -n "$rest" ]; do
        entry=${rest%%:*}
        rest=${rest#*:}
        case $entry in
        "$directory") ;;
        "$home" | "$home"/*) kept=$kept:$entry ;;
        "$root"/cann | "$root"/cann/* | "$root"/cann-[0-9]* | "$root"/ascend-toolkit/*) ;;
        *) kept=$kept:$entry ;;
        esac
    done
    if [ "$side" = front ]; then
        kept=$directory$kept
    else
        kept=${kept:+${kept#:}:}$directory
    fi
    eval "export $name=\$kept"
}

_belay_env() {
    local home root
    home=$(readlink -f -- "$1")
    home=${home%/*}
    home=${home%/bin}           # as bin/setenv.bash, where links were copied as files
    root=${home%/*}             # <root>/cann-<version>, or <root>/ascend-toolkit/<version>
    root=${root%/ascend-toolkit}

    export ASCEND_HOME_PATH=$home
    export ASCEND_TOOLKIT_HOME=$home
    export ASCEND_INSTALL_PATH=$home
    export ASCEND_AICPU_PATH=$home
    export ASCEND_OPP_PATH=$home/opp
    export TOOLCHAIN_HOME=$home/toolkit

    _belay_env_put PATH front "$home/bin"
    _belay_env_put LD_LIBRARY_PATH front "$home/lib64"
    _belay_env_put LD_LIBRARY_PATH back "$home/devlib"
    _belay_env_put LIBRARY_PATH front "$home/lib64"
    _belay_env_put PYTHONPATH front "$home/python/site-packages"
    _belay_env_put CMAKE_PREFIX_PATH front "$home"
    _belay_env_put CMAKE_PREFIX_PATH front "$home/lib64/cmake"
    _belay_env_put PKG_CONFIG_PATH front "$home/lib64/pkgconfig"
}

_belay_env "$_belay_env_file"
unset -f _belay_env _belay_env_put
unset _belay_env_file
