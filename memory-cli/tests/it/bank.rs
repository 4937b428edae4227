//! `memory bank`, and `memory-cli` for short

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A home with a project in it, in which the commands run.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path(".slop-mcp")).expect("a folder");
    sandbox
}

/// Runs one command line, whose arguments are parted by spaces and may stand in single quotes.
fn run(sandbox: &Sandbox, line: &str) -> String {
    run_with(sandbox, line, "")
}

fn run_with(sandbox: &Sandbox, line: &str, input: &str) -> String {
    let mut arguments = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 { arguments.push(part) } else { arguments.extend(part.split_whitespace()) }
    }
    sandbox.bank(input, &arguments[1..])
}

#[test]
fn what_is_written_is_read_listed_found_and_deleted() {
    let sandbox = project();
    assert_snapshot!(run(&sandbox, r#"memory-cli write session context '{"topic": "refactoring", "files": ["main.go"]}'"#), @r#"{"success":true,"key":"context","bank":"session","scope":"project","operation":"create"}"#);
    assert_snapshot!(run(&sandbox, "memory-cli read session context"), @r#"{"value":{"topic":"refactoring","files":["main.go"]},"metadata":{"created_at":"[time]","updated_at":"[time]"}}"#);
    assert_snapshot!(run(&sandbox, r#"memory-cli write session context '{"topic": "testing"}'"#), @r#"{"success":true,"key":"context","bank":"session","scope":"project","operation":"update"}"#);
    assert_snapshot!(run_with(&sandbox, "memory-cli write session data --stdin", "{\"data\": \"value\"}\n"), @r#"{"success":true,"key":"data","bank":"session","scope":"project","operation":"create"}"#);
    assert_snapshot!(run(&sandbox, r#"memory-cli write cache token '{"jwt": "..."}' --ttl 3600"#), @r#"{"success":true,"key":"token","bank":"cache","scope":"project","operation":"create"}"#);
    assert_snapshot!(run(&sandbox, r#"memory-cli write config theme '"深色"' --scope user"#), @r#"{"success":true,"key":"theme","bank":"config","scope":"user","operation":"create"}"#);
    assert_snapshot!(run(&sandbox, "memory-cli read session"), @r#"{"_meta":{"version":1,"created_at":"[time]","updated_at":"[time]","schema":null},"entries":{"context":{"value":{"topic":"testing"},"created_at":"[time]","updated_at":"[time]","ttl":null},"data":{"value":{"data":"value"},"created_at":"[time]","updated_at":"[time]","ttl":null}}}"#);
    assert_snapshot!(run(&sandbox, r#"memory-cli read session missing --default '{"empty": true}'"#), @r#"{"value":{"empty":true},"metadata":null}"#);
    assert_snapshot!(run(&sandbox, "memory-cli read config theme --format value"), @r#""深色""#);
    assert_snapshot!(run(&sandbox, "memory-cli read config theme --raw"), @"深色");
    assert_snapshot!(run(&sandbox, "memory-cli list"), @r#"{"banks":[{"name":"cache","scope":"project","key_count":1,"updated_at":"[time]","size_bytes":[n]},{"name":"session","scope":"project","key_count":2,"updated_at":"[time]","size_bytes":[n]},{"name":"config","scope":"user","key_count":1,"updated_at":"[time]","size_bytes":[n]}]}"#);
    assert_snapshot!(run(&sandbox, "memory-cli list --format table"), @"
    BANK     KEYS  UPDATED              SCOPE
    cache       1  [time]  project
    session     2  [time]  project
    config      1  [time]  user
    ");
    assert_snapshot!(run(&sandbox, "memory-cli list session"), @r#"{"bank":"session","scope":"project","keys":[{"key":"context"},{"key":"data"}]}"#);
    assert_snapshot!(run(&sandbox, "memory-cli list session --verbose"), @r#"{"bank":"session","scope":"project","keys":[{"key":"context","size_bytes":[n],"created_at":"[time]","updated_at":"[time]"},{"key":"data","size_bytes":[n],"created_at":"[time]","updated_at":"[time]"}]}"#);
    assert_snapshot!(run(&sandbox, "memory-cli list session --verbose --format table"), @"
    KEY      UPDATED              CREATED              EXPIRES  BYTES
    context  [time]  [time]  -           19
    data     [time]  [time]  -           16
    ");
    assert_snapshot!(run(&sandbox, "memory-cli search context"), @r#"{"matches":[{"bank":"session","key":"context","scope":"project","matched":"key","updated_at":"[time]"}],"total":1}"#);
    assert_snapshot!(run(&sandbox, "memory-cli search --value 'test.*ing' --format table"), @"
    BANK     KEY      SCOPE    UPDATED              MATCHED
    session  context  project  [time]  value
    ");
    assert_snapshot!(run(&sandbox, "memory-cli search theme --scope user --value"), @r#"{"matches":[{"bank":"config","key":"theme","scope":"user","matched":"key","updated_at":"[time]","value":"深色"}],"total":1}"#);
    assert_snapshot!(run(&sandbox, "memory-cli delete session context"), @r#"{"success":true,"bank":"session","scope":"project","key":"context","deleted":"key"}"#);
    assert_snapshot!(run(&sandbox, "memory-cli delete session --bank"), @r#"{"success":true,"bank":"session","scope":"project","deleted":"bank"}"#);
    assert_snapshot!(run(&sandbox, "memory-cli delete cache --bank --confirm"), @r#"{"success":true,"bank":"cache","scope":"project","deleted":"bank"}"#);
    assert_snapshot!(run(&sandbox, "memory-cli list"), @r#"{"banks":[{"name":"config","scope":"user","key_count":1,"updated_at":"[time]","size_bytes":[n]}]}"#);
}

#[test]
fn numbers_keep_their_digits_and_keys_their_order() {
    let sandbox = project();
    for number in ["1e1000", "0.1", "9007199254740993", "100000000000000000001", "-0.10", "-5"] {
        let value = format!("{{\"z\":{number},\"a\":[{number}]}}");
        run(&sandbox, &format!("memory-cli write numbers n '{value}'"));
        assert_eq!(run(&sandbox, "memory-cli read numbers n --format value"), format!("{value}\n"));
        run(&sandbox, &format!("memory-cli write numbers plain {number}"));
        assert_eq!(run(&sandbox, "memory-cli read numbers plain --format value"), format!("{number}\n"));
    }
}

#[test]
fn what_is_wrong_is_said_as_json_with_its_code() {
    let sandbox = project();
    run(&sandbox, "memory-cli write session a 1");
    assert_snapshot!(run(&sandbox, "memory-cli read nothing"), @r#"
    {"error":{"code":"BANK_NOT_FOUND","message":"Memory bank 'nothing' does not exist","bank":"nothing","hint":"`memory bank list` shows the banks; `memory bank write` makes one"}}
    --- exit 3
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli read session nothing"), @r#"
    {"error":{"code":"KEY_NOT_FOUND","message":"Key 'nothing' does not exist in memory bank 'session'","bank":"session","key":"nothing","scope":"project","hint":"`memory bank list BANK` shows the keys"}}
    --- exit 3
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli read session a --scope user"), @r#"
    {"error":{"code":"BANK_NOT_FOUND","message":"Memory bank 'session' does not exist","bank":"session","key":"a","scope":"user","hint":"`memory bank list` shows the banks; `memory bank write` makes one"}}
    --- exit 3
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli delete session a --scope user"), @r#"
    {"error":{"code":"BANK_NOT_FOUND","message":"Memory bank 'session' does not exist","bank":"session","key":"a","scope":"user","hint":"`memory bank list` shows the banks; `memory bank write` makes one"}}
    --- exit 3
    "#);
    for name in ["_meta", "Session", "../session", "a/b"] {
        assert!(run(&sandbox, &format!("memory-cli write {name} a 1")).contains(r#""code":"INVALID_BANK_NAME""#), "{name}");
    }
    assert_snapshot!(run(&sandbox, "memory-cli write _index a 1"), @r#"
    {"error":{"code":"INVALID_BANK_NAME","message":"The name '_index' is reserved","bank":"_index","hint":"a name is a to z, then a to z, 0 to 9, _ and -, at most 64 characters"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli write session a {broken"), @r#"
    {"error":{"code":"INVALID_JSON","message":"The value is not valid JSON: a key in quotes is missing (byte 1)","bank":"session","key":"a","hint":"a text needs quotes of its own: '\"text\"'"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, r#"memory-cli write session a '{"k": 1, "k": 2}'"#), @r#"
    {"error":{"code":"INVALID_JSON","message":"The value is not valid JSON: the key \"k\" stands twice in one object","bank":"session","key":"a"}}
    --- exit 2
    "#);
    assert_snapshot!(run_with(&sandbox, "memory-cli write session a --stdin", &format!("\"{}\"", "x".repeat(1024 * 1024 - 1))), @r#"
    {"error":{"code":"LIMIT_EXCEEDED","message":"The value has 1048577 bytes; a value may have 1048576","bank":"session","key":"a","scope":"project"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli write session a 2 --create-only"), @r#"
    {"error":{"code":"KEY_EXISTS","message":"Key 'a' exists in memory bank 'session'","bank":"session","key":"a","scope":"project","hint":"leave --create-only out to replace it"}}
    --- exit 4
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli write session b 2 --update-only"), @r#"
    {"error":{"code":"KEY_NOT_FOUND","message":"Key 'b' does not exist in memory bank 'session'","bank":"session","key":"b","scope":"project","hint":"`memory bank list BANK` shows the keys"}}
    --- exit 3
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli write cache a 1 --ttl 0"), @r#"{"success":true,"key":"a","bank":"cache","scope":"project","operation":"create"}"#);
    assert_snapshot!(run(&sandbox, "memory-cli read cache a"), @r#"
    {"error":{"code":"TTL_EXPIRED","message":"Key 'a' in memory bank 'cache' has expired","bank":"cache","key":"a","scope":"project","hint":"write it again; `memory bank gc` takes away what has expired"}}
    --- exit 3
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli write session"), @r#"
    {"error":{"code":"USAGE","message":"the following required arguments were not provided: <KEY>","hint":"Usage: memory bank write <BANK> <KEY> [VALUE]"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli write session a"), @r#"
    {"error":{"code":"USAGE","message":"a value is missing","hint":"type it behind the key, or pipe it in with --stdin"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli search ("), @r#"
    {"error":{"code":"INVALID_INPUT","message":"That is no regular expression: error: unclosed group"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli read session a --format value"), @"1");
}

#[test]
fn a_schema_is_set_checked_and_cleared() {
    let sandbox = project();
    sandbox.file("schema.json", r#"{"type": "object", "required": ["count"]}"#);
    assert_snapshot!(run(&sandbox, "memory-cli schema stats --set @schema.json"), @r#"{"bank":"stats","scope":"project","schema":{"type":"object","required":["count"]}}"#);
    assert_snapshot!(run(&sandbox, "memory-cli write stats visits 7"), @r#"
    {"error":{"code":"SCHEMA_VIOLATION","message":"The value does not fit the schema of 'stats': 7 is not of type \"object\"","bank":"stats","key":"visits","scope":"project"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, r#"memory-cli write stats visits '{"count": 7}'"#), @r#"{"success":true,"key":"visits","bank":"stats","scope":"project","operation":"create"}"#);
    assert_snapshot!(run(&sandbox, "memory-cli schema stats"), @r#"{"bank":"stats","scope":"project","schema":{"type":"object","required":["count"]}}"#);
    assert_snapshot!(run(&sandbox, "memory-cli schema stats --set 7"), @r#"
    {"error":{"code":"INVALID_SCHEMA","message":"That is no JSON Schema: a schema is an object, true or false","bank":"stats"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli schema stats --clear"), @r#"{"bank":"stats","scope":"project","schema":null}"#);
    assert_snapshot!(run(&sandbox, "memory-cli schema nothing"), @r#"
    {"error":{"code":"BANK_NOT_FOUND","message":"Memory bank 'nothing' does not exist","bank":"nothing","hint":"`memory bank list` shows the banks; `memory bank write` makes one"}}
    --- exit 3
    "#);
}

#[test]
fn exports_are_imported_and_what_expired_is_collected() {
    let sandbox = project();
    run(&sandbox, r#"memory-cli write session a '{"n": 1e1000}'"#);
    run(&sandbox, "memory-cli write session old 1 --ttl 0");
    run(&sandbox, "memory-cli write config b 2 --scope user");
    let backup = sandbox.command(&["bank", "export", "session"]).output().expect("an export").stdout;
    let all = sandbox.command(&["bank", "export", "--all"]).output().expect("an export").stdout;
    assert_snapshot!(run(&sandbox, "memory-cli export session"), @r#"{"_meta":{"version":1,"created_at":"[time]","updated_at":"[time]","schema":null},"entries":{"a":{"value":{"n":1e1000},"created_at":"[time]","updated_at":"[time]","ttl":null},"old":{"value":1,"created_at":"[time]","updated_at":"[time]","ttl":0}}}"#);
    assert_snapshot!(run(&sandbox, "memory-cli gc --dry-run"), @r#"{"removed":[{"bank":"session","key":"old","scope":"project","reason":"expired"}],"total":1,"dry_run":true}"#);
    assert_snapshot!(run(&sandbox, "memory-cli gc"), @r#"{"removed":[{"bank":"session","key":"old","scope":"project","reason":"expired"}],"total":1,"dry_run":false}"#);
    assert_snapshot!(run(&sandbox, "memory-cli gc --older-than 30d"), @r#"{"removed":[],"total":0,"dry_run":false}"#);
    assert_snapshot!(run_with(&sandbox, "memory-cli import session", std::str::from_utf8(&backup).expect("text")), @r#"{"success":true,"bank":"session","scope":"project","created":1,"updated":0,"unchanged":1}"#);
    run(&sandbox, "memory-cli delete config --bank");
    assert_snapshot!(run_with(&sandbox, "memory-cli import --all", std::str::from_utf8(&all).expect("text")), @r#"
    {"success":true,"bank":"session","scope":"project","created":0,"updated":0,"unchanged":2}
    {"success":true,"bank":"config","scope":"user","created":1,"updated":0,"unchanged":0}
    "#);
    assert_snapshot!(run_with(&sandbox, "memory-cli import session", "{\"entries\": []}"), @r#"
    {"error":{"code":"INVALID_INPUT","message":"The document is no bank: it has no object of entries","bank":"session","hint":"`memory bank export BANK` writes one"}}
    --- exit 2
    "#);
    assert_snapshot!(run_with(&sandbox, "memory-cli import --all", "{}"), @r#"
    {"error":{"code":"USAGE","message":"that is no export of all banks","hint":"`memory bank export --all` writes one"}}
    --- exit 2
    "#);
}

#[test]
fn damage_is_told_and_repaired_and_nothing_is_lost() {
    let sandbox = project();
    run(&sandbox, "memory-cli write session a 1");
    let whole = std::fs::read_to_string(sandbox.path(".slop-mcp/memory/session.json")).expect("a file");
    sandbox.file(".slop-mcp/memory/session.json", whole.trim_end().trim_end_matches("}\n}"));
    assert_snapshot!(run(&sandbox, "memory-cli read session a"), @r#"
    {"error":{"code":"FILE_DAMAGED","message":"session.json is damaged: the text breaks off (byte 315)","bank":"session","key":"a","scope":"project","hint":"`memory bank repair` keeps what can be read, and sets the rest aside"}}
    --- exit 5
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli list"), @r#"{"banks":[{"name":"session","scope":"project","size_bytes":[n],"error":{"code":"FILE_DAMAGED","message":"session.json is damaged: the text breaks off (byte 315)","bank":"session","scope":"project","hint":"`memory bank repair` keeps what can be read, and sets the rest aside"}}]}"#);
    assert_snapshot!(run(&sandbox, "memory-cli repair --check-only"), @r#"
    {"damage":[{"bank":"session","scope":"project","what":"session.json: the text breaks off (byte 315)","repaired":false}],"total":1}
    --- exit 5
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli repair session"), @r#"{"damage":[{"bank":"session","scope":"project","what":"session.json: the text breaks off (byte 315)","repaired":true,"set_aside":"session.json.damaged-[op1]"}],"total":1}"#);
    assert_snapshot!(run(&sandbox, "memory-cli repair --format table"), @"
    BANK  SCOPE  WHAT  SET ASIDE
    --- stderr
    nothing is wrong
    ");
    assert_snapshot!(run(&sandbox, "memory-cli read session a --format value"), @"1");
    assert_snapshot!(run(&sandbox, "memory-cli repair nothing"), @r#"
    {"error":{"code":"BANK_NOT_FOUND","message":"Memory bank 'nothing' does not exist","bank":"nothing","hint":"`memory bank list` shows the banks; `memory bank write` makes one"}}
    --- exit 3
    "#);
}

#[test]
fn changes_of_banks_are_in_the_log_and_are_taken_back() {
    let sandbox = project();
    run(&sandbox, "memory-cli write session a 1");
    sandbox.run(&["write", "a note", "--quiet"]);
    run(&sandbox, "memory-cli write session a 2");
    run(&sandbox, "memory-cli delete session --bank");
    assert_snapshot!(sandbox.run(&["undo"]), @"
    [op1]	delete	session
    --- stderr
    took back delete of session; `memory undo [op2]` does it again
    ");
    assert_snapshot!(sandbox.run(&["undo", "--json"]), @r#"{"operation":"[op3]","undone":{"operation":"[op4]","at":"[time]","verb":"write","by":"cli","files":1,"bank":"session","scope":"project","keys":["a"]}}"#);
    assert_snapshot!(run(&sandbox, "memory-cli read session a --format value"), @"1");
    assert_snapshot!(sandbox.run(&["undo"]), @"
    [op5]	write	1
    --- stderr
    took back write of 1 file; `memory undo [op6]` does it again
    ");
    assert_snapshot!(sandbox.run(&["undo"]), @"
    [op7]	write	a in session
    --- stderr
    took back write of a in session; `memory undo [op8]` does it again
    ");
    assert_snapshot!(run(&sandbox, "memory-cli read session a --format value"), @r#"
    {"error":{"code":"BANK_NOT_FOUND","message":"Memory bank 'session' does not exist","bank":"session","key":"a","hint":"`memory bank list` shows the banks; `memory bank write` makes one"}}
    --- exit 3
    "#);
    assert_snapshot!(sandbox.run(&["log"]), @"
    [op8]	[time]	undo bank session	cli	1	takes back [op7]
    [op6]	[time]	undo	cli	1	takes back [op5]
    [op3]	[time]	undo bank session: a	cli	1	takes back [op4]
    [op2]	[time]	undo bank session	cli	1	takes back [op1]
    [op1]	[time]	delete bank session	cli	1	taken back by [op2]
    [op4]	[time]	write bank session: a	cli	1	taken back by [op3]
    [op5]	[time]	write	cli	1	taken back by [op6]
    [op7]	[time]	write bank session: a	cli	1	taken back by [op8]
    ");
    assert_snapshot!(sandbox.run(&["log", "--limit", "1", "--json"]), @r#"{"operations":[{"operation":"[op8]","at":"[time]","verb":"undo","by":"cli","undoes":"[op7]","files":1,"bank":"session","scope":"project","keys":[]}]}"#);
    assert_snapshot!(sandbox.run(&["undo", "ffff00000000"]), @"
    --- stderr
    error[operation_not_found]: no operation is called [op9]
    hint: `memory log` shows the operations
    --- exit 3
    ");
}

#[test]
fn banks_are_asked_and_changed_with_jq() {
    let sandbox = project();
    run(&sandbox, r#"memory-cli write session context '{"topic": "refactoring", "files": ["main.go"]}'"#);
    run(&sandbox, r#"memory-cli write project decisions '{"auth": "JWT", "db": "PostgreSQL"}'"#);
    run(&sandbox, r#"memory-cli write tasks daily-standup '{"last_run": "2024-01-15", "items": []}'"#);
    run(&sandbox, r#"memory-cli write tasks items '{"items": [{"t": "a", "done": false}, {"t": "b", "done": true}]}'"#);
    run(&sandbox, r#"memory-cli write stats visits '{"count": 100000000000000000001, "of": 1}'"#);
    assert_snapshot!(run(&sandbox, "memory-cli query session context '.topic'"), @r#""refactoring""#);
    assert_snapshot!(run(&sandbox, "memory-cli query session context '.topic' --raw"), @"refactoring");
    assert_snapshot!(run(&sandbox, "memory-cli query session '.entries | keys'"), @r#"["context"]"#);
    assert_snapshot!(run(&sandbox, "memory-cli query project decisions '.auth'"), @r#""JWT""#);
    assert_snapshot!(run(&sandbox, "memory-cli query tasks items '.items[] | select(.done == false)'"), @r#"{"t":"a","done":false}"#);
    assert_snapshot!(run(&sandbox, "memory-cli query tasks items '.items[].t' -r"), @"
    a
    b
    ");
    assert_snapshot!(run(&sandbox, r#"memory-cli update tasks daily-standup '.items += ["Review PRs"]'"#), @r#"{"success":true,"key":"daily-standup","bank":"tasks","scope":"project","operation":"update","value":{"last_run":"2024-01-15","items":["Review PRs"]}}"#);
    assert_snapshot!(run(&sandbox, "memory-cli update stats visits '.of += 1'"), @r#"{"success":true,"key":"visits","bank":"stats","scope":"project","operation":"update","value":{"count":100000000000000000001,"of":2}}"#);
    assert_snapshot!(run(&sandbox, "memory-cli update stats hits '(. // 0) + 1' --create"), @r#"{"success":true,"key":"hits","bank":"stats","scope":"project","operation":"create","value":1}"#);
    assert_snapshot!(run(&sandbox, "memory-cli update stats nothing '. + 1'"), @r#"
    {"error":{"code":"KEY_NOT_FOUND","message":"Key 'nothing' does not exist in memory bank 'stats'","bank":"stats","key":"nothing","scope":"project","hint":"`memory bank list BANK` shows the keys"}}
    --- exit 3
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli update stats visits '.count, .of'"), @r#"
    {"error":{"code":"FILTER_ERROR","message":"the filter puts out 2 values where one is needed","bank":"stats","key":"visits","scope":"project","hint":"wrap the filter in [ ] to keep all that it puts out"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli update stats visits 'empty'"), @r#"
    {"error":{"code":"FILTER_ERROR","message":"the filter puts out 0 values where one is needed","bank":"stats","key":"visits","scope":"project","hint":"wrap the filter in [ ] to keep all that it puts out"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli query stats visits '.count | keys'"), @r#"
    {"error":{"code":"FILTER_ERROR","message":"number (100000000000000000001) has no keys","bank":"stats","key":"visits","scope":"project"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli query stats visits '.count |'"), @r#"
    {"error":{"code":"FILTER_ERROR","message":"syntax error, unexpected end of file at <top-level>, line 1, column 8:\n    .count |\n           ^","bank":"stats","key":"visits","scope":"project"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli query stats visits 'env, input_filename'"), @"
    {}
    null
    ");
}

#[test]
fn a_filter_that_takes_too_much_is_stopped() {
    let sandbox = project();
    sandbox.file(".memory/config.yaml", "banks:\n  filter_timeout: 1s\n  filter_memory: 32MB\n");
    run(&sandbox, "memory-cli write stats a 1");
    assert_snapshot!(run(&sandbox, "memory-cli query stats a 'def f: f; f'"), @r#"
    {"error":{"code":"FILTER_TIMEOUT","message":"the filter was stopped after 1 s","bank":"stats","key":"a","scope":"project"}}
    --- exit 1
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli update stats a '[range(1e9)]'"), @r#"
    {"error":{"code":"FILTER_TIMEOUT","message":"the filter needs more memory than the 32 MB it may have","bank":"stats","key":"a","scope":"project"}}
    --- exit 1
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli query stats a 'def f: 1 + f; f'"), @r#"
    {"error":{"code":"FILTER_TIMEOUT","message":"the filter needs more memory than the 32 MB it may have","bank":"stats","key":"a","scope":"project"}}
    --- exit 1
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli read stats a --format value"), @"1");
}

#[test]
fn the_filter_command_is_jq() {
    let sandbox = Sandbox::new();
    let input = "{\"a\":[1,2.50,1e1000]}\n\"x\" null [100000000000000000001]";
    assert_snapshot!(run_with(&sandbox, "memory-cli filter .", input), @r#"
    {
      "a": [
        1,
        2.50,
        1E+1000
      ]
    }
    "x"
    null
    [
      100000000000000000001
    ]
    "#);
    assert_snapshot!(run_with(&sandbox, "memory-cli filter -c .", input), @r#"
    {"a":[1,2.50,1E+1000]}
    "x"
    null
    [100000000000000000001]
    "#);
    assert_snapshot!(run_with(&sandbox, "memory-cli filter -r '.a[0]?, strings'", input), @r#"
    1
    null
    --- stderr
    jq: error: Cannot index string with string ("a")
    jq: error: Cannot index array with string ("a")
    --- exit 5
    "#);
    assert_snapshot!(run_with(&sandbox, "memory-cli filter -c .a", input), @r#"
    [1,2.50,1E+1000]
    null
    --- stderr
    jq: error: Cannot index string with string ("a")
    jq: error: Cannot index array with string ("a")
    --- exit 5
    "#);
    assert_snapshot!(run_with(&sandbox, "memory-cli filter -cs length", input), @"4");
    assert_snapshot!(run_with(&sandbox, "memory-cli filter -n '[inputs] | length'", input), @"4");
    assert_snapshot!(run_with(&sandbox, "memory-cli filter '.a['", input), @"
    --- stderr
    jq: error: syntax error, unexpected end of file at <top-level>, line 1, column 3:
        .a[
          ^
    --- exit 3
    ");
    assert_snapshot!(run_with(&sandbox, "memory-cli filter .", "{\"a\":"), @"
    --- stderr
    jq: error: Unfinished JSON term at EOF at line 1, column 5
    --- exit 2
    ");
}

#[test]
fn agents_reach_banks_by_the_same_names_and_answers() {
    let sandbox = project();
    let calls = r#"[{"name":"memory_write","params":{"bank":"session","key":"a","value":{"n":[1,2]}}},
        {"name":"memory_update","params":{"bank":"session","key":"a","filter":".n += [3]"}},
        {"name":"memory_query","params":{"bank":"session","key":"a","filter":".n[]"}},
        {"name":"memory_read","params":{"bank":"session","key":"a"}},
        {"name":"memory_read","params":{"bank":"session","key":"none","default":null}},
        {"name":"memory_search","params":{"pattern":"\\[1,2","search_values":true}},
        {"name":"memory_list","params":{}},
        {"name":"memory_delete","params":{"bank":"session","key":"b"}},
        {"name":"memory_write","params":{"bank":"session","key":"a"}},
        {"name":"memory_write","params":{"bank":"session","key":"a","value":1,"loud":true}}]"#;
    assert_snapshot!(sandbox.pipe(calls, &["agent", "--tools", "bank=memory_"]), @r#"
    [
    {"name":"memory_write","result":{"success":true,"key":"a","bank":"session","scope":"project","operation":"create"}},
    {"name":"memory_update","result":{"success":true,"key":"a","bank":"session","scope":"project","operation":"update","value":{"n":[1,2,3]}}},
    {"name":"memory_query","result":{"results":[1,2,3]}},
    {"name":"memory_read","result":{"value":{"n":[1,2,3]},"metadata":{"created_at":"[time]","updated_at":"[time]"}}},
    {"name":"memory_read","result":{"value":null,"metadata":null}},
    {"name":"memory_search","result":{"matches":[{"bank":"session","key":"a","scope":"project","matched":"value","updated_at":"[time]","value":{"n":[1,2,3]}}],"total":1}},
    {"name":"memory_list","result":{"banks":[{"name":"session","scope":"project","key_count":1,"updated_at":"[time]","size_bytes":[n]}]}},
    {"name":"memory_delete","error":{"code":"KEY_NOT_FOUND","message":"Key 'b' does not exist in memory bank 'session'","bank":"session","key":"b","scope":"project","hint":"`memory bank list BANK` shows the keys"}},
    {"name":"memory_write","error":{"code":"INVALID_INPUT","message":"the field value is missing","hint":"`memory agent --list-tools` shows the parameters of memory_write"}},
    {"name":"memory_write","error":{"code":"INVALID_INPUT","message":"unknown field `loud`, expected one of `bank`, `key`, `value`, `scope`, `ttl`"}}
    ]
    --- stderr
    error[call_failed]: 3 calls failed
    hint: all others were done; the answers to these say what is wrong
    --- exit 1
    "#);
    run(&sandbox, "memory-cli write numbers n 1e1000");
    assert_snapshot!(sandbox.pipe(r#"[{"name":"bank_read","params":{"bank":"numbers","key":"n"}}]"#, &["agent"]), @r#"
    [
    {"name":"bank_read","result":{"value":1.7976931348623157e+308,"metadata":{"created_at":"[time]","updated_at":"[time]"},"text":"{\"value\":1e1000,\"metadata\":{\"created_at\":\"[time]\",\"updated_at\":\"[time]\"}}"}}
    ]
    "#);
    assert_snapshot!(sandbox.run(&["agent", "--list-tools", "--tools", "usual,bank=memory_"]), @"
    --- stderr
    error[usage]: two tools would be called memory_read
    hint: offer only one of the two sets, or another prefix
    --- exit 2
    ");
}
