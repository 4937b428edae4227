#!/usr/bin/env bash
# Chats with a language model and stores every turn.
#
# The script stores each line of the standard input, sends the whole session to the model, and stores the response. It stores a
# turn before it sends it: if the model fails, run the script again with the same SESSION, and it first requests the missing
# response.
#
#   Run:        SESSION=tea ./chat.sh          (Ctrl-D ends it; the next run continues the session)
#   Needs:      memo, jq, curl, and a language model (see llm.sh)
#   Variables:  SESSION (default: chat), SYSTEM (the system prompt)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=llm.sh
. "$(dirname "${BASH_SOURCE[0]}")/llm.sh"

SESSION=${SESSION:-chat}
SYSTEM=${SYSTEM:-You are a concise assistant.}

# keep ROLE: stores the standard input as a turn with this role.
keep() {
    jq -cRs --arg role "$1" '{role: $role, content: .}' | append
}

answer() {
    local turns messages choice
    turns=$(instance read -p session="$SESSION" -p role=user,assistant,tool)
    messages=$(jq -c --arg system "$SYSTEM" "$JQ"'[{role: "system", content: $system}] + messages' <<<"$turns")
    choice=$(chat "$messages")
    jq -r "$JQ"'.message | said | shown' <<<"$choice"
    jq -j "$JQ"'.message | said' <<<"$choice" | keep assistant
}

last=$(instance read -p session="$SESSION" -p role=user,assistant,tool -p limit=1 -p tail=true)
if jq -e '.[0].role // "assistant" | . != "assistant"' <<<"$last" >/dev/null; then
    answer
fi
while IFS= read -r -p '> ' line || [ -n "$line" ]; do
    if [ -z "$line" ]; then continue; fi
    # A credential in the line is redacted with a warning: neither stored nor sent to the model.
    if printf '%s' "$line" | keep user; then answer; fi
done
