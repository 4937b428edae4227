//! Tests of replaced and removed instance definitions, and of their recovery.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;
use crate::terminal::run_with_typed_input;

#[test]
fn what_removes_a_definition_says_how_to_bring_it_back() {
    let sandbox = Sandbox::new();
    sandbox.run_shell(
        r#"memo connect --input '{"dir":"~/q"}' kv q; memo run kv/q set -p key=a -p value=1"#,
    );
    assert_snapshot!(sandbox.run_shell("memo rm kv/q"), @r#"
    {"type":"kv","name":"q","removed":true,"trash":"~/.config/memo/instances/.trash/[month]/[op1]/kv-q.yaml"}
    --- stderr
    the previous definition is in the trash; restore it with `cp ~/.config/memo/instances/.trash/[month]/[op1]/kv-q.yaml ~/.config/memo/instances/kv/q.yaml`
    "#);
}

#[test]
fn a_definition_comes_back_by_the_command_that_is_named() {
    let sandbox = Sandbox::new();
    sandbox.run_shell(
        r#"memo connect --input '{"dir":"~/q"}' kv q; memo run kv/q set -p key=a -p value=1"#,
    );
    let back = "2>&1 >/dev/null | sed -n 's/.*`\\(cp .*\\)`.*/\\1/p'";
    for change in [
        "memo rm kv/q",
        r#"memo connect --input '{"dir":"~/r"}' kv q"#,
    ] {
        sandbox.run_shell(&format!(r#"eval "$({change} {back})""#));
        assert_eq!(
            sandbox
                .run_shell("memo run kv/q get -p key=a | jq -r .value")
                .trim_end(),
            "1",
            "{change}"
        );
    }
}

#[test]
fn without_a_terminal_an_instance_is_not_replaced_by_defaults() {
    let sandbox = Sandbox::new();
    sandbox.run_shell(r#"memo connect --input '{"dir":"~/precious"}' kv k"#);
    let before = sandbox.read_file(".config/memo/instances/kv/k.yaml");
    assert_snapshot!(sandbox.run_shell("memo connect kv k"), @"
    --- stderr
    error[usage]: kv/k already exists, and no new fields are specified
    hint: pass the fields with --input, or --input '{}' for the defaults, or run it at a terminal
    --- exit 2
    ");
    assert_eq!(
        sandbox.read_file(".config/memo/instances/kv/k.yaml"),
        before
    );
    assert!(
        sandbox
            .run_shell("memo connect kv k --input '{}' --json")
            .contains(r#""created":false"#)
    );
}

#[test]
fn the_wizard_offers_the_present_values_of_an_instance() {
    let sandbox = Sandbox::new();
    sandbox.run_shell(r#"memo connect --input '{"dir":"~/precious"}' kv k"#);
    let before = sandbox.read_file(".config/memo/instances/kv/k.yaml");
    let Some(shown) = run_with_typed_input(&sandbox, "instance connect kv k", "\r\r") else {
        return;
    };
    assert!(
        shown.contains("[~/precious]") && shown.contains("kv/k exists"),
        "{shown}"
    );
    assert_eq!(
        sandbox.read_file(".config/memo/instances/kv/k.yaml"),
        before
    );
}
