use crate::install::command::Invocation;
use crate::install::server::ServerFormat;

fn own() -> Invocation {
    Invocation {
        agent: "codex".into(),
        ..Invocation::for_tests()
    }
}

const ENTRY: &str =
    "[mcp_servers.memory]\ncommand = \"/bin/memory\"\nargs = [\"mcp\", \"--agent\", \"codex\"]\n";

fn installed(text: &str) -> String {
    ServerFormat::Toml.install(text, &own()).expect("TOML")
}

fn uninstalled(text: &str) -> String {
    ServerFormat::Toml
        .uninstall(text, &own(), &[])
        .expect("TOML")
}

#[test]
fn our_table_comes_last_and_goes_without_a_trace() {
    for text in [
        "model = \"o\" # best\n\n[a]\nb = 1\n# end\n",
        "x = 1\n\n\n",
        "[mcp_servers.x]\ncommand = \"y\"\n",
        "[[a]]\n",
    ] {
        assert_eq!(installed(text), format!("{text}\n{ENTRY}"));
        assert_eq!(uninstalled(&installed(text)), text);
        assert_eq!(installed(&installed(text)), installed(text));
    }
    assert_eq!(installed(""), ENTRY);
    assert_eq!(uninstalled(ENTRY), "");
    assert_eq!(installed("a = 1"), format!("a = 1\n\n{ENTRY}"));
    let windows = "# c\r\n[a]\r\nb = 'x'\r\n";
    assert_eq!(
        installed(windows),
        format!("{windows}\r\n{}", ENTRY.replace('\n', "\r\n"))
    );
    assert_eq!(uninstalled(&installed(windows)), windows);
}

#[test]
fn all_of_our_entry_goes_and_nothing_else() {
    let more = "[mcp_servers.memory.env]\nA = \"1\"\n\n[mcp_servers.memory.tools.list]\nx = 1\n";
    let text = format!("a = 1\n\n{ENTRY}# about b\n[b]\nc = 1\n\n{more}\n# about d\n[d]\n");
    assert_eq!(
        uninstalled(&text),
        "a = 1\n# about b\n[b]\nc = 1\n\n# about d\n[d]\n"
    );
    let dotted = "[mcp_servers]\nx.command = \"y\"\nmemory.command = \"memory\" # ours\nmemory.args = [\n  \"mcp\",\n]\nz.command = \"z\"\n";
    assert_eq!(
        uninstalled(dotted),
        "[mcp_servers]\nx.command = \"y\"\nz.command = \"z\"\n"
    );
    let inline = "[mcp_servers]\nmemory = { command = \"memory\", args = [\"mcp\"] }\nz = {}\n";
    assert_eq!(uninstalled(inline), "[mcp_servers]\nz = {}\n");
}

#[test]
fn inline_tables_are_added_to() {
    let entry = "memory = { command = \"/bin/memory\", args = [\"mcp\", \"--agent\", \"codex\"] }";
    for (text, with) in [
        (
            "mcp_servers = { x = { command = \"y\" } }\n",
            format!("mcp_servers = {{ x = {{ command = \"y\" }}, {entry} }}\n"),
        ),
        (
            "mcp_servers = {}\na = 1\n",
            format!("mcp_servers = {{ {entry} }}\na = 1\n"),
        ),
    ] {
        assert_eq!(installed(text), with);
        assert_eq!(uninstalled(&with), text);
    }
    assert_eq!(
        uninstalled(
            "mcp_servers = { memory = { command = \"memory\", args = [\"mcp\"] }, x = {} }\n"
        ),
        "mcp_servers = {  x = {} }\n"
    );
}

#[test]
fn an_entry_of_ours_is_renewed_in_its_place() {
    let old = "[mcp_servers.memory] # mine\nargs = ['mcp', '--agent', 'codex', '--tools', 'all'] # more\ncommand = '/old/memory'\nenabled = true\n";
    let new = "[mcp_servers.memory] # mine\nargs = [\"mcp\", \"--agent\", \"codex\", \"--tools\", \"all\"] # more\ncommand = \"/bin/memory\"\nenabled = true\n";
    let rooted = Invocation {
        root: Some("/m".into()),
        ..own()
    };
    assert_eq!(installed(&old.replace("'codex'", "'x'")), new);
    assert_eq!(
        installed(old),
        old.replace("'/old/memory'", "\"/bin/memory\"")
    );
    assert!(
        ServerFormat::Toml
            .install(old, &rooted)
            .expect("TOML")
            .contains("\"--root\", \"/m\", \"--tools\", \"all\"]")
    );
}

#[test]
fn what_is_not_ours_or_no_toml_is_refused_with_its_line() {
    let refused = |text: &str| ServerFormat::Toml.install(text, &own()).expect_err(text);
    assert!(refused("a = 1\n[mcp_servers.memory]\ncommand = \"npx\"\n").is_foreign_entry());
    assert_eq!(
        refused("a = 1\n[mcp_servers.memory]\ncommand = \"npx\"\n").line,
        2
    );
    assert_eq!(
        uninstalled("[mcp_servers.memory]\ncommand = \"npx\"\n"),
        "[mcp_servers.memory]\ncommand = \"npx\"\n"
    );
    for (text, line) in [
        ("a = 1\nb = = 2\n", 2),
        ("a = 1\nmcp_servers = 1\n", 2),
        ("a = 1\na = 2\n", 2),
        ("\n[[mcp_servers]]\n", 2),
    ] {
        assert!(!refused(text).is_foreign_entry());
        assert_eq!(refused(text).line, line, "{text}");
    }
}

#[test]
fn a_replaced_entry_of_another_program_is_inserted_again_with_its_tables() {
    let other = "[mcp_servers.memory]\ncommand = \"npx\"\n\n[mcp_servers.memory.env]\nA = \"1\"\n";
    let text = format!("a = 1\n\n{other}\n[b]\n");
    let replacing = Invocation {
        replaces: true,
        ..own()
    };
    let with = ServerFormat::Toml.install(&text, &replacing).expect("TOML");
    assert_eq!(with, format!("a = 1\n\n[b]\n\n{ENTRY}"));
    let rest = ServerFormat::Toml
        .uninstall(&with, &own(), &[text.as_str()])
        .expect("TOML");
    assert_eq!(
        rest,
        "a = 1\n\n[b]\n\n[mcp_servers.memory]\ncommand = \"npx\"\n[mcp_servers.memory.env]\nA = \"1\"\n"
    );
}
