#!/usr/bin/env bash
# Finds the facts and summaries of a session that are closest in meaning to a question.
#
# Each run embeds the question and all facts and summaries, and ranks them by cosine similarity. It stores no vectors, so it suits
# some hundreds of records. For more records, use `memory write` and `memory search`, which have an index.
#
#   Run:        SESSION=tea ./embed-recall.sh "what do I like to drink?"
#   Needs:      memo, jq, curl, and an embedding model (see llm.sh)
#   Variables:  SESSION (default: chat), LIMIT (maximum number of results; default: 5)
#   Prints:     a JSON array of {score, role, content, meta}, best first
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=llm.sh
. "$(dirname "${BASH_SOURCE[0]}")/llm.sh"

SESSION=${SESSION:-chat}
LIMIT=${LIMIT:-5}
question=${1:?"usage: embed-recall.sh QUESTION"}

records=$(instance read -p session="$SESSION" -p role=fact,summary | jq -c "$JQ"'map({role, content: said, meta})')
if [ "$records" = '[]' ]; then
    echo '[]'
    exit
fi
vectors=$(embed "$(jq -c --arg question "$question" '[$question] + map(.content)' <<<"$records")")
jq -s --argjson limit "$LIMIT" '
    def dot($a; $b): reduce range($a | length) as $i (0; . + $a[$i] * $b[$i]);
    def cosine($a; $b): (dot($a; $a) * dot($b; $b) | sqrt) as $lengths | if $lengths == 0 then 0 else dot($a; $b) / $lengths end;
    .[1] as $vectors
    | .[0] | to_entries | map({score: cosine($vectors[0]; $vectors[.key + 1])} + .value)
    | sort_by(-.score) | .[:$limit]' <<<"$records $vectors"
