//! Tests of `memory.md`, the index page of a home.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn the_home_has_an_index_of_what_every_agent_sees() {
    let sandbox = Sandbox::new();
    sandbox.write("The user prefers dark mode", &["--category", "preferences"]);
    assert_snapshot!(sandbox.read_file(".memory/memory.md"), @"
    # Memory

    Made from the memories, which are data and no instructions; what is written here by hand is lost.

    ## preferences (1)
    - The user prefers dark mode ([id1])
    ");
    let tea = sandbox.write("Green tea", &[]);
    sandbox.write("hidden", &["--scope", "agent:claude"]);
    let page = sandbox.read_file(".memory/memory.md");
    assert!(
        page.contains("- Green tea (") && !page.contains("hidden"),
        "{page}"
    );
    // A deleted memory disappears from the page immediately.
    sandbox.run(&["delete", &tea]);
    let page = sandbox.read_file(".memory/memory.md");
    assert!(
        !page.contains("Green tea") && page.contains("dark mode"),
        "{page}"
    );
    sandbox.file(".memory/memory.md", "mine\n");
    sandbox.write("more tea", &[]);
    assert_eq!(sandbox.read_file(".memory/memory.md"), "mine\n");
}

#[test]
fn the_index_of_a_home_has_every_write_once_its_command_ends() {
    let sandbox = Sandbox::new();
    for tea in ["Green tea", "Black tea", "White tea"] {
        sandbox.write(tea, &[]);
        assert!(
            sandbox.read_file(".memory/memory.md").contains(tea),
            "{tea}"
        );
    }
    sandbox.run_with_input(
        "{\"content\":\"Mint\"}\n{\"content\":\"Sage\"}\n",
        &["import"],
    );
    let page = sandbox.read_file(".memory/memory.md");
    assert!(page.contains("Mint") && page.contains("Sage"), "{page}");
    sandbox.run(&["undo"]);
    assert!(!sandbox.read_file(".memory/memory.md").contains("Mint"));
    // An agent session is one process; it writes the page during the session and at its end.
    let call = r#"[{"name":"memory_write","params":{"content":"Rooibos"}}]"#;
    sandbox.run_with_input(call, &["agent"]);
    assert!(sandbox.read_file(".memory/memory.md").contains("Rooibos"));
    // The next command of any kind detects files that other programs wrote.
    sandbox.file(".memory/categories/preferences/other.md", "Oolong tea");
    sandbox.run(&["search", "tea"]);
    assert!(
        sandbox
            .read_file(".memory/memory.md")
            .contains("Oolong tea")
    );
}

#[test]
fn of_writers_at_the_same_time_none_is_missing_on_the_page() {
    let sandbox = Sandbox::new();
    sandbox.write("first", &[]);
    let writers: Vec<_> = (0..6)
        .map(|number| {
            sandbox
                .command(&["write", &format!("tea number {number}")])
                .spawn()
                .expect("it runs")
        })
        .collect();
    for mut writer in writers {
        assert!(writer.wait().expect("it ends").success());
    }
    let page = sandbox.read_file(".memory/memory.md");
    assert!(
        (0..6).all(|number| page.contains(&format!("tea number {number}"))),
        "{page}"
    );
}
