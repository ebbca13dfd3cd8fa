# What the command lines of examples may use: see scripts/examples.
#
#   program SOURCE [FLAGS...]   builds a C or C++ file in the working directory, named as the file is
#   listing PAGE [FLAGS...]     builds the first C++ block of a page, with debug information, named as the page is
#   show COMMAND        prints the command as one would type it, and runs it
#   ends NUMBER COMMAND...   runs a command that must end with this number

program() { # source, flags of the compiler...
    local compiler=(${CXX:-g++})
    if [[ $1 == *.c ]]; then compiler=(${CC:-gcc} -std=c99 -D_POSIX_C_SOURCE=200809L); fi
    local name=${1##*/}
    # Lines are shown by the name of the file alone, wherever it lies.
    "${compiler[@]}" -g "-ffile-prefix-map=$(dirname -- "$1")/=" "$1" -o "${name%.*}" "${@:2}" -lascendcl
}

listing() { # page, flags of the compiler...
    local name=${1##*/}
    name=${name%.md}
    sed -n '/^```cpp$/,/^```$/p' "$1" | sed '1d;/^```$/,$d' >"$name.cpp"
    program "$name.cpp" -g "${@:2}"
}

show() { # words of a command line
    printf '$ %s\n' "$*"
    eval "$*"
}

ends() { # number, command...
    local wanted=$1 code=0
    shift
    # What the shell itself says about a signal is not shown.
    { "$@" 2>&3 || code=$?; } 3>&2 2>/dev/null
    if [[ $code != "$wanted" ]]; then
        printf '%s ended with %s, expected was %s\n' "$*" "$code" "$wanted"
        return 1
    fi
}
