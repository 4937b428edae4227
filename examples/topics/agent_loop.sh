#!/usr/bin/env bash
# An agent with memory: a loop around a language model, with an index of topics in its prompt and five tools to read and change them.
#
# Each line of the standard input is a prompt. The topics are stored in .memory of the current project, or in TOPICS; the loop
# itself stores nothing. `memory topic context` prints the text for the system prompt, and `memory agent` runs the tool calls of
# the model.
#
#   Run:        ./agent_loop.sh          (Ctrl-D ends it)
#   Needs:      memory, jq, curl, and a language model that supports tools (see ../instances/llm.sh)
#   Variables:  TOPICS (a folder), ROUNDS (maximum number of requests to the model per prompt; default: 16)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../instances/llm.sh
. "$(dirname "${BASH_SOURCE[0]}")/../instances/llm.sh"

ROUNDS=${ROUNDS:-16}
folder=(${TOPICS:+--dir "$TOPICS"})
agent=(memory agent --agent agent_loop --tools topic=memory_ ${TOPICS:+--topics "$TOPICS"})
tools=$("${agent[@]}" --list-tools --json | jq -c '.tools | map({type: "function", function: .})')

answer() {
    local round choice message calls results
    for ((round = 0; round < ROUNDS; round++)); do
        choice=$(chat "$messages" "$tools") || return
        message=$(jq -c '.message' <<<"$choice")
        messages=$(jq -cs '.[0] + [.[1]]' <<<"$messages $message")
        calls=$(jq -c '(.tool_calls // []) | map({id, name: .function.name,
            arguments: (.function.arguments | if type == "string" then (fromjson? // null) else . end)})' <<<"$message")
        if [ "$calls" = '[]' ]; then
            jq -r "$JQ"'said | shown' <<<"$message"
            return
        fi
        # Errors are returned to the model too, so that it can correct the call.
        results=$("${agent[@]}" --json <<<"$calls" 2>/dev/null || true)
        jq -r "$JQ"'.[] | "> \(.name): \(.result // .error | tojson | .[:100] | shown)"' <<<"$results" >&2
        messages=$(jq -cs '.[0] + (.[1] | map({role: "tool", tool_call_id: .id, content: (.result // {error} | tojson)}))' \
            <<<"$messages $results")
    done
    echo "error: the model still requests tools after the last round" >&2
    return 1
}

messages='[null]'
while IFS= read -r -p '> ' line || [ -n "$line" ]; do
    if [ -z "$line" ]; then continue; fi
    # The context is read for each prompt, so it includes the latest changes.
    messages=$({ memory topic context "${folder[@]}"; printf '\0%s\0%s' "$line" "$messages"; } | jq -cRs 'split("\u0000")
        | .[0] as $context | .[1] as $line | .[2] | fromjson
        | .[0] = {role: "system", content: "You are a helpful agent.\n\n\($context)"} | . + [{role: "user", content: $line}]')
    answer
done
