#!/usr/bin/env bash
# C3, C28, R261, R262: set_env.sh and bin/setenv.bash in the ways scripts source them.
#
# Usage: C3_R261_R262_set_env.sh <root of an installation>

source "$(dirname "${BASH_SOURCE[0]}")/install_tree.sh"

names='ASCEND_HOME_PATH ASCEND_TOOLKIT_HOME ASCEND_INSTALL_PATH ASCEND_OPP_PATH ASCEND_AICPU_PATH TOOLCHAIN_HOME
PATH LD_LIBRARY_PATH LIBRARY_PATH PYTHONPATH CMAKE_PREFIX_PATH'
system_path=/usr/local/bin:/usr/bin:/bin

# Runs lines in a bash of their own, with nothing set but PATH and what the lines set.
fresh() { # lines
    env -i PATH="$system_path" HOME="$work" bash --noprofile --norc -c "$1"
}

# The same, and prints what the lines leave of the variables.
environment_after() { # lines
    fresh "$1"$'\n'"for name in ${names//$'\n'/ }; do printf '%s=%s\n' \$name \"\$(printenv \$name)\"; done"
}

wanted() { # root
    printf '%s\n' "ASCEND_HOME_PATH=$1" "ASCEND_TOOLKIT_HOME=$1" "ASCEND_INSTALL_PATH=$1" "ASCEND_OPP_PATH=$1/opp" \
        "ASCEND_AICPU_PATH=$1" "TOOLCHAIN_HOME=$1/toolkit" "PATH=$1/bin:$system_path" \
        "LD_LIBRARY_PATH=$1/lib64:$1/devlib" "LIBRARY_PATH=$1/devlib/link" "PYTHONPATH=$1/python/site-packages" \
        "CMAKE_PREFIX_PATH=$1/lib64/cmake:$1"
}

gives() { # what, root, lines
    local found
    found=$(environment_after "$3") || fail "$1: ended with $?"
    if [[ $found != "$(wanted "$2")" ]]; then
        fail "$1 (< wanted, > found):"
        diff <(wanted "$2") <(printf '%s\n' "$found") | sed 's/^/    /' >&2 || true
    fi
}

check_C3_exported() {
    gives 'C3: set_env.sh' "$root" "source '$root/set_env.sh'"
    gives 'C3: bin/setenv.bash' "$root" "source '$root/bin/setenv.bash'"
    gives 'C3: with a dot' "$root" ". '$root/set_env.sh'"
}

check_C3_strict_shells() {
    local script
    for script in set_env.sh bin/setenv.bash; do
        gives "C3: $script under set -u" "$root" "set -u; source '$root/$script'"
        gives "C3: $script under set -e" "$root" "set -e; source '$root/$script'"
        gives "C3: $script under everything" "$root" "set -eEuo pipefail; trap 'exit 9' ERR; source '$root/$script'"
    done
    gives 'C3: odd separators' "$root" "IFS=/:; source '$root/set_env.sh'; unset IFS"
    gives 'C3: in posix mode' "$root" "set -o posix; source '$root/set_env.sh'"
    gives 'C3: with CDPATH' "$root" "export CDPATH=/:/usr; cd '$root'; source ./set_env.sh"
    same 'C3: says nothing' "$(fresh "source '$root/set_env.sh' 2>&1")" ''
}

check_C3_finds_itself() {
    local tree="$work/a tree/with space"
    mkdir -p "$work/a tree" "$work/elsewhere"
    cp -a "$root" "$tree"
    gives 'C3: moved, with a space' "$tree" "source '$tree/set_env.sh'"
    gives 'C3: from another directory' "$root" "cd '$work/elsewhere'; source '$root/set_env.sh'"
    gives 'C3: from its own directory' "$root" "cd '$root'; source set_env.sh"
    gives 'C3: from bin' "$root" "cd '$root/bin'; source setenv.bash"
    gives 'C3: relative' "$tree" "cd '$work/elsewhere'; source '../a tree/with space/set_env.sh'"
    ln -s "$root" "$work/link"
    ln -s "$root/set_env.sh" "$work/elsewhere/env.sh"
    ln -s env.sh "$work/elsewhere/env_again.sh"
    gives 'C3: through a link to the tree' "$root" "source '$work/link/set_env.sh'"
    gives 'C3: through a link to the script' "$root" "source '$work/elsewhere/env.sh'"
    gives 'C3: through two links' "$root" "cd '$work/elsewhere'; source env_again.sh"
    gives 'C3: inside a function' "$root" "load() { source '$root/set_env.sh'; }; load"
    cp -a "$root" "$work/flat"
    cp --remove-destination "$root/set_env.sh" "$work/flat/bin/setenv.bash"
    gives 'C3: links copied as files' "$work/flat" "source '$work/flat/bin/setenv.bash'"
}

check_C3_only_what_exists() {
    cp -a "$root" "$work/part"
    rm -r "$work/part/python" "$work/part/devlib"
    local found
    found=$(environment_after "set -eu; source '$work/part/set_env.sh'; set +eu") || fail "C3: ended with $?"
    grep -qx 'PYTHONPATH=' <<<"$found" || fail 'C3: PYTHONPATH names a directory that does not exist'
    grep -qx "LD_LIBRARY_PATH=$work/part/lib64" <<<"$found" || fail 'C3: LD_LIBRARY_PATH names a directory that does not exist'
}

check_C3_leaves_nothing_behind() {
    local listing='{ compgen -v; compgen -A function; } | sort'
    fresh "BASH_REMATCH=(); $listing" >"$work/before"
    fresh "BASH_REMATCH=(); source '$root/set_env.sh'; $listing" >"$work/after"
    comm -13 "$work/before" "$work/after" | grep -vxE "${names//[[:space:]]/|}|PKG_CONFIG_PATH|_" >"$work/extra" || true
    [[ ! -s $work/extra ]] || fail "C3: left behind: $(tr '\n' ' ' <"$work/extra")"
}

check_R261_shell_options_stay() {
    local options
    for options in : 'set -e' 'set -u' 'set -eu' 'set -euo pipefail' 'set -f' 'shopt -s nullglob extglob'; do
        same "R261: options after '$options'" \
            "$(fresh "$options; source '$root/set_env.sh'; set +o; shopt -p || true")" \
            "$(fresh "$options; set +o; shopt -p || true")"
    done
    # What `set -e` is for still works after it, and a failure before it is not forgotten.
    if fresh "set -e; source '$root/set_env.sh'; false; true"; then
        fail 'R261: set -e has no effect any more'
    fi
    if ! fresh "source '$root/set_env.sh'; false; true"; then
        fail 'R261: set -e was switched on'
    fi
    same 'R261: answers success' "$(fresh "false; source '$root/set_env.sh'; echo \$?")" 0
}

check_R261_callers_entries_stay() {
    local found
    found=$(environment_after "export LD_LIBRARY_PATH=/one::/two PYTHONPATH=/py LIBRARY_PATH=/lib CMAKE_PREFIX_PATH=/cm
        PATH=\$PATH:/three; source '$root/set_env.sh'")
    for line in "LD_LIBRARY_PATH=$root/lib64:/one::/two:$root/devlib" "PYTHONPATH=$root/python/site-packages:/py" \
        "LIBRARY_PATH=$root/devlib/link:/lib" "CMAKE_PREFIX_PATH=$root/lib64/cmake:$root:/cm" \
        "PATH=$root/bin:$system_path:/three"; do
        grep -qxF "$line" <<<"$found" || fail "R261: entries of the caller; wanted $line in"$'\n'"$found"
    done
}

check_R261_other_versions_leave() {
    local ascend="$work/Ascend" found
    mkdir -p "$ascend/ascend-toolkit/latest" "$ascend/cann-8.5.0/lib64"
    cp -a "$root" "$ascend/cann-9.0.0"
    ln -s cann-9.0.0 "$ascend/cann"
    gives 'R261: <root>/cann leads to the version' "$ascend/cann-9.0.0" "source '$ascend/cann/set_env.sh'"
    gives 'R261: other versions are taken out' "$ascend/cann-9.0.0" "
        export LD_LIBRARY_PATH='$ascend/cann-8.5.0/lib64:$ascend/cann/lib64:$ascend/ascend-toolkit/latest/lib64'
        export PYTHONPATH='$ascend/cann-8.5.0/python/site-packages' LIBRARY_PATH='$ascend/cann-8.5.0/lib64'
        export CMAKE_PREFIX_PATH='$ascend/cann-8.5.0/lib64/cmake'
        PATH='$ascend/cann-8.5.0/bin':\$PATH
        source '$ascend/cann/set_env.sh'"
    found=$(environment_after "export LD_LIBRARY_PATH='$ascend/driver/lib64:/opt/cann-8.5.0/lib64:$ascend/cannon'
        source '$ascend/cann/set_env.sh'")
    grep -qxF "LD_LIBRARY_PATH=$ascend/cann-9.0.0/lib64:$ascend/driver/lib64:/opt/cann-8.5.0/lib64:$ascend/cannon:$ascend/cann-9.0.0/devlib" \
        <<<"$found" || fail 'R261: entries that are no other version under this root were taken out:'$'\n'"$found"
}

check_R262_twice_does_not_grow() {
    gives 'R262: twice' "$root" "source '$root/set_env.sh'; source '$root/set_env.sh'"
    gives 'R262: three times, both scripts' "$root" \
        "set -eu; source '$root/set_env.sh'; source '$root/bin/setenv.bash'; cd /; source '$root/set_env.sh'"
    gives 'R262: by way of PATH' "$root" "source '$root/set_env.sh'; source setenv.bash"
    gives 'R262: in a child as well' "$root" "source '$root/set_env.sh'; exec bash -c \"source '$root/set_env.sh'
        for name in ${names//$'\n'/ }; do printf '%s=%s\\n' \\\$name \\\"\\\$(printenv \\\$name)\\\"; done\""
    local callers='export LD_LIBRARY_PATH=/one::/two PATH=$PATH:/three PYTHONPATH=:/py'
    same 'R262: with entries of the caller' \
        "$(environment_after "$callers; source '$root/set_env.sh'; source '$root/set_env.sh'")" \
        "$(environment_after "$callers; source '$root/set_env.sh'")"
}

check_zsh() {
    if command -v zsh >/dev/null; then
        same 'from zsh' "$(env -i PATH="$system_path" "$(command -v zsh)" -fc "set -eu; source '$root/set_env.sh'; source '$root/set_env.sh'
            echo \$ASCEND_HOME_PATH \$LD_LIBRARY_PATH")" "$root $root/lib64:$root/devlib"
    fi
}

# --- plain sh -------------------------------------------------------------------------------------

# Shells of this machine, as commands.
plain_shells() {
    local shell
    for shell in dash mksh lksh ksh93; do
        if command -v "$shell" >/dev/null; then printf '%s\n' "$shell"; fi
    done
    if command -v busybox >/dev/null; then printf 'busybox sh\n'; fi
}

in_shell() { # shell, lines
    local -a command
    read -ra command <<<"$1"
    env -i PATH="$system_path" HOME="$work" "$(command -v "${command[0]}")" "${command[@]:1}" -c "$2"
}

gives_in() { # shell, what, root, lines: the same variables as in bash
    local found
    found=$(in_shell "$1" "$4"$'\n'"unset IFS; set +f; for name in ${names//$'\n'/ }; do printf '%s=%s\n' \$name \"\$(printenv \$name)\"; done") ||
        fail "C28: $1, $2: ended with $?"
    same "C28: $1, $2" "$found" "$(wanted "$3")"
}

check_C28_plain_shells() {
    local shell tree="$work/it's a tree"
    cp -a "$root" "$tree"
    ln -s "$tree/set_env.sh" "$work/env.sh"
    while read -r shell; do
        gives_in "$shell" 'with a dot' "$root" ". '$root/set_env.sh'"
        gives_in "$shell" 'strict' "$root" "set -eu; . '$root/set_env.sh'; . '$root/bin/setenv.bash'; set +eu"
        gives_in "$shell" 'odd options' "$root" "set -f; IFS=/:1; . '$root/set_env.sh'"
        gives_in "$shell" 'from its own directory' "$root" "cd '$root'; . ./set_env.sh"
        gives_in "$shell" 'through a link, with a quote' "$tree" ". '$work/env.sh'"
        gives_in "$shell" 'from a script of the same name' "$root" \
            "mkdir -p '$work/outer'; echo \". '$root/set_env.sh'\" >'$work/outer/set_env.sh'; . '$work/outer/set_env.sh'"
        same "C28: $shell, in a subshell" "$(in_shell "$shell" "(. '$root/set_env.sh'; echo \"\$ASCEND_HOME_PATH\"); echo \"\${ASCEND_HOME_PATH-none}\"")" \
            "$root"$'\n'none
        same "C28: $shell, options after it" "$(in_shell "$shell" "set -ef; . '$root/set_env.sh'; set +o")" \
            "$(in_shell "$shell" "set -ef; set +o")"
        same "C28: $shell, what it leaves" "$(in_shell "$shell" ". '$root/set_env.sh'; set" | grep -i belay_ || true)" ''
    done < <(plain_shells)
}

# Text that is not read from a file has no place.
check_C28_where_the_place_is_not_known() {
    local shell said code load="eval \"\$(cat '$root/set_env.sh')\""
    while read -r shell; do
        [[ $shell != ksh93 ]] || continue # it names the file that was read last
        gives_in "$shell" 'ASCEND_HOME_PATH tells' "$root" "cd /; ASCEND_HOME_PATH='$root'; $load"
        gives_in "$shell" 'the current directory tells' "$root" "cd '$root'; $load"
        code=0
        said=$(in_shell "$shell" "cd /; ASCEND_HOME_PATH=/usr; $load; echo went on" 2>&1) || code=$?
        [[ $code == 1 ]] || fail "C28: $shell, without a place: ended with $code"
        [[ $said == *'ASCEND_HOME_PATH=/path/to/its/directory; . "$ASCEND_HOME_PATH/set_env.sh"'* ]] ||
            fail "C28: $shell, without a place: said '$said'"
    done < <(plain_shells)
}

check_C3_exported
check_C3_strict_shells
check_C3_finds_itself
check_C3_only_what_exists
check_C3_leaves_nothing_behind
check_R261_shell_options_stay
check_R261_callers_entries_stay
check_R261_other_versions_leave
check_R262_twice_does_not_grow
check_zsh
check_C28_plain_shells
check_C28_where_the_place_is_not_known
finish 'C3, C28, R261, R262'
