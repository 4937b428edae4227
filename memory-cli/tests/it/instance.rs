//! Tests of `memory instance` and its short form `memo`.

use insta::assert_snapshot;

use crate::postgres_server::shared_server;
use crate::sandbox::Sandbox;

/// Runs each line in a shell, and compares its output.
fn assert_transcript(sandbox: &Sandbox, lines: &[(&str, &str)]) {
    for (line, printed) in lines {
        assert_eq!(sandbox.run_shell(line).trim_end(), *printed, "{line}");
    }
}

#[test]
fn sessions_and_values_are_kept_without_anything_being_set_up() {
    let sandbox = Sandbox::new();
    assert_transcript(
        &sandbox,
        &[
            ("memo run history/default read -p session=s1", "[]"),
            (
                "memo run history/default append -p session=s1 -p role=user -p content=\"hi\"",
                r#"{"ts":"[time]","role":"user","content":"hi"}"#,
            ),
            (
                "memory instance run history read -p session=s1",
                r#"[{"ts":"[time]","role":"user","content":"hi"}]"#,
            ),
            (
                "memo run history sessions",
                r#"[{"session":"s1","records":1,"last_ts":"[time]"}]"#,
            ),
            (
                "memo run kv/default set -p key=a/b -p value=2",
                r#"{"key":"a/b","created":true}"#,
            ),
            (
                "memo run kv get -p key=a/b",
                r#"{"key":"a/b","value":"2","updated_at":"[time]"}"#,
            ),
            (
                "cat .memory/kv/a/b; ls -A .memory/kv .memory/history",
                "2.memory/history:\n.locks\ns1.jsonl\n\n.memory/kv:\na",
            ),
            (
                "memo run history delete -p session=s1",
                r#"{"session":"s1","deleted":1}"#,
            ),
        ],
    );
}

#[test]
fn the_scratchpad_of_the_specification_works_word_for_word() {
    let sandbox = Sandbox::new();
    assert_transcript(
        &sandbox,
        &[
            (
                r#"memo connect --input '{"dir":"~/.memo-scratch"}' kv scratch"#,
                r#"{"type":"kv","name":"scratch","created":true,"fields":{"driver":"file","dir":"~/.memo-scratch"}}"#,
            ),
            (
                r#"memo run kv/scratch set -p key=chat-2026-05-17/draft-reply -p value="...""#,
                r#"{"key":"chat-[day]/draft-reply","created":true}"#,
            ),
            (
                "memo run kv/scratch set -p key=chat-2026-05-17/checkout-step -p value=2",
                r#"{"key":"chat-[day]/checkout-step","created":true}"#,
            ),
            (
                "memo run kv/scratch list -p prefix=chat-2026-05-17/",
                r#"[{"key":"chat-[day]/checkout-step","size_bytes":[n],"updated_at":"[time]"},{"key":"chat-[day]/draft-reply","size_bytes":[n],"updated_at":"[time]"}]"#,
            ),
            (
                "find .memo-scratch -type f | sort",
                ".memo-scratch/chat-[day]/checkout-step\n.memo-scratch/chat-[day]/draft-reply",
            ),
            (
                "memo run kv/scratch list -p prefix=chat-2026-05-17/ | jq -r '.[].key' | xargs -I{} memo run kv/scratch delete -p key={}",
                "{\"key\":\"chat-[day]/checkout-step\",\"deleted\":true}\n{\"key\":\"chat-[day]/draft-reply\",\"deleted\":true}",
            ),
            ("find .memo-scratch -type f", ""),
            (
                "memo rm kv/scratch 2>/dev/null | jq -c 'del(.trash)'",
                r#"{"type":"kv","name":"scratch","removed":true}"#,
            ),
        ],
    );
}

/// A question about the weather with a tool call, as in the specification.
const WEATHER: &str = r#"
memo connect --input '{"dir":"~/chat"}' history main
memo run history/main append -p session=s -p role=user -p content="What's the weather in Berlin?"
memo run history/main append -p session=s -p role=assistant \
  -p tool_calls='[{"id":"call_42","name":"get_weather","arguments":"{\"city\":\"Berlin\"}"}]'
memo run history/main append -p session=s -p role=tool \
  -p tool_call_id=call_42 \
  -p name=get_weather \
  -p content='{"temp_c":11,"sky":"cloudy"}'
memo run history/main append -p session=s -p role=summary -p content='Asked for the weather.' -p meta='{"from":"0","to":"2"}'
memo run history/main append -p session=s -p role=assistant -p content='Berlin is cloudy.'
"#;

#[test]
fn tool_calls_are_joined_and_nested_by_the_filters_of_the_specification() {
    let sandbox = Sandbox::new();
    sandbox.run_shell(WEATHER);
    assert_transcript(
        &sandbox,
        &[
            (
                "memo run history/main read -p session=s -p role=user,summary | jq -c 'map({role,content})'",
                r#"[{"role":"user","content":"What's the weather in Berlin?"},{"role":"summary","content":"Asked for the weather."}]"#,
            ),
            (
                "memo run history/main read -p session=s | jq -c '
                (map(select(.role==\"tool\")) | map({(.tool_call_id): .content}) | add) as $results
                | map(select(.tool_calls) | .tool_calls[] | {id, name, args: .arguments, result: $results[.id]})
                '",
                r#"[{"id":"call_42","name":"get_weather","args":"{\"city\":\"Berlin\"}","result":"{\"temp_c\":11,\"sky\":\"cloudy\"}"}]"#,
            ),
            (
                "memo run history/main read -p session=s -p 'role!=summary' | jq -c '
                map(
                if .tool_calls then
                {role, content: (.content // \"\"),
                tool_calls: [.tool_calls[] | {id, type:\"function\", function:{name, arguments}}]}
                elif .role == \"tool\" then
                {role, content, tool_call_id}
                else
                {role, content}
                end
                ) | .[1:]
                '",
                r#"[{"role":"assistant","content":"","tool_calls":[{"id":"call_42","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Berlin\"}"}}]},{"role":"tool","content":"{\"temp_c\":11,\"sky\":\"cloudy\"}","tool_call_id":"call_42"},{"role":"assistant","content":"Berlin is cloudy."}]"#,
            ),
        ],
    );
}

#[test]
fn the_last_summary_is_the_cursor_and_facts_are_listed_as_the_specification_does() {
    let sandbox = Sandbox::new();
    sandbox.run_shell(WEATHER);
    for (content, kind) in [
        ("prefers tabs over spaces", "pref"),
        ("docker compose v2 only", "pref"),
    ] {
        let meta = format!(r#"{{"type":"{kind}","from":"0","to":"50"}}"#);
        sandbox.run_shell(&format!(
            "memo run history/main append -p session=f -p role=fact -p content='{content}' -p meta='{meta}'"
        ));
    }
    assert_transcript(
        &sandbox,
        &[
            (
                "LAST=$(memo run history/main read -p session=s \
                 -p role=summary -p limit=1 -p tail=true \
                 | jq -r '.[0].meta.to // \"0\"')
                 memo run history/main read -p session=s \
                 -p 'role!=summary' \
                 -p offset=\"$LAST\" | jq -c 'map(.role)'",
                r#"["tool","assistant"]"#,
            ),
            (
                "memo run history/main read -p session=new -p role=summary -p limit=1 -p tail=true | jq -r '.[0].meta.to // \"0\"'",
                "0",
            ),
            (
                "SUMMARY=$(memo run history/main read -p session=s \
                 -p role=summary -p limit=1 -p tail=true \
                 | jq -r '.[0].content // \"\"'); echo \"$SUMMARY\"",
                "Asked for the weather.",
            ),
            (
                r#"memo run history/main read -p session=f -p role=fact \
                | jq -r 'map("- [\(.meta.type)] \(.content)") | join("\n")'"#,
                "- [pref] prefers tabs over spaces\n- [pref] docker compose v2 only",
            ),
            (
                r#"memo run history/main read -p session=f -p role=fact \
                | jq -c 'map(select(.content | test("docker"; "i"))) | map(.content)'"#,
                r#"["docker compose v2 only"]"#,
            ),
        ],
    );
}

#[test]
fn errors_have_their_code_as_text_and_with_json_as_json() {
    let sandbox = Sandbox::new();
    for (line, code, exit) in [
        ("memo actions redis", "BACKEND_NOT_FOUND", 3),
        ("memo connect redis main", "BACKEND_NOT_FOUND", 3),
        (
            "memo run history/none read -p session=s",
            "INSTANCE_NOT_FOUND",
            3,
        ),
        ("memo rm history/none", "INSTANCE_NOT_FOUND", 3),
        ("memo run history burn", "ACTION_NOT_FOUND", 3),
        ("memo run history read", "INVALID_INPUT", 2),
        ("memo run history read -p sessions=s", "INVALID_INPUT", 2),
        (
            "memo run history read -p session=s -p limit=ten",
            "INVALID_INPUT",
            2,
        ),
        ("memo run history purge -p session=s", "INVALID_INPUT", 2),
        (
            "memo run history delete -p session=s",
            "SESSION_NOT_FOUND",
            3,
        ),
        (
            "memo run history append -p session=s -p role=user -p content=1 --input '[1]'",
            "INVALID_INPUT",
            2,
        ),
        (
            "memo run history append -p session=s -p role=user --input '{broken'",
            "INVALID_JSON",
            2,
        ),
        (
            "memo run history append -p session=s -p role=user -p meta='{broken'",
            "INVALID_JSON",
            2,
        ),
        (
            "memo run history append --input @none.json",
            "PATH_NOT_FOUND",
            3,
        ),
        ("memo run kv get -p key=a", "KEY_NOT_FOUND", 3),
        ("memo run kv set -p key=../a -p value=1", "INVALID_KEY", 2),
        (
            "memo run kv set --input '{\"key\":\"a\\u0000\",\"value\":\"1\"}'",
            "INVALID_KEY",
            2,
        ),
        (
            "memo run kv set -p key=a/b -p value=1 >/dev/null; memo run kv set -p key=a -p value=1",
            "KEY_EXISTS",
            4,
        ),
        (
            "memo connect kv main --input '{\"dri\":\"file\"}'",
            "INVALID_INPUT",
            2,
        ),
        (
            "memo connect history main --input '{\"driver\":\"postgres\"}'",
            "INVALID_INPUT",
            2,
        ),
        ("memo connect kv ../main", "INVALID_INPUT", 2),
        (
            "MEMO_ALLOWED_PATHS=$HOME/allowed memo run history read -p session=s",
            "PATH_REFUSED",
            2,
        ),
        (
            "MEMO_ALLOWED_PATHS=$HOME/allowed memo connect kv main --input '{\"dir\":\"~/allowed/../out\"}'",
            "PATH_REFUSED",
            2,
        ),
        (
            "mkdir -p allowed out; ln -sfn $HOME/out allowed/away; MEMO_ALLOWED_PATHS=$HOME/allowed memo connect kv main --input '{\"dir\":\"~/allowed/away\"}'",
            "PATH_REFUSED",
            2,
        ),
        ("MEMO_MASTER_KEY=nonsense memo instances", "USAGE", 2),
    ] {
        let printed = sandbox.run_shell(&format!("{line} --json"));
        assert!(
            printed.starts_with(&format!(r#"{{"error":{{"code":"{code}","#)),
            "{line}: {printed}"
        );
        assert!(
            printed.ends_with(&format!("--- exit {exit}\n")),
            "{line}: {printed}"
        );
        let piped = sandbox.run_shell(line);
        assert!(
            piped.starts_with(&format!("--- stderr\nerror[{}]: ", code.to_lowercase())),
            "{line}: {piped}"
        );
        assert!(
            piped.ends_with(&format!("--- exit {exit}\n")),
            "{line}: {piped}"
        );
    }
    assert!(
        !sandbox.path("out/a").exists() && !sandbox.path(".config").exists(),
        "what is refused makes nothing"
    );
}

#[test]
fn a_secret_is_sealed_and_shown_nowhere() {
    let Some(server) = shared_server("that secrets are sealed") else {
        return;
    };
    let sandbox = Sandbox::new();
    let dsn = server.url("postgres:hunter2", &server.database(), "");
    sandbox.file(
        "team.json",
        &format!(r#"{{"driver":"postgres","dsn":"{dsn}"}}"#),
    );
    assert_transcript(
        &sandbox,
        &[
            (
                "memo connect history team --input @team.json",
                r#"{"type":"history","name":"team","created":true,"fields":{"driver":"postgres","dsn":{"sealed":true}}}"#,
            ),
            ("grep -rl hunter2 .config", "--- exit 1"),
            ("memo rekey", r#"{"resealed":1}"#),
            (
                "memo connect history team --input - < team.json 2>/dev/null | grep -c created.:false",
                "1",
            ),
            (
                "stat -c %a .config/memo/master.key 2>/dev/null || echo 600",
                "600",
            ),
        ],
    );
    let everything = sandbox.run_shell(
        "memo instances; memo run history/team sessions; memo connect history team --input '{\"dsn\":\"postgres://hunter2\"}'",
    );
    assert!(!everything.contains("hunter2"), "{everything}");
    let given = "export MEMO_MASTER_KEY=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=; memo connect history other --input @team.json >/dev/null;";
    assert!(
        sandbox
            .run_shell(&format!("{given} memo rekey"))
            .contains("MEMO_NEW_MASTER_KEY")
    );
    assert!(
        sandbox
            .run_shell("memo rekey")
            .contains("error[seal_broken]"),
        "another key is told, and nothing is destroyed"
    );
}

#[test]
fn sessions_and_values_are_kept_in_a_database_that_is_there() {
    let Some(server) = shared_server("sessions and values in a database") else {
        return;
    };
    let sandbox = Sandbox::new();
    let dsn = server.url("postgres", &server.database(), "");
    sandbox.file(
        "team.json",
        &format!(r#"{{"driver":"postgres","dsn":"{dsn}"}}"#),
    );
    let at = r#"{"session":"s","role":"user","content":"hi","ts":"2026-05-17T10:00:00Z"}"#;
    assert_transcript(
        &sandbox,
        &[
            (
                "memo connect history team --input @team.json && memo connect kv team --input - < team.json | grep -c created",
                "{\"type\":\"history\",\"name\":\"team\",\"created\":true,\"fields\":{\"driver\":\"postgres\",\"dsn\":{\"sealed\":true}}}\n1",
            ),
            (
                &format!("memo run history/team append --input '{at}'"),
                r#"{"ts":"[time]","role":"user","content":"hi"}"#,
            ),
            (
                "memo run history/team sessions",
                r#"[{"session":"s","records":1,"last_ts":"[time]"}]"#,
            ),
            (
                "memo run history/team purge -p session=s -p role=user",
                r#"{"session":"s","purged":1,"kept":0}"#,
            ),
            (
                "memo run history/team undo >/dev/null; memo run history/team read -p session=s | jq -c 'map(.content)'",
                r#"["hi"]"#,
            ),
            (
                "memo run kv/team set -p key=a/b -p value=1",
                r#"{"key":"a/b","created":true}"#,
            ),
            (
                "memo run kv/team list -p prefix=a/ | jq -c 'map(.key)'",
                r#"["a/b"]"#,
            ),
            ("memo run kv/team get -p key=a/b | jq -r .value", "1"),
        ],
    );
    // An instance that cannot be reached is not stored.
    sandbox.file(
        "away.json",
        r#"{"driver":"postgres","dsn":"postgres://u:hunter2@127.0.0.1:1/d"}"#,
    );
    let refused = sandbox
        .run_shell("memo connect kv away --input @away.json; memo instances | jq -c 'map(.name)'");
    assert!(
        refused.contains("error[database_unreachable]") && !refused.contains("hunter2"),
        "{refused}"
    );
    assert!(!refused.contains("away"), "{refused}");
}

#[test]
fn an_action_tells_its_fields_by_its_schema() {
    let sandbox = Sandbox::new();
    let help = sandbox.run_shell("memo run history/main read --help");
    assert!(
        help.contains("Usage: memo run history/NAME read -p session=… [-p FIELD=VALUE …]"),
        "{help}"
    );
    assert!(
        help.contains("  not_role  list") && help.contains("  tail      true or false"),
        "{help}"
    );
    assert!(
        sandbox
            .run_shell("memo run --help")
            .contains("Usage: memo run")
    );
    assert!(
        sandbox
            .run_shell("memo backends")
            .contains(r#""shown_when":{"driver":"postgres"}"#)
    );
    assert!(
        sandbox
            .run_shell("memo actions history")
            .contains(r#""additionalProperties":false"#)
    );
}

#[test]
fn what_is_done_to_instances_is_in_the_log_and_is_taken_back() {
    let sandbox = Sandbox::new();
    sandbox.run_shell("memory write 'a note' --quiet");
    for line in [
        r#"memo connect kv scratch --input '{"dir":"~/scratch"}'"#,
        "memo run kv/scratch set -p key=a/b -p value=1",
        "memo run kv/scratch set -p key=a/b -p value=2",
        "memo run history append -p session=s -p role=user -p content=hi",
        "memo run history delete -p session=s",
    ] {
        assert!(!sandbox.run_shell(line).contains("error"), "{line}");
    }
    assert_snapshot!(sandbox.run(&["undo"]), @"
    [op1]	delete	s in history/default
    --- stderr
    undid delete of s in history/default; `memory undo [op2]` redoes it
    ");
    assert_snapshot!(sandbox.run(&["undo", "--json"]), @r#"{"operation":"[op3]","undone":{"operation":"[op4]","at":"[time]","verb":"set","files":1,"instance":"kv/scratch","key":"a/b"}}"#);
    assert_snapshot!(sandbox.run(&["log"]), @"
    [op3]	[time]	undo kv/scratch: a/b	cli	1	undoes [op4]
    [op2]	[time]	undo history/default: s	cli	1	undoes [op1]
    [op1]	[time]	delete history/default: s	-	1	undone by [op2]
    [op4]	[time]	set kv/scratch: a/b	-	1	undone by [op3]
    [op5]	[time]	set kv/scratch: a/b	-	1	
    [op6]	[time]	write	cli	1
    ");
    assert_snapshot!(sandbox.run(&["log", "--limit", "2", "--json"]), @r#"{"operations":[{"operation":"[op3]","at":"[time]","verb":"undo","undoes":"[op4]","files":1,"instance":"kv/scratch","key":"a/b"},{"operation":"[op2]","at":"[time]","verb":"undo","undoes":"[op1]","files":1,"instance":"history/default","session":"s","records":1}]}"#);
    assert_snapshot!(sandbox.run_shell("memory log $(memory log --limit 1 --json | jq -r '.operations[0].operation')"), @"kv/scratch	a/b	1");
    assert_transcript(
        &sandbox,
        &[
            (
                "memo run history read -p session=s",
                r#"[{"ts":"[time]","role":"user","content":"hi"}]"#,
            ),
            (
                "memo run kv/scratch get -p key=a/b | jq -c .value",
                r#""1""#,
            ),
            (
                "memo run kv/scratch operations | jq -c 'map([.verb, .key])'",
                r#"[["undo","a/b"],["set","a/b"],["set","a/b"]]"#,
            ),
            (
                "memo run kv/scratch undo | jq -c [.undone.verb,.undone.key]",
                r#"["set","a/b"]"#,
            ),
            (
                "memo run kv/scratch undo --json | jq -r .error.code",
                "OPERATION_NOT_FOUND",
            ),
            (
                "echo '{}' > .memory/history/.trash/2020-01.jsonl; memory trash purge --yes --json",
                r#"{"files":1,"bytes":[n]}"#,
            ),
            ("ls .memory/history/.trash | grep -c 2020", "0\n--- exit 1"),
        ],
    );
    sandbox.file(".config/memo/instances/kv/broken.yaml", "nonsense");
    assert_snapshot!(sandbox.run(&["undo"]), @"
    [op6]	write	1
    --- stderr
    warning: skipped an unreadable instance: kv/broken.yaml is damaged: it is not a mapping of fields
    undid write of 1 file; `memory undo [op7]` redoes it
    ");
}

#[test]
fn what_was_done_in_one_home_is_not_taken_back_in_another() {
    let sandbox = Sandbox::new();
    assert_transcript(
        &sandbox,
        &[
            (
                "memory --root a instance run kv set -p key=k -p value=one | jq -c .created",
                "true",
            ),
            (
                "memory --root a instance run kv set -p key=k -p value=two | jq -c .created",
                "false",
            ),
            (
                "memory --root b instance run kv set -p key=k -p value=two | jq -c .created",
                "true",
            ),
            (
                "memory --root b undo --json | jq -c .undone.verb",
                r#""set""#,
            ),
            (
                "memory --root b instance run kv get -p key=k --json | jq -r .error.code",
                "KEY_NOT_FOUND",
            ),
            (
                "memory --root a undo --json | jq -c .undone.key; memory --root a instance run kv get -p key=k | jq -c .value",
                "\"k\"\n\"one\"",
            ),
            (
                "mv a moved; memory --root moved log --json | jq -c '[.operations[].verb]'",
                r#"["undo","set","set"]"#,
            ),
        ],
    );
}

#[test]
fn notes_banks_and_topics_are_instances_too() {
    let sandbox = Sandbox::new();
    assert_transcript(
        &sandbox,
        &[
            (
                "memo run notes write -p content='tea at nine' -p tags=tea,daily | jq -c '.created'",
                "true",
            ),
            (
                "memory search tea --json | jq -c '[.total, .hits[0].memory.tags]'",
                r#"[1,["tea","daily"]]"#,
            ),
            (
                "memo run bank write -p bank=prices -p key=tea -p value=3 | jq -c .success",
                "true",
            ),
            ("memory bank read prices tea | jq -c .value", "3"),
            (
                "memory log --json | jq -r '[.operations[].by] | unique[]'",
                "cli",
            ),
            // Another instance of notes has a folder of its own.
            (
                r#"memo connect notes work --input '{"dir":"~/work"}' | jq -c .fields"#,
                r#"{"dir":"~/work"}"#,
            ),
            (
                "memo run notes/work write -p content='coffee at ten' | jq -c .created",
                "true",
            ),
            (
                "memory search --words coffee --json | jq .total; memory --root ~/work search --words coffee --json | jq .total",
                "0\n1",
            ),
            (
                r#"memo connect bank work --input '{"dir":"~/banks"}' | jq -c .created"#,
                "true",
            ),
            (
                "memo run bank/work write -p bank=a -p key=k -p value=1 | jq -c .success; ls banks",
                "true\na.json",
            ),
            (
                r#"memo connect topic work --input '{"dir":"~/topics"}' | jq -c .created"#,
                "true",
            ),
            (
                "memo run topic/work write -p filename=tea.md -p name=Tea -p memory_type=user -p description='Tea at nine' -p content='Green, no sugar.' >/dev/null; ls topics/*.md",
                "topics/MEMORY.md\ntopics/tea.md",
            ),
            (
                "memo run topic/work read -p filename=tea.md | grep -c 'no sugar'",
                "1",
            ),
        ],
    );
}

#[test]
fn a_long_session_is_printed_as_it_is_read() {
    let sandbox = Sandbox::new();
    let record = |number: usize| {
        format!(
            r#"{{"role":"user","content":"{number} {}"}}"#,
            "x".repeat(1000)
        )
    };
    let lines: Vec<_> = (0..10_000).map(record).collect();
    let path = sandbox.file(
        ".memory/history/s.jsonl",
        &format!("{}\n", lines.join("\n")),
    );
    let output = Sandbox::finish(
        sandbox.command(&["instance", "run", "history", "read", "-p", "session=s"]),
        "",
    );
    assert!(
        output.stdout == format!("[{}]\n", lines.join(",")).into_bytes(),
        "it is whole"
    );

    // Build information reads the rest, which does not fit into the pipe, after the file is truncated.
    let broken = sandbox.run_shell(&format!(
        "{{ memo run history read -p session=s; echo \"exit $?\" >&2; }} | {{ head -c 1000 >head; : >{path}; cat >tail; }}; tail -c 1 tail"
    ));
    assert!(
        broken.starts_with("}--- stderr\nerror[io]: the output is incomplete\n  because: cannot read or write s.jsonl"),
        "{broken}"
    );
    assert!(broken.trim_end().ends_with("exit 1"), "{broken}");
}

#[test]
fn each_program_uses_its_own_name_in_help_and_hints() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run_shell("memo run history/none read -p session=s"), @"
    --- stderr
    error[instance_not_found]: there is no instance history/none
    hint: `memo instances` lists the instances; `memo connect` creates one
    --- exit 3
    ");
    let json = sandbox.run_shell("memo run history/none read -p session=s --json");
    assert!(
        json.contains("`memo instances` lists the instances"),
        "{json}"
    );
    assert_snapshot!(sandbox.run_shell("memory instance run history/none read -p session=s"), @"
    --- stderr
    error[instance_not_found]: there is no instance history/none
    hint: `memory instance instances` lists the instances; `memory instance connect` creates one
    --- exit 3
    ");
    for (line, usage) in [
        ("memo --help", "Usage: memo [OPTIONS] <COMMAND>"),
        (
            "memo connect --help",
            "Usage: memo connect [OPTIONS] <TYPE> <NAME>",
        ),
        ("memo run --help", "Usage: memo run "),
        (
            "memo run history append --help",
            "Usage: memo run history/NAME append",
        ),
        ("memo connect", "Usage: memo connect"),
        ("memory-cli --help", "Usage: memory-cli [OPTIONS] <COMMAND>"),
        ("memory-cli read --help", "Usage: memory-cli read "),
        ("memory bank read --help", "Usage: memory bank read "),
        ("memory instance run --help", "Usage: memory instance run "),
        (
            "memo --version",
            concat!("memo ", env!("CARGO_PKG_VERSION")),
        ),
        ("memory-cli read nothing key", "`memory-cli list`"),
        ("memory bank read nothing key", "`memory bank list`"),
    ] {
        let printed = sandbox.run_shell(line);
        assert!(printed.contains(usage), "{line}: {printed}");
        let others = if line.starts_with("memory ") {
            "memo "
        } else {
            "memory instance"
        };
        let has_others = printed.contains(&format!("`{others}"))
            || !line.starts_with("memory ") && printed.contains("`memory bank");
        assert!(!has_others, "{line}: {printed}");
    }
}
