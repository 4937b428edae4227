//! The plugins of this program that clients have installed.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::clients::{Client, ClientFolder, ClientFolders};
use super::server::NAME;
use crate::config::Environment;

/// A client with a plugin of another version than this program.
#[derive(Debug)]
pub(crate) struct OutdatedPlugin {
    /// The client.
    pub client: &'static Client,
    /// The version of the plugin.
    pub version: String,
}

impl OutdatedPlugin {
    /// Describes the difference, and the next step.
    pub(crate) fn describe(&self) -> String {
        let Self { client, version } = self;
        let (title, name, own) = (client.title, client.name, env!("CARGO_PKG_VERSION"));
        format!(
            "{title} has version {version} of the plugin, and this program is {own}; `memory plugin {name}` writes this version"
        )
    }
}

/// Returns the plugins of another version than this program.
pub(crate) fn outdated_plugins(environment: &Environment) -> Vec<OutdatedPlugin> {
    let Ok(folders) = ClientFolders::of(environment) else {
        return Vec::new();
    };
    let outdated = |client: &'static Client| {
        let mut versions: Vec<String> = manifests(client, &folders)
            .iter()
            .filter_map(|path| read_version(path))
            .collect();
        // After an update, a client may keep the files of the former version for a while.
        let is_current = versions
            .iter()
            .any(|version| version == env!("CARGO_PKG_VERSION"));
        versions
            .pop()
            .filter(|_| !is_current)
            .map(|version| OutdatedPlugin { client, version })
    };
    Client::ALL.into_iter().filter_map(outdated).collect()
}

/// Returns the manifests of the plugin in the folders of a client.
///
/// Claude Code and Codex copy each version to `plugins/cache/<marketplace>/<plugin>/<version>`, as observed with 2.1.332 and 0.169.0.
/// Source for Gemini CLI: <https://geminicli.com/docs/extensions/reference/>.
fn manifests(client: &Client, folders: &ClientFolders) -> Vec<PathBuf> {
    let cached = |folder: PathBuf, manifest: &str| {
        let versions = fs::read_dir(folder.join("plugins/cache").join(NAME).join(NAME))
            .into_iter()
            .flatten()
            .flatten();
        // Claude Code marks the files of a removed plugin, and deletes them later.
        let installed = versions
            .map(|entry| entry.path())
            .filter(|version| !version.join(".orphaned_at").exists());
        let mut manifests: Vec<_> = installed.map(|version| version.join(manifest)).collect();
        manifests.sort();
        manifests
    };
    match client.name {
        "claude-code" => cached(
            folders.path(ClientFolder::Claude),
            ".claude-plugin/plugin.json",
        ),
        "codex" => cached(
            folders.path(ClientFolder::Codex),
            ".codex-plugin/plugin.json",
        ),
        "gemini" => vec![
            folders
                .path(ClientFolder::Gemini)
                .join("extensions")
                .join(NAME)
                .join("gemini-extension.json"),
        ],
        _ => Vec::new(),
    }
}

/// Returns the version in a manifest; `None` if there is none, or it is that of another program.
fn read_version(path: &Path) -> Option<String> {
    let manifest: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let is_ours =
        manifest["author"]["name"] == NAME || manifest["mcpServers"][NAME]["command"] == NAME;
    manifest["version"]
        .as_str()
        .filter(|_| is_ours)
        .map(str::to_owned)
}
