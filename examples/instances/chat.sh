#!/usr/bin/env bash
# Talks with a language model, and keeps every turn of it.
#
# Each line that is read is kept, the model is asked with all that was said in the session, and what it answers is kept. A turn
# is kept before anybody is asked about it: if the model fails, run it again with the same SESSION, and it is answered first.
#
#   Run:    SESSION=tea ./chat.sh          (Ctrl-D ends it; the session goes on the next time)
#   Needs:  memo, jq, curl, and a language model (see llm.sh)
#   Knows:  SESSION (default: chat), SYSTEM (what the model is told to be)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=llm.sh
. "$(dirname "${BASH_SOURCE[0]}")/llm.sh"

SESSION=${SESSION:-chat}
SYSTEM=${SYSTEM:-You are a concise assistant.}

# Keeps what `role` says, which is on the standard input.
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
    # What holds a credential is not kept, which is told, and so it is not answered either.
    if printf '%s' "$line" | keep user; then answer; fi
done
