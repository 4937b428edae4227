//! `memory bank`, and `memory-cli` for short

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A home with a project in it, in which the commands run.
pub(crate) fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path(".slop-mcp")).expect("a folder");
    sandbox
}

/// Runs one command line, whose arguments are parted by spaces and may stand in single quotes.
pub(crate) fn run(sandbox: &Sandbox, line: &str) -> String {
    run_with(sandbox, line, "")
}

pub(crate) fn run_with(sandbox: &Sandbox, line: &str, input: &str) -> String {
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
