//! The `memory project` command.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::app::App;
use crate::failure::Failure;
use crate::print::{Table, TableColumn};
use crate::project::{HomeProjects, parse_project};

/// Show and choose which repositories belong to a project
///
/// Agents receive the memories of a project (scope project:NAME) in its repositories, whatever folder these are in. A
/// repository is identified by the address of its remote, else by a marker in its .git folder.
/// The first repository in a folder with a new name begins a project with that name.
#[derive(Debug, Args)]
pub(crate) struct ProjectArgs {
    #[command(subcommand)]
    command: ProjectCommand,
}

#[derive(Debug, Subcommand)]
enum ProjectCommand {
    /// List the projects and their repositories
    ///
    /// JSON: {projects: {NAME: {repositories: [ID], candidates?: [ID]}}}; an ID is remote:HOST/PATH or marker:ID.
    /// Candidates are repositories in which an agent did not receive the memories of the project with that name
    List,
    /// Let agents in the current repository work in a project
    ///
    /// JSON: {project, repository}
    Bind(BindArgs),
}

#[derive(Debug, Args)]
struct BindArgs {
    /// Name of the project [default: that of the folder of the repository]
    #[arg(value_parser = parse_project)]
    name: Option<String>,
}

impl ProjectArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match &self.command {
            ProjectCommand::List => list(app),
            ProjectCommand::Bind(arguments) => arguments.run(app),
        }
    }
}

fn list(app: &mut App) -> Result<(), Failure> {
    let settings = app.settings()?;
    let projects = HomeProjects::new(&settings).load()?;
    if app.output.is_json() {
        return app.output.json(&json!({ "projects": projects }));
    }
    let columns = [
        TableColumn::Whole("project"),
        TableColumn::Whole("state"),
        TableColumn::Text("repository"),
    ];
    let mut table = Table::new(columns);
    for (name, entry) in projects.iter() {
        for (state, ids) in [
            ("bound", &entry.repositories),
            ("candidate", &entry.candidates),
        ] {
            for id in ids {
                table.push([name, state, &id.to_string()]);
            }
        }
    }
    app.output.table(&table)
}

impl BindArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let projects = HomeProjects::new(&app.settings()?);
        let folder = app.environment.folder.clone();
        let Some(repository) = folder
            .as_deref()
            .map(|folder| projects.find_repository(folder))
            .transpose()?
            .flatten()
        else {
            return Err(Failure::usage(
                "the current folder has no name for a project",
                "run the command in the folder of the project",
            ));
        };
        let name = self.name.as_deref().unwrap_or(&repository.name);
        let id = projects.bind(&repository, name)?;
        if app.output.is_json() {
            return app
                .output
                .json(&json!({ "project": name, "repository": id }));
        }
        app.output
            .note(&format!("{id} belongs to the project {name}"))?;
        let others = projects.load()?.others(name);
        let others = others.iter().filter(|other| **other != id);
        let others: Vec<String> = others.map(ToString::to_string).collect();
        if !others.is_empty() {
            app.output.note(&format!(
                "other repositories of this project: {}",
                others.join(", ")
            ))?;
        }
        Ok(())
    }
}
