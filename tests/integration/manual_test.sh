#!/usr/bin/env bash
# Pages of the manual say what --help says, line by line, as a terminal shows them; completions offer what it lists.
#
# Usage: manual_test.sh <root of an installation>

source "$(dirname "${BASH_SOURCE[0]}")/install_tree.sh"
share=$root/share
cd "$work"

page() { # name
    MANWIDTH=300 man --warnings -E UTF-8 -l "$share/man/man1/$1.1" 2>warnings | sed 's/.\x08//g; s/\x1b\[[0-9;]*m//g'
    [[ ! -s warnings ]] || fail "$1: $(cat warnings)"
}

check_pages() {
    if ! command -v man >/dev/null; then
        printf 'no man on this machine: pages are not shown\n'
        return 0
    fi
    local name words
    while read -r name words; do
        page "$name" >shown
        # The margin of a page is no part of the text.
        sed 's/^ *//; s/ *$//; /^$/d' shown >lines
        "$root/bin/${words%% *}" $([[ $words == *' '* ]] && printf '%s' "${words#* }") --help | sed 's/^ *//; s/ *$//; /^$/d' >wanted
        [[ -s wanted ]] || fail "$words --help says nothing"
        grep -vxFf lines wanted >missing || true
        [[ ! -s missing ]] || fail "man $name lacks: $(head -3 missing)"
    done <<'END'
belay belay
belay-run belay run
belay-check belay check
belay-explain belay explain
belay-toolkit-install belay toolkit install
belay-machine-ls belay machine ls
npu-smi npu-smi
END
    local command
    for command in $("$root/bin/belay" --help | sed -n '/ommands.*:$/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
        [[ -s $share/man/man1/belay-$command.1 ]] || fail "no page of belay $command"
    done
}

check_bash() {
    offered() { # words...: what is offered for the last one
        bash -c 'source "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _belay; printf "%s\n" "${COMPREPLY[@]}"' \
            - "$share/bash-completion/completions/$1" "$@" | sort | tr '\n' ' '
    }
    same 'bash: a command' "$(offered belay toolk)" 'toolkit '
    same 'bash: a command of a command' "$(offered belay toolkit re)" 'remove '
    same 'bash: an option' "$(offered belay run --hb)" '--hbm '
    same 'bash: behind --' "$(offered belay run -- --hb)" ' '
    same 'bash: a type' "$(offered npu-smi info -t he)" 'health '
    same 'bash: npu-smi' "$(offered npu-smi in)" 'info '
}

check_zsh() {
    command -v zsh >/dev/null || return 0
    offered() { # words...
        zsh -fc 'compadd() { shift; print -l -- "$@" }; _files() { : }; file=$1; shift
            words=("$@") CURRENT=$#; source $file' - "$share/zsh/site-functions/_belay" "$@" | sort | tr '\n' ' '
    }
    same 'zsh: a command of a command' "$(offered belay toolkit '')" '--help -h env install remove '
    [[ $(offered belay run '') == *' --product '* ]] || fail 'zsh: an option'
    [[ $(offered npu-smi info -t '') == *'usages'* ]] || fail 'zsh: a type'
}

check_fish() {
    command -v fish >/dev/null || return 0
    offered() { # line
        HOME=$work fish --no-config -c "source '$share/fish/vendor_completions.d/belay.fish'; complete -C '$1'" |
            cut -f1 | sort | tr '\n' ' '
    }
    same 'fish: a command' "$(offered 'belay toolk')" 'toolkit '
    same 'fish: a command of a command' "$(offered 'belay toolkit re')" 'remove '
    same 'fish: an option' "$(offered 'belay run --hb')" '--hbm '
    same 'fish: a type' "$(offered 'npu-smi info -t he')" 'health '
}

run_checks
finish manual
