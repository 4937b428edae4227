//! Files of clients, for the tests of `memory install` and `memory plugin`.

use std::path::Path;

use memory_cli::Environment;
use memory_cli::install::{
    ClientFileChange, PluginTarget, RegistryEntry, plan_plugins, write_plugins,
};

use crate::sandbox::Sandbox;

/// Returns a home with the files of a user of Claude Code.
pub(crate) fn home_with_client_files() -> Sandbox {
    let sandbox = Sandbox::new();
    let servers = "{\n  \"numStartups\": 7,\n  \"mcpServers\": {\n    \"files\": { \"command\": \"npx\" }\n  },\n  \"theme\": \"dark\"\n}\n";
    sandbox.file(".claude.json", servers);
    let settings = "{\r\n\t\"hooks\": {\r\n\t\t\"SessionStart\": [\r\n\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": \"date\" }] }\r\n\t\t]\r\n\t}\r\n}\r\n";
    sandbox.file(".claude/settings.json", settings);
    sandbox
}

/// Returns a project that these clients are installed in.
pub(crate) fn project_with_clients(clients: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for client in clients {
        sandbox.run(&["install", client, "--project"]);
    }
    sandbox
}

/// Runs the program in a folder of the home; returns its standard output and standard error.
pub(crate) fn run_in(sandbox: &Sandbox, folder: &str, arguments: &[&str]) -> String {
    let mut command = sandbox.command(arguments);
    command.current_dir(sandbox.path(folder));
    let output = Sandbox::finish(command, "");
    sandbox.normalise(&String::from_utf8_lossy(
        &[output.stdout, output.stderr].concat(),
    ))
}

/// Plans and writes products with a small file as the program; returns whether anything changed.
pub(crate) fn write_with_program(
    sandbox: &Sandbox,
    targets: &[PluginTarget],
    program: &Path,
    bundle_url: Option<&str>,
) -> bool {
    let environment = Environment::default()
        .with_home(&sandbox.path(""))
        .with_program(program);
    let namespace = "io.github.you".parse().expect("a namespace");
    let registry = RegistryEntry {
        namespace,
        bundle_url: bundle_url.map(|url| url.parse().expect("a URL")),
    };
    let files =
        plan_plugins(targets, &sandbox.path("out"), &registry, &environment).expect("a plan");
    write_plugins(&files).expect("files");
    files
        .iter()
        .any(|file| file.change != ClientFileChange::Unchanged)
}
