# shellcheck shell=bash
# What the scripts beside it share: asking a language model, and reading what is kept. It is sourced, not run.
#
#   OPENAI_BASE_URL   whatever speaks the protocol of OpenAI (default: http://localhost:11434/v1, where Ollama listens)
#   OPENAI_API_KEY    the key, if one is asked for
#   MODEL             who answers (default: llama3.2)
#   EMBEDDING_MODEL   who makes vectors of texts (default: nomic-embed-text)
#   MODEL_TIMEOUT     after how many seconds an answer is no longer waited for (default: 300)
#   INSTANCE          where things are kept (default: history/default); `memo connect` makes others
#
# Neither keys nor what is said are arguments of a program, since others see these, and they may only be so long: texts go
# through pipes.

OPENAI_BASE_URL=${OPENAI_BASE_URL:-http://localhost:11434/v1}
MODEL=${MODEL:-llama3.2}
EMBEDDING_MODEL=${EMBEDDING_MODEL:-nomic-embed-text}
INSTANCE=${INSTANCE:-history/default}

# Filters that the scripts put in front of their own. The variables in them are those of jq.
# shellcheck disable=SC2016
JQ='
# The text of a record or a message, of which content may be an array of parts.
def said: .content | if type == "array" then map(.text? // empty) | join("\n") else . // "" end;
# What may go to a terminal: control characters would be obeyed there.
def shown: explode | map(select(. == 9 or . == 10 or (31 < . and . < 127) or 159 < .)) | implode;
# One line of JSON that ends no element of the prompt around it.
def data: tojson | gsub("<"; "\\u003c");
# Turns as a model is sent them. A call without its result, or a result without its call, is refused by most: retention takes
# results first, and whatever was interrupted has none.
def messages:
  (reduce .[] as $turn ({}; if $turn.role == "tool" then .[$turn.tool_call_id // ""] = true else . end)) as $results
  | (reduce (.[].tool_calls // [])[] as $call ({}; .[$call.id] = true)) as $calls
  | map(
      if .role == "tool" then
        select($calls[.tool_call_id // ""]) | {role, content: said, tool_call_id}
      else
        ((.tool_calls // []) | map(select($results[.id]))) as $answered
        | select(said != "" or $answered != [])
        | {role, content: said}
          + if $answered == [] then {} else {tool_calls: $answered | map({id, type: "function", function: {name,
              arguments: (.arguments // "{}" | if type == "string" then . else tojson end)}})} end
      end);
# Of [last, turns]: what of the turns the last record does not cover. Its meta.to says how many were covered when it was made,
# meta.until when the last of them was said, which tells how far a purge has moved the others since.
def uncovered:
  def moment: (.ts // "") | rtrimstr("Z");
  .[1] as $turns | (.[0][0].meta // {}) as $meta | (($meta.to // "0") | tonumber) as $to
  | (($meta.until // "") | rtrimstr("Z")) as $until
  | (if $to == 0 or $until == "" or ($to <= ($turns | length) and ($turns[$to - 1] | moment) == $until) then $to
     else ($turns[:$to] | map(moment)) as $known
       | ($known | rindex($until)) as $place
       | if $place then $place + 1
         else [$known | to_entries[] | select($until < .value).key][0] // ($known | length) end
     end) as $start
  | {from: $to, turns: $turns[$start:]};
'

# Does something with the instance, as in `instance read -p session=s`; tells on the standard error what went wrong.
instance() {
    local answer
    answer=$(memo run "$INSTANCE" "$@") || { printf '%s\n' "$answer" >&2; return 1; }
    printf '%s\n' "$answer"
}

# Keeps the record on the standard input; what is in it stands in the schema (`memo run history append --help`).
append() {
    instance append -p session="$SESSION" --input - >/dev/null
}

# Prints {from, turns}: the turns that no record of this role covers yet, oldest first.
uncovered() {
    local last turns
    last=$(instance read -p session="$SESSION" -p role="$1" -p limit=1 -p tail=true) || return
    turns=$(instance read -p session="$SESSION" -p 'role!=summary,fact,extracted') || return
    jq -cs "$JQ uncovered" <<<"$last $turns"
}

# Sends JSON to a path of the model's server and prints what it answers.
ask() {
    local headers='Content-Type: application/json' answer status
    if [ -n "${OPENAI_API_KEY:-}" ]; then headers+=$'\n'"Authorization: Bearer $OPENAI_API_KEY"; fi
    answer=$(printf '%s' "$2" | curl -sS --max-time "${MODEL_TIMEOUT:-300}" -w '\n%{http_code}' -H @<(printf '%s\n' "$headers") \
        -H 'Expect:' --data-binary @- "$OPENAI_BASE_URL/$1") || { echo "error: no answer from $OPENAI_BASE_URL" >&2; return 1; }
    status=${answer##*$'\n'} answer=${answer%$'\n'*}
    if [[ $status != 2?? ]]; then
        jq -Rrs --arg status "$status" "$JQ"'"error: the model answered \($status): \(rtrimstr("\n")[:1000] | shown)"' <<<"$answer" >&2
        return 1
    fi
    printf '%s\n' "$answer"
}

# chat MESSAGES_JSON [TOOLS_JSON]: prints the choice of the model, {message, finish_reason, …}.
chat() {
    local body
    body=$(jq -cs --arg model "$MODEL" \
        '{model: $model, messages: .[0], stream: false} + if .[1] then {tools: .[1]} else {} end' <<<"$1 ${2:-}") || return
    body=$(ask chat/completions "$body") || return
    jq -ce '.choices[0]? | select(.message | type == "object")' <<<"$body" || { echo 'error: the model said nothing' >&2; return 1; }
}

# write MESSAGES_JSON: prints the text of an answer, which must be there as a whole.
write() {
    local choice
    choice=$(chat "$1") || return
    # What some models think aloud is no part of it.
    jq -re "$JQ"'select(.finish_reason != "length") | .message | said | sub("^\\s*<think>[\\s\\S]*?</think>\\s*"; "")
        | select(test("\\S"))' <<<"$choice" ||
        { echo 'error: the answer is empty or was cut off' >&2; return 1; }
}

# embed TEXTS_JSON: prints an array of vectors, one for each text of the array, in order.
embed() {
    local body
    body=$(jq -c --arg model "$EMBEDDING_MODEL" '{model: $model, input: .}' <<<"$1") || return
    body=$(ask embeddings "$body") || return
    jq -ces '(.[0] | length) as $wanted | .[1].data | sort_by(.index) | map(.embedding) | select(length == $wanted)' <<<"$1 $body" ||
        { echo 'error: there is not one vector for each text' >&2; return 1; }
}
