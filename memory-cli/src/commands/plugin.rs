//! The `memory plugin` command.

use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use serde_json::{Value, json};

use super::print_note;
use crate::app::App;
use crate::args::one_of_parser;
use crate::failure::Failure;
use crate::install::{
    BundleUrl, ClientFileChange, PlannedPluginFile, PluginTarget, RegistryEntry, RegistryNamespace,
    plan_plugins, write_plugins,
};

/// Write plugins for coding assistants, to share with a team
///
/// A plugin contains the manifest, the MCP server, the hooks and a skill for one assistant. Its files call `memory` from the
/// PATH and contain no path of this computer. `claude-desktop` is a bundle with this program for its platform; `registry` is
/// server.json for the MCP registry. A second run changes nothing, and files of other programs are never replaced.
///
/// JSON: {output, dry_run, changed, files: [{path, change}]}; `change` is created, changed or unchanged
#[derive(Debug, Args)]
pub(crate) struct PluginArgs {
    /// The assistants; all by default
    #[arg(value_name = "CLIENT", value_parser = target_parser())]
    targets: Vec<TargetSelection>,
    /// Folder for the plugins
    #[arg(long, value_name = "DIR")]
    output: PathBuf,
    /// Namespace of the publisher in the MCP registry, such as io.github.you
    #[arg(long, value_name = "NAME", default_value = "local.memory")]
    namespace: RegistryNamespace,
    /// Address at which the bundle is published, for the MCP registry
    #[arg(long, value_name = "URL")]
    bundle_url: Option<BundleUrl>,
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
}

/// One product, or all of them.
#[derive(Debug, Clone, Copy)]
enum TargetSelection {
    All,
    One(PluginTarget),
}

fn target_parser() -> impl TypedValueParser<Value = TargetSelection> {
    let names = PluginTarget::ALL
        .map(PluginTarget::as_str)
        .into_iter()
        .chain(["all"]);
    one_of_parser(names, |name| {
        PluginTarget::named(name)
            .map(TargetSelection::One)
            .or(Some(TargetSelection::All))
    })
}

impl PluginArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let is_selected = |target: &PluginTarget| {
            let selects = |selection: &TargetSelection| match selection {
                TargetSelection::All => true,
                TargetSelection::One(one) => one == target,
            };
            self.targets.is_empty() || self.targets.iter().any(selects)
        };
        let targets: Vec<PluginTarget> =
            PluginTarget::ALL.into_iter().filter(is_selected).collect();
        let output = app.environment.absolute_path(&self.output);
        let registry = RegistryEntry {
            namespace: self.namespace.clone(),
            bundle_url: self.bundle_url.clone(),
        };
        let files = plan_plugins(&targets, &output, &registry, app.environment)?;
        let is_changed = files
            .iter()
            .any(|file| file.change != ClientFileChange::Unchanged);
        if !self.dry_run {
            write_plugins(&files)?;
        }
        if app.output.is_json() {
            let file = |file: &PlannedPluginFile| json!({ "path": file.path, "change": file.change.as_str() });
            let files: Vec<Value> = files.iter().map(file).collect();
            app.output.json(&json!({ "output": output, "dry_run": self.dry_run, "changed": is_changed, "files": files }))?;
            return Ok(());
        }
        for file in &files {
            let place = app.output.display_path(&file.path);
            app.output.fields(&[file.change.as_str(), &place])?;
        }
        if self.dry_run {
            print_note(app, "nothing was written")
        } else {
            Ok(())
        }
    }
}
