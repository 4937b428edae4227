#!/usr/bin/env bash
# Deletes old records by role: tool results after 24 hours, turns after 30 days, summaries after 365 days, facts never.
#
# It has no state and is suitable for cron: each run deletes the records that have become too old. Deleted records go to the trash
# of the instance: `memo run history/default undo` restores the last deletion, and the action `operations` lists all of them.
#
#   Run:        ./retention.sh                 (all sessions)
#               SESSION=tea ./retention.sh     (one session)
#   Needs:      memo, jq
#   Variables:  INSTANCE (default: history/default), SESSION, TOOLS (default: 24h), TURNS (30d), SUMMARIES (365d)
#   Prints:     one line {session, purged, kept} for each purge that removed records
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
    # Records with role extracted mark a position like summaries, and expire with them.
    purge "$session" summary,extracted "${SUMMARIES:-365d}"
done <<<"$sessions"
