//! The `memory shared principal` commands.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use clap::{Args, Subcommand};
use memory_agent::json::add_field;
use memory_core::{
    AccessLevel, BulkChange, Filter, HomeSection, MemoryId, MemoryStore, Patch, PrincipalKind,
    PrincipalName, ProposalFilter, Scope, change_many,
};
use memory_store::postgres::{
    GrantedScope, NewPrincipal, PrincipalRecord, PrincipalTable, TeamRecord,
};
use memory_store::sealed::Zeroizing;
use serde_json::{Value, json};

use super::init::{Invitation, read_text};
use crate::app::App;
use crate::datetime::parse_duration;
use crate::failure::Failure;
use crate::print::{Table, TableColumn, counted};
use crate::shared_store::{node_address, open_principals, seal_node_address};

/// Manage who reads and writes the memories in a shared database
///
/// A principal is a user or an agent with a token. It reads and writes global memories, its own (private:NAME), those of its
/// teams (team:NAME), and those of the projects that it or a team of it was granted. The database enforces this. The commands
/// need a home with the address of the owner of the database, without a token; an admin of a scope grants it and lists its members
/// with a home of its own.
#[derive(Debug, Args)]
pub(super) struct PrincipalArgs {
    #[command(subcommand)]
    command: PrincipalCommand,
}

#[derive(Debug, Subcommand)]
enum PrincipalCommand {
    Add(PrincipalAddArgs),
    Invite(PrincipalInviteArgs),
    /// List principals and teams, with their scopes
    ///
    /// An admin of scopes sees their members.
    ///
    /// JSON: {principals: [{name, kind, created, revoked?, expires?, last_contact?, scopes, access}], teams: [{team, scopes, access}]};
    /// access has the level of each scope. For an admin: {grants: [{name, scope, access}]}
    List,
    Revoke(PrincipalRevokeArgs),
    Remove(PrincipalRemoveArgs),
    Grant(PrincipalGrantArgs),
    Ungrant(PrincipalUngrantArgs),
}

impl PrincipalArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match &self.command {
            PrincipalCommand::Add(command) => command.run(app),
            PrincipalCommand::Invite(command) => command.run(app),
            PrincipalCommand::Remove(command) => command.run(app),
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
/// A principal with a revoked or expired token gets a new one, and retains its memories and scopes.
///
/// JSON: {name, token}
#[derive(Debug, Args)]
struct PrincipalAddArgs {
    #[command(flatten)]
    principal: NewPrincipalArgs,
}

#[derive(Debug, Args)]
struct NewPrincipalArgs {
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
    /// What it may do in these teams and projects: reader, writer or admin
    #[arg(long, value_name = "LEVEL", default_value = "writer")]
    access: AccessLevel,
    /// Time until the token expires, such as 90d
    #[arg(long, value_name = "SPAN", value_parser = parse_duration)]
    expires: Option<Duration>,
    /// Role of the database that the nodes of principals use
    #[arg(long, default_value = "memory_node")]
    role: String,
}

impl NewPrincipalArgs {
    /// Adds the principal, and returns its token.
    fn add(&self, app: &mut App) -> Result<String, Failure> {
        let kind: PrincipalKind = self.kind.parse()?;
        let teams = self.team.iter().map(|team| Scope::Team(team.to_string()));
        let scopes: Vec<_> = teams
            .chain(self.project.iter().cloned().map(Scope::Project))
            .collect();
        let table = principals(app)?;
        let teams = table.teams()?;
        let new = NewPrincipal {
            kind,
            scopes: &scopes,
            level: self.access,
            lifetime: self.expires,
            role: &self.role,
        };
        let token = table.add(&self.name, &new)?;
        let scopes: Vec<_> = scopes.iter().map(Scope::to_string).collect();
        if !app.output.is_json() {
            note_new_teams(app, &teams, &scopes)?;
        }
        Ok(token)
    }
}

impl PrincipalAddArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let token = self.principal.add(app)?;
        if app.output.is_json() {
            let name = self.principal.name.as_str();
            return app.output.json(&json!({ "name": name, "token": token }));
        }
        app.output.fields(&[&token])?;
        app.output.note("the token is not shown again")
    }
}

/// Add a principal, and print the command that sets up its machine
///
/// The command contains the token and the address of the database with its password, so send it like a password. The address is that of
/// the machines of principals; it is needed once, and stored encrypted.
///
/// JSON: {name, command}
#[derive(Debug, Args)]
struct PrincipalInviteArgs {
    #[command(flatten)]
    principal: NewPrincipalArgs,
    /// Address of the database for the machines of principals, such as postgres://memory_node:PASSWORD@HOST/DATABASE; @FILE reads
    /// a file, - the standard input [default: that of the last invitation]
    #[arg(long, value_name = "ADDRESS")]
    store: Option<String>,
}

impl PrincipalInviteArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        // The connection and the role are checked before an address is stored, and a token is created.
        principals(app)?.list()?;
        if let Some(store) = &self.store {
            let address = read_text(app, store, "the address")?;
            seal_node_address(&settings, &address)?;
        }
        let address = node_address(&settings)?;
        let token = Zeroizing::new(self.principal.add(app)?);
        let invitation = Invitation { address, token };
        let command = format!("memory shared init --invitation {}", invitation.to_text());
        if app.output.is_json() {
            let name = self.principal.name.as_str();
            return app
                .output
                .json(&json!({ "name": name, "command": command }));
        }
        app.output.line(&command)?;
        app.output
            .note("the command contains a password: send it as one; it is not shown again")
    }
}

fn list(app: &mut App) -> Result<(), Failure> {
    let table = principals(app)?;
    if table.is_of_principal() {
        return list_administered(&table, app);
    }
    let (principals, teams) = (table.list()?, table.teams()?);
    if app.output.is_json() {
        let principals: Vec<_> = principals.iter().map(principal_to_json).collect();
        let teams: Vec<_> = teams
            .iter()
            .map(|TeamRecord { team, scopes }| add_scopes(json!({ "team": team }), scopes))
            .collect();
        return app
            .output
            .json(&json!({ "principals": principals, "teams": teams }));
    }
    let mut shown = Table::new([
        TableColumn::Whole("name"),
        TableColumn::Whole("kind"),
        TableColumn::Whole("token"),
        TableColumn::Text("scopes"),
        TableColumn::Whole("last contact"),
    ]);
    let now = app.now();
    for principal in &principals {
        let state = match (principal.revoked_at, principal.expires_at) {
            (Some(_), _) => "revoked".to_owned(),
            (None, Some(end)) if end <= now => "expired".to_owned(),
            (None, Some(end)) => format!("until {}", app.output.time(end)),
            (None, None) => "valid".to_owned(),
        };
        let contact = principal.last_contact.map(|at| app.output.time(at));
        shown.push([
            principal.name.as_str(),
            principal.kind.as_str(),
            &state,
            &scopes_text(&principal.scopes),
            contact.as_deref().unwrap_or("-"),
        ]);
    }
    for TeamRecord { team, scopes } in &teams {
        shown.push([team.as_str(), "team", "-", &scopes_text(scopes), "-"]);
    }
    app.output.table(&shown)
}

/// Lists the members of the scopes of which the principal of the home is an admin.
fn list_administered(table: &PrincipalTable, app: &mut App) -> Result<(), Failure> {
    let mut shown = Table::new([
        TableColumn::Whole("scope"),
        TableColumn::Whole("name"),
        TableColumn::Whole("access"),
    ]);
    let mut grants = Vec::new();
    for (grantee, GrantedScope { scope, level }) in table.administered_grants()? {
        let name = grantee.trim_start_matches("private:");
        shown.push([scope.as_str(), name, level.as_str()]);
        grants.push(json!({ "name": name, "scope": scope, "access": level.as_str() }));
    }
    if app.output.is_json() {
        return app.output.json(&json!({ "grants": grants }));
    }
    if grants.is_empty() {
        return app.output.note("this principal is no admin of a scope");
    }
    app.output.table(&shown)
}

/// Returns scopes as text, with the levels of access other than that of a writer.
fn scopes_text(scopes: &[GrantedScope]) -> String {
    let texts: Vec<_> = scopes
        .iter()
        .map(|GrantedScope { scope, level }| match level {
            AccessLevel::Writer => scope.clone(),
            level => format!("{scope} ({})", level.as_str()),
        })
        .collect();
    texts.join(", ")
}

fn add_scopes(mut fields: Value, scopes: &[GrantedScope]) -> Value {
    let names: Vec<_> = scopes
        .iter()
        .map(|granted| granted.scope.as_str())
        .collect();
    let access = scopes.iter().map(|granted| {
        let level = Value::from(granted.level.as_str());
        (granted.scope.clone(), level)
    });
    fields["access"] = Value::Object(access.collect());
    fields["scopes"] = names.into();
    fields
}

fn principal_to_json(principal: &PrincipalRecord) -> Value {
    let time = |at: DateTime<Utc>| at.to_rfc3339_opts(SecondsFormat::Secs, true);
    let mut fields = json!({
        "name": principal.name,
        "kind": principal.kind.as_str(),
        "created": time(principal.created_at),
    });
    add_field(&mut fields, "revoked", principal.revoked_at.map(time));
    add_field(&mut fields, "expires", principal.expires_at.map(time));
    add_field(
        &mut fields,
        "last_contact",
        principal.last_contact.map(time),
    );
    add_scopes(fields, &principal.scopes)
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

/// Remove a principal with its token, its grants and its private memories
///
/// The private memories of the principal and of its agents move to the trash, or with --to to another principal, in one operation that
/// `memory undo` reverts. Memories of teams and projects stay, and the log continues to name their author. Its banks and conversations
/// stay in the database, and a principal that is added again with the same name gets them.
///
/// JSON: {name, memories}
#[derive(Debug, Args)]
struct PrincipalRemoveArgs {
    /// Name of the principal
    name: PrincipalName,
    /// Principal who gets the private memories
    #[arg(long, value_name = "NAME")]
    to: Option<PrincipalName>,
    /// Remove without confirmation
    #[arg(long)]
    yes: bool,
}

impl PrincipalRemoveArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let table = principals(app)?;
        let known = table.list()?;
        let is_known = |name: &PrincipalName| known.iter().any(|one| one.name == name.as_str());
        let hint = "`memory shared principal list` lists the principals";
        for name in [Some(&self.name), self.to.as_ref()].into_iter().flatten() {
            if !is_known(name) {
                return Err(Failure::usage(
                    format!("there is no principal {name}"),
                    hint,
                ));
            }
        }
        if self.to.as_ref() == Some(&self.name) {
            return Err(Failure::usage(
                "a principal cannot get its own memories",
                hint,
            ));
        }
        let home = app.open()?;
        home.fetch_operations()?;
        let ids = private_memories(&home.store, &self.name.scope(), app.now())?;
        let memories = counted(ids.len() as u64, "private note");
        let fate = match &self.to {
            Some(to) => format!("move to {to}"),
            None => "move to the trash".to_owned(),
        };
        let question = format!("Remove {}? Its {memories} {fate}.", self.name);
        let unasked = Failure::usage(
            format!("{} has {memories}, which {fate}", self.name),
            "`--yes` removes it",
        );
        if !self.yes && !app.confirm(&question, "nothing was removed", unasked)? {
            return Ok(());
        }
        // From here on, no machine of the principal adds memories.
        if known
            .iter()
            .any(|one| one.name == self.name.as_str() && one.revoked_at.is_none())
        {
            table.revoke(&self.name)?;
        }
        home.fetch_operations()?;
        let ids = private_memories(&home.store, &self.name.scope(), app.now())?;
        let change = match &self.to {
            None => BulkChange::Delete,
            Some(to) => BulkChange::Update(Box::new(Patch {
                scope: Some(to.scope()),
                ..Patch::default()
            })),
        };
        if !ids.is_empty() {
            change_many(&home.services, &ids, &change)?;
        }
        table.remove(&self.name)?;
        if app.output.is_json() {
            let name = self.name.as_str();
            return app
                .output
                .json(&json!({ "name": name, "memories": ids.len() }));
        }
        app.output.note(&format!("{} is removed", self.name))?;
        app.output.note(&format!(
            "its banks and conversations stay in the database, and only a principal of this name reads them; to delete them, add it again \
             with `memory shared principal add {}`, and delete them in a home with its token",
            self.name
        ))
    }
}

/// Returns the memories and proposals that only a principal reads, including those of its agents.
fn private_memories(
    store: &memory_store::FileStore,
    private: &Scope,
    now: DateTime<Utc>,
) -> Result<Vec<MemoryId>, Failure> {
    let mut ids = Vec::new();
    for proposals in [ProposalFilter::Exclude, ProposalFilter::Only] {
        let filter = Filter {
            proposals,
            place: Some(HomeSection::Notes),
            ..Filter::all()
        };
        for stored in store.memories(&filter, now) {
            let stored = stored?;
            if store.access_scope(&stored) == *private {
                ids.push(stored.memory.id);
            }
        }
    }
    Ok(ids)
}

/// Add a principal to a team, or grant a project to a principal or a team
///
/// A reader reads the memories, a writer also changes them, and an admin also grants the scope to others. A second grant replaces the
/// level of access. A member of a team has in its projects the level of the team, or its own in the team, if that is lower.
///
/// JSON: {name, scope}
#[derive(Debug, Args)]
struct PrincipalGrantArgs {
    /// Name of the principal, or team:NAME
    name: String,
    /// Scope to grant: team:NAME or project:NAME
    scope: Scope,
    /// What the principal, or the members of the team, may do: reader, writer or admin
    #[arg(long, value_name = "LEVEL", default_value = "writer")]
    access: AccessLevel,
}

impl PrincipalGrantArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let table = principals(app)?;
        let grantee = parse_grantee(&self.name)?;
        if table.is_of_principal() {
            table.grant(&grantee, &self.scope, self.access)?;
        } else {
            let teams = table.teams()?;
            table.grant(&grantee, &self.scope, self.access)?;
            note_new_teams(app, &teams, &[&self.name, &self.scope.to_string()])?;
        }
        let verb = match self.access {
            AccessLevel::Reader => "reads",
            AccessLevel::Writer => "reads and writes",
            AccessLevel::Admin => "reads, writes and grants",
        };
        print_grant(app, &self.name, &self.scope, verb)
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
