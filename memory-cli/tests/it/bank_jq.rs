//! Tests of banks and jq, at the command line and for agents.

use std::fs;
use std::process::{Child, Stdio};

use insta::assert_snapshot;
use memory_core::testing::wait_until;
use rustix::process::{Pid, Signal, kill_process};

use crate::bank::{project, run, run_with};
use crate::sandbox::Sandbox;

#[test]
fn banks_are_asked_and_changed_with_jq() {
    let sandbox = project();
    run(
        &sandbox,
        r#"memory-cli write session context '{"topic": "refactoring", "files": ["main.go"]}'"#,
    );
    run(
        &sandbox,
        r#"memory-cli write project decisions '{"auth": "JWT", "db": "PostgreSQL"}'"#,
    );
    run(
        &sandbox,
        r#"memory-cli write tasks daily-standup '{"last_run": "2024-01-15", "items": []}'"#,
    );
    run(
        &sandbox,
        r#"memory-cli write tasks items '{"items": [{"t": "a", "done": false}, {"t": "b", "done": true}]}'"#,
    );
    run(
        &sandbox,
        r#"memory-cli write stats visits '{"count": 100000000000000000001, "of": 1}'"#,
    );
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
    {"error":{"code":"KEY_NOT_FOUND","message":"Key 'nothing' does not exist in memory bank 'stats'","bank":"stats","key":"nothing","scope":"project","hint":"`memory-cli list BANK` lists the keys"}}
    --- exit 3
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli update stats visits '.count, .of'"), @r#"
    {"error":{"code":"FILTER_ERROR","message":"the filter returned 2 values instead of exactly one","bank":"stats","key":"visits","scope":"project","hint":"wrap the filter in [ ] to store all its outputs as one list"}}
    --- exit 2
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli update stats visits 'empty'"), @r#"
    {"error":{"code":"FILTER_ERROR","message":"the filter returned 0 values instead of exactly one","bank":"stats","key":"visits","scope":"project","hint":"wrap the filter in [ ] to store all its outputs as one list"}}
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
    sandbox.file(
        ".memory/config.yaml",
        "banks:\n  filter_timeout: 1s\n  filter_memory: 32MB\n",
    );
    run(&sandbox, "memory-cli write stats a 1");
    assert_snapshot!(run(&sandbox, "memory-cli query stats a 'def f: f; f'"), @r#"
    {"error":{"code":"FILTER_TIMEOUT","message":"the filter exceeded the timeout of 1 s","bank":"stats","key":"a","scope":"project"}}
    --- exit 1
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli update stats a '[range(1e9)]'"), @r#"
    {"error":{"code":"FILTER_MEMORY","message":"the filter exceeded the memory limit of 32 MB","bank":"stats","key":"a","scope":"project"}}
    --- exit 1
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli query stats a 'def f: 1 + f; f'"), @r#"
    {"error":{"code":"FILTER_MEMORY","message":"the filter exceeded the memory limit of 32 MB","bank":"stats","key":"a","scope":"project"}}
    --- exit 1
    "#);
    assert_snapshot!(run(&sandbox, "memory-cli read stats a --format value"), @"1");
}

/// Starts a command with an endless filter.
fn start_endless(sandbox: &Sandbox) -> Child {
    let mut command = sandbox.command(&["bank", "filter", "--null-input", "def f: f; f"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().expect("it starts")
}

/// Returns the ids of the processes that `parent` has started and that run.
fn children(parent: &Child) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("the processes");
    let ids = processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|id: &u32| {
            // The name of a program, in parentheses, may contain spaces.
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            let fields = stat.rsplit_once(") ").map(|(_, fields)| fields.to_owned());
            let fields = fields.unwrap_or_default();
            let mut fields = fields.split(' ');
            let state = fields.next();
            fields.next() == Some(&parent.id().to_string()) && state != Some("Z")
        });
    ids.collect()
}

fn kill(id: u32) {
    let id = Pid::from_raw(id.cast_signed()).expect("an id");
    kill_process(id, Signal::KILL).expect("it is ours");
}

#[cfg(target_os = "linux")]
#[test]
fn many_commands_at_once_run_as_many_filters_as_allowed() {
    let sandbox = Sandbox::new();
    let one_filter = "banks:\n  filter_timeout: 1h\n  filter_total_memory: 16MB\n";
    sandbox.file(".memory/config.yaml", one_filter);
    let mut commands: Vec<_> = (0..3).map(|_| start_endless(&sandbox)).collect();
    while !commands.is_empty() {
        let mut running = Vec::new();
        wait_until("a filter runs", || {
            running = commands.iter().flat_map(children).collect();
            !running.is_empty()
        });
        assert_eq!(running.len(), 1, "{} commands", commands.len());
        kill(running[0]);
        let mut ended = None;
        wait_until("its command ends", || {
            ended = commands
                .iter_mut()
                .position(|command| command.try_wait().expect("a child").is_some());
            ended.is_some()
        });
        let mut command = commands.remove(ended.expect("one"));
        assert_eq!(command.wait().expect("it ended").code(), Some(1));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_filter_ends_with_the_process_that_started_it() {
    let sandbox = Sandbox::new();
    sandbox.file(".memory/config.yaml", "banks:\n  filter_timeout: 1h\n");
    let mut command = start_endless(&sandbox);
    let mut filters = Vec::new();
    wait_until("a filter runs", || {
        filters = children(&command);
        !filters.is_empty()
    });
    let is_running = |id: u32| {
        let arguments = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        arguments.ends_with(b"--child\0")
    };
    wait_until("it has its arguments", || is_running(filters[0]));
    // It asks the system for its end with its parent before it reads the filter.
    wait_until("it has used time", || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", filters[0])).expect("it runs");
        let (_, fields) = stat.rsplit_once(") ").expect("a name");
        let ticks = fields.split(' ').nth(11).expect("the time of the user");
        5 < ticks.parse::<u64>().expect("a number")
    });
    command.kill().expect("it runs");
    command.wait().expect("it ends");
    wait_until("the filter ends", || !is_running(filters[0]));
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
    assert_snapshot!(sandbox.run_with_input(calls, &["agent", "--tools", "bank=memory_"]), @r#"
    [
    {"name":"memory_write","result":{"success":true,"key":"a","bank":"session","scope":"project","operation":"create"}},
    {"name":"memory_update","result":{"success":true,"key":"a","bank":"session","scope":"project","operation":"update","value":{"n":[1,2,3]}}},
    {"name":"memory_query","result":{"results":[1,2,3]}},
    {"name":"memory_read","result":{"value":{"n":[1,2,3]},"metadata":{"created_at":"[time]","updated_at":"[time]"}}},
    {"name":"memory_read","result":{"value":null,"metadata":null}},
    {"name":"memory_search","result":{"matches":[{"bank":"session","key":"a","scope":"project","matched":"value","updated_at":"[time]","value":{"n":[1,2,3]}}],"total":1}},
    {"name":"memory_list","result":{"banks":[{"name":"session","scope":"project","key_count":1,"updated_at":"[time]","size_bytes":[n]}]}},
    {"name":"memory_delete","error":{"code":"KEY_NOT_FOUND","message":"Key 'b' does not exist in memory bank 'session'","bank":"session","key":"b","scope":"project","hint":"memory_list with this bank lists its keys; memory_write adds one"}},
    {"name":"memory_write","error":{"code":"INVALID_INPUT","message":"the field value is missing","hint":"memory_write needs bank, key, value, and takes scope, ttl"}},
    {"name":"memory_write","error":{"code":"INVALID_INPUT","message":"unknown field loud","hint":"memory_write needs bank, key, value, and takes scope, ttl"}}
    ]
    --- stderr
    error[call_failed]: 3 of 10 calls failed
    hint: all others succeeded; see the reported errors
    --- exit 1
    "#);
    run(&sandbox, "memory-cli write numbers n 1e1000");
    assert_snapshot!(sandbox.run_with_input(r#"[{"name":"bank_read","params":{"bank":"numbers","key":"n"}}]"#, &["agent"]), @r#"
    [
    {"name":"bank_read","result":{"value":1e1000,"metadata":{"created_at":"[time]","updated_at":"[time]"}}}
    ]
    "#);
    assert_snapshot!(sandbox.run(&["agent", "--list-tools", "--tools", "usual,bank=memory_"]), @"
    --- stderr
    error[usage]: two tools would be named memory_read
    hint: select only one of the two sets, or use another prefix
    --- exit 2
    ");
}
