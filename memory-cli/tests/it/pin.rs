//! Tests of `memory pin` and `memory pin --remove`.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn a_memory_is_pinned_until_it_is_not() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("tea", &[]);
    assert_snapshot!(sandbox.run(&["pin", &id]), @"
    [id1]	categories/inbox/tea-[id1].md
    --- stderr
    pinned
    ");
    assert_eq!(sandbox.run_json(&["read", &id])["pinned"], true);
    assert_snapshot!(sandbox.run(&["unpin", &id]), @"
    [id1]	categories/inbox/tea-[id1].md
    --- stderr
    unpinned
    ");
    assert_eq!(
        sandbox.run_json(&["read", &id])["pinned"],
        serde_json::Value::Null
    );
    let other = sandbox.write("milk", &["--pinned"]);
    assert_eq!(sandbox.run_json(&["read", &other])["pinned"], true);
}
