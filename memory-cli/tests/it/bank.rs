//! Tests of `memory bank` and its short form `memory-cli`.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// Returns a home that is a project with banks, in which the commands run.
pub(crate) fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path(".slop-mcp")).expect("a folder");
    sandbox
}

/// Runs a command line; its arguments are separated by spaces and may be in single quotes.
pub(crate) fn run(sandbox: &Sandbox, line: &str) -> String {
    run_with(sandbox, line, "")
}

pub(crate) fn run_with(sandbox: &Sandbox, line: &str, input: &str) -> String {
    let mut arguments = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            arguments.push(part);
        } else {
            arguments.extend(part.split_whitespace());
        }
    }
    sandbox.run_bank(input, &arguments[1..])
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
    assert_snapshot!(run(&sandbox, "memory-cli delete session --bank"), @r#"
    {"error":{"code":"USAGE","message":"bank session was not deleted: without a terminal, nobody can confirm it","scope":"project","hint":"add --confirm"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli delete session --bank --confirm"), @r#"{"success":true,"bank":"session","scope":"project","deleted":"bank"}"#);
    assert_snapshot!(run(&sandbox, "memory-cli delete cache --bank --confirm"), @r#"{"success":true,"bank":"cache","scope":"project","deleted":"bank"}"#);
    assert_snapshot!(run(&sandbox, "memory-cli list"), @r#"{"banks":[{"name":"config","scope":"user","key_count":1,"updated_at":"[time]","size_bytes":[n]}]}"#);
}

#[test]
fn numbers_keep_their_digits_and_keys_their_order() {
    let sandbox = project();
    for number in [
        "1e1000",
        "0.1",
        "9007199254740993",
        "100000000000000000001",
        "-0.10",
        "-5",
    ] {
        let value = format!("{{\"z\":{number},\"a\":[{number}]}}");
        run(&sandbox, &format!("memory-cli write numbers n '{value}'"));
        assert_eq!(
            run(&sandbox, "memory-cli read numbers n --format value"),
            format!("{value}\n")
        );
        run(
            &sandbox,
            &format!("memory-cli write numbers plain {number}"),
        );
        assert_eq!(
            run(&sandbox, "memory-cli read numbers plain --format value"),
            format!("{number}\n")
        );
    }
}

#[test]
fn what_is_wrong_is_said_as_json_with_its_code() {
    let sandbox = project();
    run(&sandbox, "memory-cli write session a 1");
    assert_snapshot!(run(&sandbox, "memory-cli read nothing"), @r#"
    {"error":{"code":"BANK_NOT_FOUND","message":"Memory bank 'nothing' does not exist","bank":"nothing","scope":"project","hint":"`memory-cli list` lists the banks; `memory-cli write` creates one"}}
    --- exit 3
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli read session nothing"), @r#"
    {"error":{"code":"KEY_NOT_FOUND","message":"Key 'nothing' does not exist in memory bank 'session'","bank":"session","key":"nothing","scope":"project","hint":"`memory-cli list BANK` lists the keys"}}
    --- exit 3
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli read session a --scope user"), @r#"
    {"error":{"code":"BANK_NOT_FOUND","message":"Memory bank 'session' does not exist","bank":"session","key":"a","scope":"user","hint":"`memory-cli list` lists the banks; `memory-cli write` creates one"}}
    --- exit 3
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli delete session a --scope user"), @r#"
    {"error":{"code":"BANK_NOT_FOUND","message":"Memory bank 'session' does not exist","bank":"session","key":"a","scope":"user","hint":"`memory-cli list` lists the banks; `memory-cli write` creates one"}}
    --- exit 3
    "#);
    for name in ["_meta", "Session", "../session", "a/b"] {
        assert!(
            run(&sandbox, &format!("memory-cli write {name} a 1"))
                .contains(r#""code":"INVALID_BANK_NAME""#),
            "{name}"
        );
    }
    assert_snapshot!(run(&sandbox, "memory-cli write _index a 1"), @r#"
    {"error":{"code":"INVALID_BANK_NAME","message":"The name '_index' is reserved","bank":"_index","scope":"project","hint":"a bank name begins with a letter from a to z, followed by a to z, 0 to 9, _ or -; at most 64 characters"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli write session a {broken"), @r#"
    {"error":{"code":"INVALID_JSON","message":"The value is not valid JSON: expected a quoted key (byte 1)","bank":"session","key":"a","scope":"project","hint":"a JSON string needs its own quotes: '\"text\"'"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, r#"memory-cli write session a '{"k": 1, "k": 2}'"#), @r#"
    {"error":{"code":"INVALID_JSON","message":"The value is not valid JSON: duplicate key \"k\" in an object","bank":"session","key":"a","scope":"project"}}
    --- exit 2
    "#);
    assert_snapshot!(run_with(&sandbox, "memory-cli write session a --stdin", &format!("\"{}\"", "x".repeat(1024 * 1024 - 1))), @r#"
    {"error":{"code":"LIMIT_EXCEEDED","message":"The value has 1048577 bytes; the maximum is 1048576","bank":"session","key":"a","scope":"project"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli write session a 2 --create-only"), @r#"
    {"error":{"code":"KEY_EXISTS","message":"Key 'a' already exists in memory bank 'session'","bank":"session","key":"a","scope":"project","hint":"omit --create-only to replace the value"}}
    --- exit 4
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli write session b 2 --update-only"), @r#"
    {"error":{"code":"KEY_NOT_FOUND","message":"Key 'b' does not exist in memory bank 'session'","bank":"session","key":"b","scope":"project","hint":"`memory-cli list BANK` lists the keys"}}
    --- exit 3
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli write cache a 1 --ttl 0"), @r#"{"success":true,"key":"a","bank":"cache","scope":"project","operation":"create"}"#);
    assert_snapshot!(run(&sandbox, "memory-cli read cache a"), @r#"
    {"error":{"code":"TTL_EXPIRED","message":"Key 'a' in memory bank 'cache' has expired","bank":"cache","key":"a","scope":"project","hint":"write the value again; `memory-cli gc` deletes expired entries"}}
    --- exit 3
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli write session"), @r#"
    {"error":{"code":"USAGE","message":"the following required arguments were not provided: <KEY>","hint":"Usage: memory-cli write <BANK> <KEY> [VALUE]"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli write session a"), @r#"
    {"error":{"code":"USAGE","message":"no value specified","scope":"project","hint":"pass it after the key, or pipe it with --stdin"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli search ("), @r#"
    {"error":{"code":"INVALID_INPUT","message":"The pattern is not a valid regular expression: error: unclosed group","scope":"project"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli read session a --format value"), @"1");
}

#[test]
fn a_schema_is_set_checked_and_cleared() {
    let sandbox = project();
    sandbox.file(
        "schema.json",
        r#"{"type": "object", "required": ["count"]}"#,
    );
    assert_snapshot!(run(&sandbox, "memory-cli schema stats --set @schema.json"), @r#"{"bank":"stats","scope":"project","schema":{"type":"object","required":["count"]}}"#);
    assert_snapshot!(run(&sandbox, "memory-cli write stats visits 7"), @r#"
    {"error":{"code":"SCHEMA_VIOLATION","message":"The value does not satisfy the schema of 'stats': 7 is not of type \"object\"","bank":"stats","key":"visits","scope":"project"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, r#"memory-cli write stats visits '{"count": 7}'"#), @r#"{"success":true,"key":"visits","bank":"stats","scope":"project","operation":"create"}"#);
    assert_snapshot!(run(&sandbox, "memory-cli schema stats"), @r#"{"bank":"stats","scope":"project","schema":{"type":"object","required":["count"]}}"#);
    assert_snapshot!(run(&sandbox, "memory-cli schema stats --set 7"), @r#"
    {"error":{"code":"INVALID_SCHEMA","message":"The schema is not a valid JSON Schema: a schema must be an object, true or false","bank":"stats","scope":"project"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli schema stats --clear"), @r#"{"bank":"stats","scope":"project","schema":null}"#);
    assert_snapshot!(run(&sandbox, "memory-cli schema nothing"), @r#"
    {"error":{"code":"BANK_NOT_FOUND","message":"Memory bank 'nothing' does not exist","bank":"nothing","scope":"project","hint":"`memory-cli list` lists the banks; `memory-cli write` creates one"}}
    --- exit 3
    "#);
}

#[test]
fn exports_are_imported_and_what_expired_is_collected() {
    let sandbox = project();
    run(&sandbox, r#"memory-cli write session a '{"n": 1e1000}'"#);
    run(&sandbox, "memory-cli write session old 1 --ttl 0");
    run(&sandbox, "memory-cli write config b 2 --scope user");
    let backup = sandbox
        .command(&["bank", "export", "session"])
        .output()
        .expect("an export")
        .stdout;
    let all = sandbox
        .command(&["bank", "export", "--all"])
        .output()
        .expect("an export")
        .stdout;
    assert_snapshot!(run(&sandbox, "memory-cli export session"), @r#"{"_meta":{"version":1,"created_at":"[time]","updated_at":"[time]","schema":null},"entries":{"a":{"value":{"n":1e1000},"created_at":"[time]","updated_at":"[time]","ttl":null},"old":{"value":1,"created_at":"[time]","updated_at":"[time]","ttl":0}}}"#);
    assert_snapshot!(run(&sandbox, "memory-cli gc --dry-run"), @r#"{"removed":[{"bank":"session","key":"old","scope":"project","reason":"expired"}],"total":1,"dry_run":true}"#);
    assert_snapshot!(run(&sandbox, "memory-cli gc"), @r#"{"removed":[{"bank":"session","key":"old","scope":"project","reason":"expired"}],"total":1,"dry_run":false}"#);
    assert_snapshot!(run(&sandbox, "memory-cli gc --older-than 30d"), @r#"{"removed":[],"total":0,"dry_run":false}"#);
    assert_snapshot!(run_with(&sandbox, "memory-cli import session", std::str::from_utf8(&backup).expect("text")), @r#"{"success":true,"bank":"session","scope":"project","created":1,"updated":0,"unchanged":1}"#);
    run(&sandbox, "memory-cli delete config --bank --confirm");
    assert_snapshot!(run_with(&sandbox, "memory-cli import --all", std::str::from_utf8(&all).expect("text")), @r#"
    {"success":true,"bank":"session","scope":"project","created":0,"updated":0,"unchanged":2}
    {"success":true,"bank":"config","scope":"user","created":1,"updated":0,"unchanged":0}
    "#);
    assert_snapshot!(run_with(&sandbox, "memory-cli import session", "{\"entries\": []}"), @r#"
    {"error":{"code":"INVALID_INPUT","message":"The document is not a bank: it has no entries object","bank":"session","scope":"project","hint":"`memory-cli export BANK` writes a valid document"}}
    --- exit 2
    "#);
    assert_snapshot!(run_with(&sandbox, "memory-cli import --all", "{}"), @r#"
    {"error":{"code":"USAGE","message":"the input is not an export of all banks","scope":"project","hint":"create one with `memory-cli export --all`"}}
    --- exit 2
    "#);
}

#[test]
fn damage_is_told_and_repaired_and_nothing_is_lost() {
    let sandbox = project();
    run(&sandbox, "memory-cli write session a 1");
    let whole =
        std::fs::read_to_string(sandbox.path(".slop-mcp/memory/session.json")).expect("a file");
    sandbox.file(
        ".slop-mcp/memory/session.json",
        whole.trim_end().trim_end_matches("}\n}"),
    );
    assert_snapshot!(run(&sandbox, "memory-cli read session a"), @r#"
    {"error":{"code":"FILE_DAMAGED","message":"session.json is damaged: unexpected end of text (byte 315)","bank":"session","key":"a","scope":"project","hint":"`memory-cli repair` retains the readable entries and moves the damaged file to a new name"}}
    --- exit 5
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli list"), @r#"{"banks":[{"name":"session","scope":"project","size_bytes":[n],"error":{"code":"FILE_DAMAGED","message":"session.json is damaged: unexpected end of text (byte 315)","bank":"session","scope":"project","hint":"`memory bank repair` retains the readable entries and moves the damaged file to a new name"}}]}"#);
    assert_snapshot!(run(&sandbox, "memory-cli repair --check-only"), @r#"
    {"damage":[{"bank":"session","scope":"project","what":"session.json: unexpected end of text (byte 315)","repaired":false}],"total":1}
    --- exit 5
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli repair session"), @r#"{"damage":[{"bank":"session","scope":"project","what":"session.json: unexpected end of text (byte 315)","repaired":true,"set_aside":"session.json.damaged-[op1]"}],"total":1}"#);
    assert_snapshot!(run(&sandbox, "memory-cli repair --format table"), @"
    BANK  SCOPE  WHAT  SET ASIDE
    --- stderr
    no problems found
    ");
    assert_snapshot!(run(&sandbox, "memory-cli read session a --format value"), @"1");
    assert_snapshot!(run(&sandbox, "memory-cli repair nothing"), @r#"
    {"error":{"code":"BANK_NOT_FOUND","message":"Memory bank 'nothing' does not exist","bank":"nothing","scope":"project","hint":"`memory-cli list` lists the banks; `memory-cli write` creates one"}}
    --- exit 3
    "#);
}

#[test]
fn changes_of_banks_are_in_the_log_and_are_taken_back() {
    let sandbox = project();
    run(&sandbox, "memory-cli write session a 1");
    sandbox.run(&["write", "a note", "--quiet"]);
    run(&sandbox, "memory-cli write session a 2");
    run(&sandbox, "memory-cli delete session --bank --confirm");
    assert_snapshot!(sandbox.run(&["undo"]), @"
    [op1]	delete	session
    --- stderr
    undid delete of session; `memory undo [op2]` redoes it
    ");
    assert_snapshot!(sandbox.run(&["undo", "--json"]), @r#"{"operation":"[op3]","undone":{"operation":"[op4]","at":"[time]","verb":"write","by":"cli","files":1,"bank":"session","scope":"project","keys":["a"]}}"#);
    assert_snapshot!(run(&sandbox, "memory-cli read session a --format value"), @"1");
    assert_snapshot!(sandbox.run(&["undo"]), @"
    [op5]	write	1
    --- stderr
    undid write of 1 file; `memory undo [op6]` redoes it
    ");
    assert_snapshot!(sandbox.run(&["undo"]), @"
    [op7]	write	a in session
    --- stderr
    undid write of a in session; `memory undo [op8]` redoes it
    ");
    assert_snapshot!(run(&sandbox, "memory-cli read session a --format value"), @r#"
    {"error":{"code":"BANK_NOT_FOUND","message":"Memory bank 'session' does not exist","bank":"session","key":"a","scope":"project","hint":"`memory-cli list` lists the banks; `memory-cli write` creates one"}}
    --- exit 3
    "#);
    assert_snapshot!(sandbox.run(&["log"]), @"
    [op8]	[time]	undo bank session	cli	1	undoes [op7]
    [op6]	[time]	undo	cli	1	undoes [op5]
    [op3]	[time]	undo bank session: a	cli	1	undoes [op4]
    [op2]	[time]	undo bank session	cli	1	undoes [op1]
    [op1]	[time]	delete bank session	cli	1	undone by [op2]
    [op4]	[time]	write bank session: a	cli	1	undone by [op3]
    [op5]	[time]	write	cli	1	undone by [op6]
    [op7]	[time]	write bank session: a	cli	1	undone by [op8]
    ");
    assert_snapshot!(sandbox.run(&["log", "--limit", "1", "--json"]), @r#"{"operations":[{"operation":"[op8]","at":"[time]","verb":"undo","by":"cli","undoes":"[op7]","files":1,"bank":"session","scope":"project","keys":[]}]}"#);
    assert_snapshot!(sandbox.run(&["undo", "ffff00000000"]), @"
    --- stderr
    error[operation_not_found]: no operation has the id [op9]
    hint: `memory log` lists the operations
    --- exit 3
    ");
}

#[test]
fn a_bank_is_found_whatever_folder_appears_and_answers_say_where_it_is() {
    let sandbox = Sandbox::new();
    let has = |answer: &str, what: &[&str]| what.iter().all(|what| answer.contains(what));
    std::fs::create_dir_all(sandbox.path("repo/.git")).expect("a folder");
    let run = |line: &str| {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let mut command = sandbox.command(&arguments);
        command.current_dir(sandbox.path("repo"));
        String::from_utf8(Sandbox::finish(command, "").stdout).expect("text")
    };
    assert!(run("bank write session a 1").contains(r#""scope":"user""#));
    run("topic write decisions.md text --type project --name Decisions --description d");
    assert!(sandbox.path("repo/.memory/decisions.md").is_file());
    assert!(
        run("bank write session b 2").contains(r#""scope":"user""#),
        "a folder of topics is none of banks"
    );
    assert!(run("bank write session a 3 --scope project").contains(r#""scope":"project""#));
    let read = run("bank read session a");
    assert!(
        has(
            &read,
            &[
                r#""value":3"#,
                "repo/.memory/banks",
                r#""also_in":[{"scope":"user""#
            ]
        ),
        "{read}"
    );
    std::fs::create_dir_all(sandbox.path("repo/.slop-mcp/memory")).expect("a folder");
    assert!(run("bank read session a --format value").starts_with('3'));
    assert!(run("bank write session c 4").contains(r#""scope":"project""#));
    assert!(
        sandbox
            .read_file("repo/.memory/banks/session.json")
            .contains("\"c\""),
        "a bank is changed where it is"
    );
    assert!(run("bank write new a 1").contains(r#""scope":"project""#));
    assert!(sandbox.path("repo/.slop-mcp/memory/new.json").is_file());
    let listed = run("bank list");
    assert!(
        has(
            &listed,
            &[r#""used":true"#, r#""used":false"#, r#""name":"new""#]
        ),
        "{listed}"
    );
    let keys = run("bank list session --scope all");
    assert!(
        has(
            &keys,
            &[
                r#""key":"b","scope":"user""#,
                r#""key":"c","scope":"project""#
            ]
        ),
        "{keys}"
    );
    std::fs::rename(sandbox.path("repo/.slop-mcp"), sandbox.path("elsewhere")).expect("it moves");
    std::os::unix::fs::symlink(sandbox.path("elsewhere"), sandbox.path("repo/.slop-mcp"))
        .expect("a link");
    let refused = run("bank read session a");
    assert!(
        has(&refused, &["PATH_REFUSED", "repo/.slop-mcp"]),
        "{refused}"
    );
    assert!(run("bank read session b --scope user --format value").starts_with('2'));
}

#[test]
fn every_command_takes_the_three_formats() {
    let sandbox = project();
    assert_eq!(
        run(
            &sandbox,
            "memory-cli write session a '[1,2]' --format value"
        ),
        "\"create\"\n"
    );
    assert_eq!(
        run(
            &sandbox,
            "memory-cli update session a '.+[3]' --format value"
        ),
        "[1,2,3]\n"
    );
    assert_eq!(run(&sandbox, "memory-cli list --format value"), "session\n");
    assert_eq!(
        run(&sandbox, "memory-cli list session --format value"),
        "a\n"
    );
    assert_eq!(
        run(&sandbox, "memory-cli query session a '.[]' --format json"),
        "{\"results\":[1,2,3]}\n"
    );
    assert!(run(&sandbox, "memory-cli read session --format table").contains("[1,2,3]"));
    let verbose = run(&sandbox, "memory-cli read session a -v");
    assert!(
        verbose.starts_with(
            r#"{"bank":"session","key":"a","scope":"project","value":[1,2,3],"metadata":{"#
        ),
        "{verbose}"
    );
    assert!(run(&sandbox, "memory-cli delete session a --format table").contains("deleted"));
    for command in [
        "search a",
        "gc",
        "repair",
        "export session",
        "schema session",
    ] {
        for format in ["json", "table", "value"] {
            let answer = run(&sandbox, &format!("memory-cli {command} --format {format}"));
            assert!(!answer.contains("USAGE"), "{command} {format}: {answer}");
        }
    }
}

#[test]
fn what_is_missing_is_named_and_an_update_may_leave_a_credential_where_it_is() {
    let sandbox = project();
    assert!(run(&sandbox, "memory-cli query session").contains("<FILTER>"));
    assert!(run(&sandbox, "memory-cli write nothing a 1 --update-only").contains("BANK_NOT_FOUND"));
    assert!(run(&sandbox, "memory-cli update nothing a .").contains("BANK_NOT_FOUND"));
    assert!(
        run(&sandbox, "memory-cli read session a --default {")
            .contains("--default is not valid JSON")
    );
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let value = format!("'{{\"token\":\"{token}\",\"n\":1}}'");
    assert!(run(&sandbox, &format!("memory-cli write session a {value}")).contains("SECRET_FOUND"));
    run(
        &sandbox,
        &format!("memory-cli write session a {value} --allow-secret"),
    );
    assert!(run(&sandbox, "memory-cli update session a '.n += 1'").contains(r#""success":true"#));
    assert!(
        run(
            &sandbox,
            &format!(
                "memory-cli update session a '.other = \"{}\"'",
                token.replace("a1", "z9")
            )
        )
        .contains("SECRET_FOUND")
    );
}

#[test]
fn options_may_follow_the_filter_of_a_query() {
    let sandbox = project();
    run(&sandbox, r#"memory-cli write b k '{"a":"x"}'"#);
    for (subject, plain, bare) in [
        ("k .a", "\"x\"\n", "x\n"),
        (".entries.k.value.a", "\"x\"\n", "x\n"),
        ("-1", "-1\n", "-1\n"),
    ] {
        for (options, expected) in [
            ("", plain.to_owned()),
            ("--json", plain.to_owned()),
            ("--scope project", plain.to_owned()),
            ("--format value", plain.to_owned()),
            ("--raw", bare.to_owned()),
            ("-r", bare.to_owned()),
            (
                "--format json",
                format!("{{\"results\":[{}]}}\n", plain.trim_end()),
            ),
        ] {
            assert_eq!(
                run(&sandbox, &format!("memory-cli query b {subject} {options}")),
                expected,
                "{subject} {options}"
            );
            assert_eq!(
                run(&sandbox, &format!("memory-cli query {options} b {subject}")),
                expected,
                "{options} {subject}"
            );
        }
    }
    assert_snapshot!(run(&sandbox, "memory-cli query b"), @r#"
    {"error":{"code":"USAGE","message":"the following required arguments were not provided: <KEY|FILTER>","hint":"Usage: memory-cli query [OPTIONS] <BANK> [KEY] <FILTER>"}}
    --- exit 2
    "#);
}

#[test]
fn a_usage_error_names_the_wrong_argument() {
    let sandbox = project();
    let mut errors = String::new();
    for line in [
        "search --valuee foo",
        "write b k 1 --ttl -5",
        "gc --older-than -3d",
        "update c k --craete .",
        "delete session",
    ] {
        errors += &run(&sandbox, &format!("memory-cli {line}")).replace("--- exit 2\n", "");
    }
    assert_snapshot!(errors, @r#"
    {"error":{"code":"USAGE","message":"unexpected argument '--valuee' found","hint":"a similar argument exists: '--value'; Usage: memory-cli search --value <PATTERN>"}}
    {"error":{"code":"USAGE","message":"invalid value '-5' for '--ttl <SECONDS>': invalid digit found in string"}}
    {"error":{"code":"USAGE","message":"invalid value '-3d' for '--older-than <SPAN>': \"-3d\" is not a duration such as 60s, 168h or 30d"}}
    {"error":{"code":"USAGE","message":"unexpected argument '--craete' found","hint":"a similar argument exists: '--create'; Usage: memory-cli update --create <BANK> <KEY> <FILTER>"}}
    {"error":{"code":"USAGE","message":"the following required arguments were not provided: <KEY|--bank>","hint":"Usage: memory-cli delete [OPTIONS] <BANK> <KEY|--bank>"}}
    "#);
}
