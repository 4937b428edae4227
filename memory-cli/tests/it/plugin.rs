//! Tests of `memory plugin`.

use insta::assert_snapshot;
use memory_cli::install::PluginTarget;
use memory_core::ContentHash;
use serde_json::Value;

use crate::client_files::write_with_program;
use crate::sandbox::Sandbox;

/// All products without the bundle, which contains the whole program.
const FILES: [&str; 8] = [
    "plugin",
    "claude-code",
    "codex",
    "gemini",
    "cursor",
    "registry",
    "--output",
    "out",
];

#[test]
fn plugins_have_the_files_of_their_clients() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&[&FILES[..], &["--dry-run", "--quiet"]].concat()), @"
    created	~/out/.claude-plugin/marketplace.json
    created	~/out/claude-code/.claude-plugin/plugin.json
    created	~/out/claude-code/.mcp.json
    created	~/out/claude-code/hooks/hooks.json
    created	~/out/claude-code/skills/memory/SKILL.md
    created	~/out/claude-code/README.md
    created	~/out/.agents/plugins/marketplace.json
    created	~/out/codex/.codex-plugin/plugin.json
    created	~/out/codex/.mcp.json
    created	~/out/codex/hooks/hooks.json
    created	~/out/codex/skills/memory/SKILL.md
    created	~/out/codex/README.md
    created	~/out/gemini/gemini-extension.json
    created	~/out/gemini/GEMINI.md
    created	~/out/gemini/hooks/hooks.json
    created	~/out/gemini/skills/memory/SKILL.md
    created	~/out/gemini/README.md
    created	~/out/.cursor-plugin/marketplace.json
    created	~/out/cursor/.cursor-plugin/plugin.json
    created	~/out/cursor/mcp.json
    created	~/out/cursor/hooks/hooks.json
    created	~/out/cursor/rules/memory.mdc
    created	~/out/cursor/skills/memory/SKILL.md
    created	~/out/cursor/README.md
    created	~/out/server.json
    created	~/out/.memory-plugin.json
    ");
    assert!(!sandbox.path("out").exists());
    sandbox.run(&FILES);
    let again = sandbox.run_json(&FILES);
    assert_eq!(again["changed"], false, "a second run changes nothing");
}

#[test]
fn plugins_call_the_program_from_the_path() {
    let sandbox = Sandbox::new();
    sandbox.run(&FILES);
    assert_snapshot!(sandbox.read_file("out/claude-code/hooks/hooks.json"), @r#"
    {
      "hooks": {
        "SessionStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "memory",
                "args": [
                  "hook",
                  "session-start"
                ],
                "timeout": 5
              }
            ]
          }
        ],
        "UserPromptSubmit": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "memory",
                "args": [
                  "hook",
                  "prompt"
                ],
                "timeout": 5
              }
            ]
          }
        ]
      }
    }
    "#);
    assert_snapshot!(sandbox.read_file("out/codex/.codex-plugin/plugin.json"), @r#"
    {
      "name": "memory",
      "version": "0.1.0",
      "description": "One long-term memory for all AI agents, stored as plain files on your own disk",
      "author": {
        "name": "memory"
      },
      "license": "MIT OR Apache-2.0",
      "keywords": [
        "memory",
        "notes",
        "mcp"
      ],
      "skills": "./skills/",
      "mcpServers": "./.mcp.json",
      "hooks": "./hooks/hooks.json",
      "interface": {
        "displayName": "Memory",
        "shortDescription": "One long-term memory for all AI agents, stored as plain files on your own disk",
        "category": "Productivity"
      }
    }
    "#);
    assert_snapshot!(sandbox.read_file("out/gemini/gemini-extension.json"), @r#"
    {
      "name": "memory",
      "version": "0.1.0",
      "description": "One long-term memory for all AI agents, stored as plain files on your own disk",
      "contextFileName": "GEMINI.md",
      "mcpServers": {
        "memory": {
          "command": "memory",
          "args": [
            "mcp",
            "--agent",
            "gemini"
          ]
        }
      }
    }
    "#);
}

#[test]
fn hooks_of_cursor_and_the_description_for_the_registry_have_their_formats() {
    let sandbox = Sandbox::new();
    sandbox.run(&FILES);
    assert_snapshot!(sandbox.read_file("out/cursor/hooks/hooks.json"), @r#"
    {
      "version": 1,
      "hooks": {
        "sessionStart": [
          {
            "command": "memory hook session-start --agent cursor",
            "timeout": 5
          }
        ],
        "beforeSubmitPrompt": [
          {
            "command": "memory hook prompt --agent cursor",
            "timeout": 5
          }
        ]
      }
    }
    "#);
    assert_snapshot!(sandbox.read_file("out/server.json"), @r#"
    {
      "$schema": "https://static.modelcontextprotocol.io/schemas/[day]/server.schema.json",
      "name": "local.memory/memory",
      "description": "One long-term memory for all AI agents, stored as plain files on your own disk",
      "version": "0.1.0"
    }
    "#);
}

#[test]
fn files_of_others_are_left_alone_and_own_files_are_updated() {
    let sandbox = Sandbox::new();
    sandbox.file("out/server.json", "{}\n");
    assert_snapshot!(sandbox.run(&FILES), @"
    --- stderr
    error[conflict]: ~/out/server.json exists and was not written by `memory plugin`, or was changed since
    hint: nothing was written; move the file away, or choose another folder with --output
    --- exit 4
    ");
    assert!(
        !sandbox.path("out/claude-code").exists(),
        "nothing was written"
    );
    // A file that an earlier version wrote is updated.
    let hash = ContentHash::of("{}\n");
    sandbox.file(
        "out/.memory-plugin.json",
        &format!("{{\"files\": {{\"server.json\": \"{hash}\"}}}}"),
    );
    assert_snapshot!(sandbox.run(&["plugin", "registry", "--output", "out"]), @"
    changed	~/out/server.json
    changed	~/out/.memory-plugin.json
    ");
    // A file that was changed since is not.
    sandbox.file("out/server.json", "{\"mine\": 1}\n");
    assert_snapshot!(sandbox.run(&["plugin", "registry", "--output", "out"]), @"
    --- stderr
    error[conflict]: ~/out/server.json exists and was not written by `memory plugin`, or was changed since
    hint: nothing was written; move the file away, or choose another folder with --output
    --- exit 4
    ");
}

#[test]
fn the_bundle_and_its_description_have_the_same_bytes_each_time() {
    let (sandbox, other) = (Sandbox::new(), Sandbox::new());
    let program = sandbox.file("program", "#!/bin/sh\necho memory\n");
    let targets = [PluginTarget::Registry, PluginTarget::ClaudeDesktop];
    let url = Some("https://github.com/you/memory/releases/download/v1/memory.mcpb");
    assert!(write_with_program(
        &sandbox,
        &targets,
        program.as_ref(),
        url
    ));
    assert!(!write_with_program(
        &sandbox,
        &targets,
        program.as_ref(),
        url
    ));
    assert!(write_with_program(&other, &targets, program.as_ref(), url));
    let bundle = |sandbox: &Sandbox| {
        std::fs::read(sandbox.path("out/claude-desktop/memory.mcpb")).expect("a bundle")
    };
    assert_eq!(bundle(&sandbox), bundle(&other));
    let server: Value =
        serde_json::from_slice(&std::fs::read(sandbox.path("out/server.json")).expect("a file"))
            .expect("JSON");
    let hash = ContentHash::from_bytes(&bundle(&sandbox)).to_string();
    assert_eq!(
        (&server["packages"][0]["fileSha256"], &server["name"]),
        (&hash.into(), &"io.github.you/memory".into())
    );
    // A new program is a new bundle.
    std::fs::write(&program, "#!/bin/sh\necho other\n").expect("a file");
    assert!(write_with_program(
        &sandbox,
        &targets,
        program.as_ref(),
        url
    ));
}

#[test]
fn the_namespace_and_the_address_of_the_bundle_are_checked() {
    let sandbox = Sandbox::new();
    let run = |flag, value| sandbox.run(&["plugin", "registry", "--output", "out", flag, value]);
    assert_snapshot!(run("--namespace", "...."), @r#"
    --- stderr
    error[usage]: invalid value '....' for '--namespace <NAME>': "...." is not a domain in reverse order, such as io.github.you

    For more information, try '--help'.
    --- exit 2
    "#);
    assert_snapshot!(run("--bundle-url", "not a url"), @r#"
    --- stderr
    error[usage]: invalid value 'not a url' for '--bundle-url <URL>': "not a url" is not a URL that begins with https://

    For more information, try '--help'.
    --- exit 2
    "#);
    for (flag, value) in [
        ("--namespace", "io..github"),
        ("--namespace", "io.-github"),
        ("--namespace", "you"),
        ("--bundle-url", "http://example.org/memory.mcpb"),
        ("--bundle-url", "https:///memory.mcpb"),
        ("--bundle-url", "https://example.org/a b"),
    ] {
        assert!(run(flag, value).contains("exit 2"), "{value}");
    }
    assert!(!sandbox.path("out").exists());
}
