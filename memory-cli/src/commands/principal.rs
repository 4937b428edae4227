//! The `memory shared principal` commands.

use chrono::SecondsFormat;
use clap::{Args, Subcommand};
use memory_agent::json::add_field;
use memory_core::{PrincipalKind, PrincipalName, Scope};
use memory_store::postgres::{PrincipalRecord, PrincipalTable, TeamRecord};
use serde_json::{Value, json};

use crate::app::App;
use crate::failure::Failure;
use crate::print::{Table, TableColumn};
use crate::shared_store::open_principals;

/// Manage who reads and writes the memories in a shared database
///
/// A principal is a user or an agent with a token. It reads and writes global memories, its own (private:NAME), those of its
/// teams (team:NAME), and those of the projects that it or a team of it was granted. The database enforces this. The commands
/// need a home with the address of the owner of the database, without a token.
#[derive(Debug, Args)]
pub(super) struct PrincipalArgs {
    #[command(subcommand)]
    command: PrincipalCommand,
}

#[derive(Debug, Subcommand)]
enum PrincipalCommand {
    Add(PrincipalAddArgs),
    /// List principals and teams, with their scopes
    ///
    /// JSON: {principals: [{name, kind, created, revoked?, scopes}], teams: [{team, scopes}]}
    List,
    Revoke(PrincipalRevokeArgs),
    Grant(PrincipalGrantArgs),
    Ungrant(PrincipalUngrantArgs),
}

impl PrincipalArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match &self.command {
            PrincipalCommand::Add(command) => command.run(app),
            PrincipalCommand::List => list(app),
            PrincipalCommand::Revoke(command) => command.run(app),
            PrincipalCommand::Grant(command) => command.run(app),
            PrincipalCommand::Ungrant(command) => command.run(app),
        }
    }
}

/// Add a principal, and print its token
///
/// The token is printed once and stored only as a hash. On the machine of the principal, pass it to `memory shared init --token`.
/// A principal with a revoked token gets a new one, and retains its memories and scopes.
///
/// JSON: {name, token}
#[derive(Debug, Args)]
struct PrincipalAddArgs {
    /// Name of the principal
    name: PrincipalName,
    /// Kind: user or agent
    #[arg(long, default_value = "user")]
    kind: String,
    /// Add it to this team
    #[arg(long, value_name = "TEAM")]
    team: Vec<PrincipalName>,
    /// Grant it the memories of this project
    #[arg(long, value_name = "PROJECT")]
    project: Vec<String>,
    /// Role of the database that the nodes of principals use
    #[arg(long, default_value = "memory_node")]
    role: String,
}

impl PrincipalAddArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let kind: PrincipalKind = self.kind.parse()?;
        let teams = self.team.iter().map(|team| Scope::Team(team.to_string()));
        let scopes: Vec<_> = teams
            .chain(self.project.iter().cloned().map(Scope::Project))
            .collect();
        let table = principals(app)?;
        let teams = table.teams()?;
        let token = table.add(&self.name, kind, &scopes, &self.role)?;
        if app.output.is_json() {
            return app
                .output
                .json(&json!({ "name": self.name.as_str(), "token": token }));
        }
        app.output.fields(&[&token])?;
        let scopes: Vec<_> = scopes.iter().map(Scope::to_string).collect();
        note_new_teams(app, &teams, &scopes)?;
        app.output.note("the token is not shown again")
    }
}

fn list(app: &mut App) -> Result<(), Failure> {
    let table = principals(app)?;
    let (principals, teams) = (table.list()?, table.teams()?);
    if app.output.is_json() {
        let principals: Vec<_> = principals.iter().map(principal_to_json).collect();
        let teams: Vec<_> = teams
            .iter()
            .map(|team| json!({ "team": team.team, "scopes": team.scopes }))
            .collect();
        return app
            .output
            .json(&json!({ "principals": principals, "teams": teams }));
    }
    let columns = [
        TableColumn::Whole("name"),
        TableColumn::Whole("kind"),
        TableColumn::Whole("token"),
        TableColumn::Text("scopes"),
    ];
    let mut shown = Table::new(columns);
    for principal in &principals {
        let state = if principal.revoked_at.is_some() {
            "revoked"
        } else {
            "valid"
        };
        shown.push([
            principal.name.as_str(),
            principal.kind.as_str(),
            state,
            &principal.scopes.join(", "),
        ]);
    }
    for TeamRecord { team, scopes } in &teams {
        shown.push([team.as_str(), "team", "-", &scopes.join(", ")]);
    }
    app.output.table(&shown)
}

fn principal_to_json(principal: &PrincipalRecord) -> Value {
    let time = |at: chrono::DateTime<chrono::Utc>| at.to_rfc3339_opts(SecondsFormat::Secs, true);
    let mut fields = json!({
        "name": principal.name,
        "kind": principal.kind.as_str(),
        "created": time(principal.created_at),
        "scopes": principal.scopes,
    });
    add_field(&mut fields, "revoked", principal.revoked_at.map(time));
    fields
}

/// Revoke the token of a principal, which takes effect at once
///
/// Its memories and scopes remain, and `memory shared principal add` creates a new token for it.
///
/// JSON: {name}
#[derive(Debug, Args)]
struct PrincipalRevokeArgs {
    /// Name of the principal
    name: PrincipalName,
}

impl PrincipalRevokeArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        principals(app)?.revoke(&self.name)?;
        if app.output.is_json() {
            return app.output.json(&json!({ "name": self.name.as_str() }));
        }
        app.output
            .note(&format!("the token of {} is revoked", self.name))
    }
}

/// Add a principal to a team, or grant a project to a principal or a team
///
/// JSON: {name, scope}
#[derive(Debug, Args)]
struct PrincipalGrantArgs {
    /// Name of the principal, or team:NAME
    name: String,
    /// Scope to grant: team:NAME or project:NAME
    scope: Scope,
}

impl PrincipalGrantArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let table = principals(app)?;
        let teams = table.teams()?;
        table.grant(&parse_grantee(&self.name)?, &self.scope)?;
        note_new_teams(app, &teams, &[&self.name, &self.scope.to_string()])?;
        print_grant(app, &self.name, &self.scope, "reads and writes")
    }
}

/// Withdraw a team or a project from a principal or a team
///
/// Its machines delete the memories of the scope, with their previous versions, when they next contact the database.
///
/// JSON: {name, scope}
#[derive(Debug, Args)]
struct PrincipalUngrantArgs {
    /// Name of the principal, or team:NAME
    name: String,
    /// Scope to withdraw: team:NAME or project:NAME
    scope: Scope,
}

impl PrincipalUngrantArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        principals(app)?.ungrant(&parse_grantee(&self.name)?, &self.scope)?;
        print_grant(app, &self.name, &self.scope, "no longer reads")
    }
}

/// Notes which of these scopes are teams that did not exist, because their names may be misspelt.
fn note_new_teams(
    app: &mut App,
    known: &[TeamRecord],
    scopes: &[impl AsRef<str>],
) -> Result<(), Failure> {
    let scopes = scopes
        .iter()
        .map(AsRef::as_ref)
        .filter(|scope| scope.starts_with("team:"));
    for team in scopes.filter(|scope| known.iter().all(|known| known.team != **scope)) {
        app.output.note(&format!("{team} is a new team"))?;
    }
    Ok(())
}

fn print_grant(app: &mut App, name: &str, scope: &Scope, verb: &str) -> Result<(), Failure> {
    if app.output.is_json() {
        return app
            .output
            .json(&json!({ "name": name, "scope": scope.to_string() }));
    }
    app.output.note(&format!("{name} {verb} {scope}"))
}

/// Parses the name of a principal, or a team with its prefix.
fn parse_grantee(text: &str) -> Result<Scope, Failure> {
    match text.trim().strip_prefix("team:") {
        Some(team) => Ok(Scope::Team(team.parse::<PrincipalName>()?.to_string())),
        None => Ok(text.parse::<PrincipalName>()?.scope()),
    }
}

fn principals(app: &mut App) -> Result<PrincipalTable, Failure> {
    let settings = app.settings()?;
    open_principals(&settings)
}
