# Kernel huge pages for as long as a script runs; source it after setup.sh.
#
#   borrow_huge_pages KB COUNT   sees to it that COUNT pages of KB kilobytes are free, where it may; otherwise says
#                                what is missing and goes on
#   return_huge_pages            puts every pool back to what it was; call it from an EXIT trap

declare -A huge_pages_before=()

borrow_huge_pages() {
    local pool=/sys/kernel/mm/hugepages/hugepages-$1kB
    if [[ ! -d $pool ]]; then
        printf 'This machine has no kernel pages of %d KB.\n' "$1"
        return 0
    fi
    local all free wanted
    all=$(<"$pool/nr_hugepages")
    free=$(($(<"$pool/free_hugepages") - $(<"$pool/resv_hugepages")))
    ((free < $2)) || return 0
    wanted=$((all + $2 - free))
    if [[ ! -w $pool/nr_hugepages ]]; then
        printf '%d kernel pages of %d KB are needed and %d are free; only root can change that:\n' "$2" "$1" "$free"
        printf '    echo %d | sudo tee %s/nr_hugepages    # before: %d\n' "$wanted" "$pool" "$all"
        return 0
    fi
    huge_pages_before[$pool]=$all
    printf '%s\n' "$wanted" >"$pool/nr_hugepages" || true
    if (($(<"$pool/nr_hugepages") < wanted)); then
        printf 'The kernel could reserve only %d of %d pages of %d KB; ask for less, or reserve them right after a boot.\n' \
            "$(<"$pool/nr_hugepages")" "$wanted" "$1"
    fi
}

return_huge_pages() {
    local pool before
    for pool in "${!huge_pages_before[@]}"; do
        before=${huge_pages_before[$pool]}
        # Never more than there are: somebody else may have made the pool smaller meanwhile.
        (($(<"$pool/nr_hugepages") > before)) || continue
        printf '%s\n' "$before" >"$pool/nr_hugepages" ||
            printf 'Could not set %s/nr_hugepages back to %s.\n' "$pool" "$before" >&2
    done
    huge_pages_before=()
}
