# shellcheck shell=bash
# Functions that the scripts in this folder share: requests to a language model, and access to the instance. Scripts source it.
#
#   OPENAI_BASE_URL   an OpenAI-compatible server (default: http://localhost:11434/v1, the address of Ollama)
#   OPENAI_API_KEY    its key, if it requires one
#   MODEL             the language model (default: llama3.2)
#   EMBEDDING_MODEL   the embedding model (default: nomic-embed-text)
#   MODEL_TIMEOUT     the timeout of a request, in seconds (default: 300)
#   INSTANCE          an instance of type history (default: history/default); `memo connect` creates others
#
# Keys and texts are passed through pipes and not as arguments of a program, because other users can see arguments and their length
# is limited.

OPENAI_BASE_URL=${OPENAI_BASE_URL:-http://localhost:11434/v1}
MODEL=${MODEL:-llama3.2}
EMBEDDING_MODEL=${EMBEDDING_MODEL:-nomic-embed-text}
INSTANCE=${INSTANCE:-history/default}

# jq functions that the scripts prepend to their filters. The variables in them are variables of jq.
# shellcheck disable=SC2016
JQ='
# The text of a record or a message. Its content may be an array of parts.
def said: .content | if type == "array" then map(.text? // empty) | join("\n") else . // "" end;
# The text without control characters, which a terminal would interpret.
def shown: explode | map(select(. == 9 or . == 10 or (31 < . and . < 127) or 159 < .)) | implode;
# The value as one line of JSON that cannot close a tag of the prompt around it.
def data: tojson | gsub("<"; "\\u003c");
# Turns as messages for a model. Most models refuse a tool call without its result, and a result without its call, so both are
# left out: retention deletes results first, and an interrupted call has no result.
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
# The input is [last, turns]; the result has the turns that the last record does not cover. meta.to of that record is the number of
# covered turns when it was written. meta.until is the time of the last covered turn; it locates that position after a purge.
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

# Runs an action of the instance, as in `instance read -p session=s`, and prints errors to the standard error.
instance() {
    local answer
    answer=$(memo run "$INSTANCE" "$@") || { printf '%s\n' "$answer" >&2; return 1; }
    printf '%s\n' "$answer"
}

# Appends the record on the standard input. `memo run history append --help` shows its schema.
append() {
    instance append -p session="$SESSION" --input - >/dev/null
}

# uncovered ROLE: prints {from, turns}, the turns that no record of this role covers yet, oldest first.
uncovered() {
    local last turns
    last=$(instance read -p session="$SESSION" -p role="$1" -p limit=1 -p tail=true) || return
    turns=$(instance read -p session="$SESSION" -p 'role!=summary,fact,extracted') || return
    jq -cs "$JQ uncovered" <<<"$last $turns"
}

# ask PATH JSON: sends JSON to a path of the model server and prints the response.
ask() {
    local headers='Content-Type: application/json' answer status
    if [ -n "${OPENAI_API_KEY:-}" ]; then headers+=$'\n'"Authorization: Bearer $OPENAI_API_KEY"; fi
    answer=$(printf '%s' "$2" | curl -sS --max-time "${MODEL_TIMEOUT:-300}" -w '\n%{http_code}' -H @<(printf '%s\n' "$headers") \
        -H 'Expect:' --data-binary @- "$OPENAI_BASE_URL/$1") || { echo "error: no response from $OPENAI_BASE_URL" >&2; return 1; }
    status=${answer##*$'\n'} answer=${answer%$'\n'*}
    if [[ $status != 2?? ]]; then
        jq -Rrs --arg status "$status" "$JQ"'"error: the model returned status \($status): \(rtrimstr("\n")[:1000] | shown)"' <<<"$answer" >&2
        return 1
    fi
    printf '%s\n' "$answer"
}

# chat MESSAGES_JSON [TOOLS_JSON]: prints the first choice of the response, {message, finish_reason, …}.
chat() {
    local body
    body=$(jq -cs --arg model "$MODEL" \
        '{model: $model, messages: .[0], stream: false} + if .[1] then {tools: .[1]} else {} end' <<<"$1 ${2:-}") || return
    body=$(ask chat/completions "$body") || return
    jq -ce '.choices[0]? | select(.message | type == "object")' <<<"$body" || { echo 'error: the model returned no message' >&2; return 1; }
}

# write MESSAGES_JSON: prints the text of the response. An empty or truncated response is an error.
write() {
    local choice
    choice=$(chat "$1") || return
    # Some models put their reasoning before the response; it is removed.
    jq -re "$JQ"'select(.finish_reason != "length") | .message | said | sub("^\\s*<think>[\\s\\S]*?</think>\\s*"; "")
        | select(test("\\S"))' <<<"$choice" ||
        { echo 'error: the response is empty or truncated' >&2; return 1; }
}

# embed TEXTS_JSON: prints an array of vectors, one for each text of the array, in the same order.
embed() {
    local body
    body=$(jq -c --arg model "$EMBEDDING_MODEL" '{model: $model, input: .}' <<<"$1") || return
    body=$(ask embeddings "$body") || return
    jq -ces '(.[0] | length) as $wanted | .[1].data | sort_by(.index) | map(.embedding) | select(length == $wanted)' <<<"$1 $body" ||
        { echo 'error: the number of vectors differs from the number of texts' >&2; return 1; }
}
