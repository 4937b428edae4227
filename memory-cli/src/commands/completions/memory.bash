# Completion of `memory` for bash. The program computes the candidates, from the index of the home.
_memory() {
    local candidate
    COMPREPLY=()
    while IFS= read -r candidate; do
        COMPREPLY+=("$candidate")
    done < <(command memory complete bash "${COLUMNS:-80}" "$COMP_TYPE" "$COMP_WORDBREAKS" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    if [[ ${COMPREPLY[0]-} == $'\tfiles' ]]; then
        COMPREPLY=()
        compopt -o default
    fi
}
complete -o nosort -F _memory memory memo memory-cli 2>/dev/null || complete -F _memory memory memo memory-cli
