//! Tests of `memory install` and `memory plugin` with the programs of the clients.

use std::path::PathBuf;
use std::process::Command;

use memory_cli::install::PluginTarget;
use serde_json::Value;

use crate::client_files::write_with_program;
use crate::sandbox::Sandbox;

/// Returns the folder with the npm packages of the clients, `MEMORY_TEST_CLIENTS`.
fn find_clients() -> Option<PathBuf> {
    let folder = std::env::var_os("MEMORY_TEST_CLIENTS")
        .map(|folder| PathBuf::from(folder).join("node_modules/.bin"));
    if let Some(folder) = folder.filter(|folder| folder.join("claude").exists()) {
        return Some(folder);
    }
    memory_core::testing::leave_out(
        "MEMORY_TEST_CLIENTS names no folder with the packages of clients",
    );
    None
}

/// The programs of the clients, in the home of a sandbox, with `memory` on the `PATH`.
struct ClientPrograms {
    bin: PathBuf,
    sandbox: Sandbox,
}

impl ClientPrograms {
    fn find() -> Option<Self> {
        let bin = find_clients()?;
        let sandbox = Sandbox::new();
        sandbox.run(&[
            "plugin",
            "claude-code",
            "codex",
            "gemini",
            "cursor",
            "--output",
            "out",
        ]);
        std::fs::create_dir(sandbox.path(".codex")).expect("a folder");
        Some(Self { bin, sandbox })
    }

    /// Runs a client and returns its output; it must succeed.
    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let memory = PathBuf::from(env!("CARGO_BIN_EXE_memory"));
        let own = std::env::var_os("PATH").unwrap_or_default();
        let folders = [
            self.bin.clone(),
            memory.parent().expect("a folder").to_owned(),
        ];
        let path = std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&own)))
            .expect("paths");
        let mut command = Command::new(self.bin.join(program));
        command
            .args(arguments)
            .current_dir(self.sandbox.path(""))
            .env_clear()
            .env("PATH", path);
        command
            .env("HOME", self.sandbox.path(""))
            .env("DISABLE_TELEMETRY", "1")
            .env("CI", "1");
        command
            .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
            .env("GEMINI_TELEMETRY_ENABLED", "false");
        let output = Sandbox::finish(command, "");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{program} {arguments:?}: {text}");
        text
    }

    fn out(&self, name: &str) -> String {
        self.sandbox.path("out").join(name).display().to_string()
    }

    /// Asserts that `memory status` reports a plugin of another version, and none of this one.
    fn assert_plugin_versions_are_compared(&self, client: &str, folder: &str, manifest: &str) {
        let status = || self.sandbox.run_json(&["status"])["outdated_plugins"].clone();
        assert_eq!(status(), Value::Null);
        let version = env!("CARGO_PKG_VERSION");
        let path = format!("{folder}/plugins/cache/memory/memory/{version}/{manifest}/plugin.json");
        let text = std::fs::read_to_string(self.sandbox.path(&path)).expect("a manifest");
        self.sandbox.file(&path, &text.replace(version, "0.0.9"));
        assert_eq!(
            status(),
            serde_json::json!([{"client": client, "version": "0.0.9"}])
        );
        let system = self.sandbox.run(&["doctor", "--system"]);
        assert!(
            system.contains("has version 0.0.9 of the plugin"),
            "{system}"
        );
    }
}

#[test]
fn claude_code_validates_the_plugin_and_starts_its_server() {
    let Some(clients) = ClientPrograms::find() else {
        return;
    };
    for path in ["claude-code", ""] {
        clients.run(
            "claude",
            &["plugin", "validate", "--strict", &clients.out(path)],
        );
    }
    clients.run(
        "claude",
        &[
            "plugin",
            "validate",
            "--profile",
            "directory",
            &clients.out("claude-code"),
        ],
    );
    clients.run(
        "claude",
        &["plugin", "marketplace", "add", &clients.out("")],
    );
    clients.run("claude", &["plugin", "install", "memory@memory"]);
    let details = clients.run("claude", &["plugin", "details", "memory"]);
    for part in [
        "Skills (1)  memory",
        "Hooks (2)  SessionStart, UserPromptSubmit",
        "MCP servers (1)  memory",
    ] {
        assert!(details.contains(part), "{details}");
    }
    let servers = clients.run("claude", &["mcp", "list"]);
    assert!(
        servers.contains("plugin:memory:memory: memory mcp --agent claude-code")
            && servers.contains("Connected"),
        "{servers}"
    );
    clients.assert_plugin_versions_are_compared("claude-code", ".claude", ".claude-plugin");
    clients.run("claude", &["plugin", "uninstall", "memory@memory"]);
    assert_eq!(
        clients.sandbox.run_json(&["status"])["outdated_plugins"],
        Value::Null
    );
}

#[test]
fn claude_code_starts_the_installed_server_and_its_own_changes_survive_the_removal() {
    let Some(clients) = ClientPrograms::find() else {
        return;
    };
    clients.sandbox.run(&["install", "claude-code"]);
    let server = clients.run("claude", &["mcp", "get", "memory"]);
    assert!(
        server.contains("Connected") && server.contains("mcp --agent claude-code"),
        "{server}"
    );
    clients.run(
        "claude",
        &["mcp", "add", "other", "--scope", "user", "--", "true"],
    );
    clients.sandbox.run(&["uninstall", "claude-code"]);
    let file: Value =
        serde_json::from_str(&clients.sandbox.read_file(".claude.json")).expect("JSON");
    assert!(
        file["mcpServers"]["memory"].is_null() && file["mcpServers"]["other"].is_object(),
        "{file}"
    );
}

#[test]
fn codex_installs_the_plugin_and_reads_the_installed_server() {
    let Some(clients) = ClientPrograms::find() else {
        return;
    };
    clients.run("codex", &["plugin", "marketplace", "add", &clients.out("")]);
    clients.run("codex", &["plugin", "add", "memory@memory"]);
    let plugins = clients.run("codex", &["plugin", "list"]);
    assert!(
        plugins.contains("memory@memory  installed, enabled"),
        "{plugins}"
    );
    let servers = clients.run("codex", &["mcp", "list"]);
    assert!(servers.contains("mcp --agent codex"), "{servers}");
    for file in ["hooks/hooks.json", "skills/memory/SKILL.md", ".mcp.json"] {
        let version = env!("CARGO_PKG_VERSION");
        assert!(
            clients
                .sandbox
                .path(&format!(
                    ".codex/plugins/cache/memory/memory/{version}/{file}"
                ))
                .exists(),
            "{file}"
        );
    }
    clients.assert_plugin_versions_are_compared("codex", ".codex", ".codex-plugin");
    clients.run("codex", &["plugin", "remove", "memory@memory"]);
    clients.sandbox.run(&["install", "codex"]);
    let server = clients.run("codex", &["mcp", "get", "memory"]);
    assert!(server.contains("mcp --agent codex"), "{server}");
}

#[test]
fn gemini_cli_validates_the_extension_and_starts_the_installed_server() {
    let Some(clients) = ClientPrograms::find() else {
        return;
    };
    let said = clients.run(
        "gemini",
        &["extensions", "validate", &clients.out("gemini")],
    );
    assert!(said.contains("successfully validated"), "{said}");
    clients.sandbox.run(&["install", "gemini"]);
    let servers = clients.run("gemini", &["mcp", "list"]);
    assert!(
        servers.contains("mcp --agent gemini (stdio) - Connected"),
        "{servers}"
    );
}

#[test]
fn the_tool_for_bundles_unpacks_and_validates_the_bundle() {
    let Some(clients) = ClientPrograms::find() else {
        return;
    };
    let script = "#!/bin/sh\necho memory\n";
    let program = clients.sandbox.file("program", script);
    write_with_program(
        &clients.sandbox,
        &[PluginTarget::ClaudeDesktop],
        program.as_ref(),
        None,
    );
    let unpacked = clients.sandbox.path("unpacked");
    let bundle = clients.out("claude-desktop/memory.mcpb");
    clients.run(
        "mcpb",
        &["unpack", &bundle, &unpacked.display().to_string()],
    );
    let said = clients.run(
        "mcpb",
        &[
            "validate",
            &unpacked.join("manifest.json").display().to_string(),
        ],
    );
    assert!(said.contains("passes"), "{said}");
    assert_eq!(
        std::fs::read_to_string(unpacked.join("server/memory")).expect("a program"),
        script
    );
    let output = Command::new(unpacked.join("server/memory"))
        .output()
        .expect("it is executable");
    assert_eq!(output.stdout, b"memory\n");
}
