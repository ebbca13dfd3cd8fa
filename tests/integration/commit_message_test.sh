#!/usr/bin/env bash
# The hook that looks at messages of commits: which it lets pass, which it refuses, and with what words.

set -euo pipefail
hook=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../scripts/hooks/commit-msg")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1

failures=0
fail() {
    printf 'FAILED: %s\n' "$1" >&2
    failures=$((failures + 1))
}

passes() { # message
    printf '%b' "$1" >message
    "$hook" message >said 2>&1 || fail "refused: $1 ($(cat said))"
}

refused() { # words, message
    printf '%b' "$2" >message
    if "$hook" message >said 2>&1; then fail "not refused: $2"; fi
    grep -qF -- "$1" said || fail "no '$1' about: $2 ($(cat said))"
}

long=$(printf '%071d' 0)
passes 'Subject\n\nBecause of this.\n'
passes 'Subject\n\nBecause of this.'
passes "$long\n\nReason.\n"
passes '\n\nSubject\n\nReason.\n\n\n'
passes '# a comment\nSubject\n\n# another\nReason.\n'
passes 'Subject\n\nReason.\n\nSigned-off-by: A. Body <a@example.org>\n'
passes "ü${long:1}\n\nCharacters count, not bytes.\n"
passes "Merge branch 'side'\n"
passes 'Revert "Something"\n'
passes 'fixup! Subject\n'
passes '# only comments\n' # git refuses that itself

refused 'has 72 characters' "0$long\n\nReason.\n"
refused 'no body' 'Subject\n'
refused 'no body' 'Subject\n\n\n'
refused 'no body' 'Subject\n\n# Reason?\n'
refused 'no body' 'Subject\n\nSigned-off-by: A. Body <a@example.org>\n'
refused 'no body' 'Subject\n\n# ------------------------ >8 ------------------------\ndiff\n'
refused 'must be blank' 'Subject\nReason.\n\nMore.\n'
refused 'full stop' 'Subject.\n\nReason.\n'

# As git calls it.
git init -q repository
cd repository
git config core.hooksPath "$(dirname "$hook")"
commit() { git -c user.name=A -c user.email=a@example.org commit -q --allow-empty "$@" >../said 2>&1; }
commit -m 'Subject' -m 'Reason.' || fail "git does not commit: $(cat ../said)"
! commit -m 'Subject' || fail 'git commits without a reason'

if ((failures > 0)); then
    printf '%d failure(s)\n' "$failures" >&2
    exit 1
fi
printf 'Messages of commits: well\n'
