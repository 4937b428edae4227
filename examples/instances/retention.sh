#!/usr/bin/env bash
# Lets go of what was said, by tiers: results of tools after a day, turns after a month, summaries after a year, facts never.
#
# It remembers nothing and is fit for cron: running it again removes what has become old since. What it removes goes to the
# trash of the instance: `memo run history/default undo` brings back what went last, and `operations` lists it.
#
#   Run:    ./retention.sh                 (all sessions)
#           SESSION=tea ./retention.sh     (one)
#   Needs:  memo, jq
#   Knows:  INSTANCE (default: history/default), SESSION, TOOLS (default: 24h), TURNS (30d), SUMMARIES (365d)
#   Prints: one line {session, purged, kept} for each purge that removed something
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=llm.sh
. "$(dirname "${BASH_SOURCE[0]}")/llm.sh"

purge() {
    instance purge -p session="$1" -p role="$2" -p older_than="$3" </dev/null | jq -c 'select(0 < .purged)'
}

if [ -n "${SESSION:-}" ]; then
    sessions=$SESSION
else
    sessions=$(instance sessions | jq -r '.[].session')
fi
while IFS= read -r session; do
    if [ -z "$session" ]; then continue; fi
    purge "$session" tool "${TOOLS:-24h}"
    purge "$session" system,user,assistant "${TURNS:-30d}"
    # How far facts were extracted is worth as long as how far was summarised.
    purge "$session" summary,extracted "${SUMMARIES:-365d}"
done <<<"$sessions"
