//! Tests of `memory delete`, `memory undo`, `memory restore`, `memory trash` and `memory log`.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn what_was_deleted_comes_back() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("tea", &[]);
    assert_snapshot!(sandbox.run(&["delete", &id]), @"
    [id1]	categories/inbox/tea-[id1].md
    --- stderr
    moved to the trash; `memory undo` restores it
    ");
    assert_snapshot!(sandbox.run(&["read", &id]), @"
    --- stderr
    error[memory_not_found]: no memory matches [id1]
    hint: `memory list` lists the memories; an id may be shortened to 4 digits
    --- exit 3
    ");
    assert_snapshot!(sandbox.run(&["undo"]), @"
    [op1]	delete	1
    --- stderr
    undid delete of 1 file; `memory undo [op2]` redoes it
    ");
    assert_snapshot!(sandbox.run(&["read", &id]), @"tea");
    assert_snapshot!(sandbox.run(&["log"]), @"
    [op2]	[time]	undo	cli	1	undoes [op1]
    [op1]	[time]	delete	cli	1	undone by [op2]
    [op3]	[time]	write	cli	1
    ");
}

#[test]
fn the_way_back_for_programs() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("tea", &[]);
    assert_snapshot!(sandbox.run(&["delete", &id, "--json"]), @r#"{"id":"[id1]","path":"categories/inbox/tea-[id1].md"}"#);
    assert_snapshot!(sandbox.run(&["trash", "list", "--json"]), @r#"{"files":[{"id":"[id1]","path":"categories/inbox/tea-[id1].md","trash":"trash/[month]/[op1]/tea-[id1].md","operation":"[op1]","verb":"delete","by":"cli","at":"[time]","size":[n]}],"total":1,"bytes":[n]}"#);
    assert_snapshot!(sandbox.run(&["restore", &id, "--json"]), @r#"{"id":"[id1]","path":"categories/inbox/tea-[id1].md","trash":"trash/[month]/[op1]/tea-[id1].md"}"#);
    assert_snapshot!(sandbox.run(&["undo", "--json"]), @r#"{"operation":"[op2]","undone":{"operation":"[op3]","at":"[time]","verb":"restore","by":"cli","files":1}}"#);
    assert_snapshot!(sandbox.run(&["log", "--json", "--limit", "2"]), @r#"{"operations":[{"operation":"[op2]","at":"[time]","verb":"undo","by":"cli","undoes":"[op3]","files":1},{"operation":"[op3]","at":"[time]","verb":"restore","by":"cli","undone_by":"[op2]","files":1}]}"#);
    let operation = sandbox.run_json(&["log"])["operations"][0]["operation"]
        .as_str()
        .expect("an operation")
        .to_owned();
    assert_eq!(
        sandbox.run_json(&["log", &operation])["changes"][0]["id"],
        id
    );
}

#[test]
fn there_may_be_nothing_to_take_back() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["undo"]), @"
    --- stderr
    error[operation_not_found]: there is no operation to undo
    hint: `memory log` lists the operations
    --- exit 3
    ");
    assert_snapshot!(sandbox.run(&["undo", "0123456789ab"]), @"
    --- stderr
    error[operation_not_found]: no operation has the id [op1]
    hint: `memory log` lists the operations
    --- exit 3
    ");
    assert_snapshot!(sandbox.run(&["restore", "550e8400"]), @"
    --- stderr
    error[trash_not_found]: nothing in the trash matches 550e8400
    hint: `memory trash list` lists the files in the trash
    --- exit 3
    ");
    assert_snapshot!(sandbox.run(&["log"]), @"
    --- stderr
    no operations yet
    ");
}

#[test]
fn the_trash_is_emptied_only_on_purpose() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["trash", "purge"]), @"
    --- stderr
    error[usage]: cannot ask for confirmation without a terminal
    hint: use --yes to purge without confirmation
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["trash", "purge", "--yes"]), @"
    files	0
    bytes	0
    ");
    assert_snapshot!(sandbox.run(&["trash", "purge", "--yes", "--older-than", "1d", "--json"]), @r#"{"files":0,"bytes":[n]}"#);
}
