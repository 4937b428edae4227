#!/usr/bin/env bash
# Calls every HTTP route of `memo serve`, in a temporary home that it deletes at the end.
#
#   Run:     ./daemon.sh
#   Needs:   memo, jq, curl
#   Prints:  each request and the start of its response
set -euo pipefail

home=$(mktemp -d)
export MEMORY_ROOT=$home/memory MEMO_STORE_DIR=$home/instances MEMO_STATE_DIR=$home/state MEMO_KEY_DIR=$home/keys
# The token is in the environment, because other users can see the arguments of a program.
MEMO_AUTH_TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export MEMO_AUTH_TOKEN

pid=
end() {
    # After SIGTERM the server finishes open requests. `cat` returns when the server has exited and its end of the pipe is closed.
    if [ -n "$pid" ] && kill "$pid" 2>/dev/null; then cat <&3 >/dev/null; fi
    rm -rf "$home"
}
trap end EXIT

# Port 0 selects a free port. The first line of the output is JSON and contains the port.
exec 3< <(exec memo serve --addr 127.0.0.1:0)
read -r begun <&3 || { echo 'error: memo serve did not start' >&2; exit 1; }
pid=$(jq -re .pid <<<"$begun")
url=$(jq -re .http <<<"$begun")

# request STATUS METHOD PATH [BODY] [HEADER …]: sends a request, prints the response, and checks its status.
request() {
    local wanted=$1 method=$2 path=$3 body=${4:-} token=${TOKEN-$MEMO_AUTH_TOKEN} answer status
    shift $(($# < 4 ? $# : 4))
    answer=$(printf '%s' "$body" | curl -sS --max-time 30 -w '\n%{http_code}' -X "$method" --data-binary @- \
        -H @<(printf '%s\n' ${token:+"Authorization: Bearer $token"} 'Content-Type: application/json' "$@") "$url$path")
    status=${answer##*$'\n'} answer=${answer%$'\n'*}
    printf '%s %s %s\n' "$method" "$path" "$body"
    printf '%s\n\n' "${answer:0:300}" | sed 's/^./    &/'
    if [ "$status" != "$wanted" ]; then
        echo "error: the status is $status, not $wanted" >&2
        exit 1
    fi
}

echo "== Health check, without a token"
TOKEN='' request 200 GET /v1/health
echo "== Every other request without the right token is rejected"
TOKEN='' request 401 GET /v1/backends
TOKEN=wrong request 401 GET /v1/instances

echo "== List backends and instances"
request 200 GET /v1/backends
request 200 GET /v1/backends/history
request 200 GET /v1/instances

echo "== Every action of every instance: the body has the parameters of -p"
request 200 POST /v1/run/history/default/append '{"session":"demo","role":"user","content":"hi"}'
request 200 POST /v1/run/history/default/append '{"session":"demo","role":"assistant","content":"Hello!"}'
request 200 POST /v1/run/history/default/read '{"session":"demo","role":"user"}'
request 200 POST /v1/run/history/default/sessions '{}'
request 200 POST /v1/run/history/default/purge '{"session":"demo","role":"assistant"}'
request 200 POST /v1/run/history/default/undo '{}'
request 200 POST /v1/run/history/default/delete '{"session":"demo"}'
request 200 POST /v1/run/kv/default/set '{"key":"demo/step","value":"2"}'
request 200 POST /v1/run/kv/default/get '{"key":"demo/step"}'
request 200 POST /v1/run/kv/default/list '{"prefix":"demo/"}'
request 200 POST /v1/run/kv/default/delete '{"key":"demo/step"}'

echo "== Errors have a code and an HTTP status"
request 404 GET /v1/backends/redis
request 404 POST /v1/run/history/none/read '{"session":"demo"}'
request 404 POST /v1/run/history/default/burn '{}'
request 400 POST /v1/run/history/default/append '{"session":"demo"}'
request 400 POST /v1/run/history/default/purge '{"session":"demo"}'
request 400 POST /v1/run/kv/default/set '[1]'

echo "== The tools of agents"
request 200 GET /v1/tools
request 200 GET /v1/tools/memory_write
request 200 POST /v1/tools/memory_write '{"content":"The user drinks tea"}' 'Memory-Agent: demo'
request 200 POST /v1/tools/memory_search '{"query":"tea"}' 'Memory-Agent: demo'

echo "== Model Context Protocol, OpenAPI description and Prometheus metrics"
request 200 POST /mcp '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"curl","version":"1"}}}' \
    'Accept: application/json, text/event-stream'
request 200 GET /openapi.json
request 200 GET /metrics
echo "all requests returned the expected status"
