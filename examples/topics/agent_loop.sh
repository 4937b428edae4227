#!/usr/bin/env bash
# An agent that remembers: a loop around a language model, with an index of topics in its prompt and five tools to look into them.
#
# Each line that is read is a prompt. The topics are kept in .memory of the project around this folder, or in TOPICS; the loop
# itself keeps nothing. `memory topic context` is what stands in the prompt, and `memory agent` does what the model asks for.
#
#   Run:    ./agent_loop.sh          (Ctrl-D ends it)
#   Needs:  memory, jq, curl, and a language model that can use tools (see ../instances/llm.sh)
#   Knows:  TOPICS (a folder), ROUNDS (how often the model is asked at most for a prompt; default: 16)
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
        # What cannot be done is told to the model as well: it may do better.
        results=$("${agent[@]}" --json <<<"$calls" 2>/dev/null || true)
        jq -r "$JQ"'.[] | "> \(.name): \(.result // .error | tojson | .[:100] | shown)"' <<<"$results" >&2
        messages=$(jq -cs '.[0] + (.[1] | map({role: "tool", tool_call_id: .id, content: (.result // {error} | tojson)}))' \
            <<<"$messages $results")
    done
    echo "error: the model asks for tools without end" >&2
    return 1
}

messages='[null]'
while IFS= read -r -p '> ' line || [ -n "$line" ]; do
    if [ -z "$line" ]; then continue; fi
    # What was remembered a moment ago is in the next prompt.
    messages=$({ memory topic context "${folder[@]}"; printf '\0%s\0%s' "$line" "$messages"; } | jq -cRs 'split("\u0000")
        | .[0] as $context | .[1] as $line | .[2] | fromjson
        | .[0] = {role: "system", content: "You are a helpful agent.\n\n\($context)"} | . + [{role: "user", content: $line}]')
    answer
done
