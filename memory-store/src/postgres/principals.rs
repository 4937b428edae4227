//! The principals of the memories in a database, which its owner manages.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use memory_core::instance::InstanceError;
use memory_core::text::windows_name_problem;
use memory_core::{
    AccessLevel, AgentName, Code, PRINCIPAL_TOKEN_PREFIX, PrincipalAccess, PrincipalKind,
    PrincipalName, PrincipalTokens, Scope, StoreError,
};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::Database;
use super::access::{self, TokenPrincipal, denied_error};
use super::conditions::SqlParameter;
use super::connections::run_transaction;
use super::document_log::to_store_error;
use super::error::{DatabaseError, database_error};
use super::migration::{DOCUMENTS, close_functions, migrate};
use crate::shared_log::parse_scopes;

/// The database creates the token, because a server may log the parameters of statements, and does not log results.
const INSERT: &str = "
    WITH new AS MATERIALIZED (SELECT $3 || replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '') AS token)
    INSERT INTO memory_principals AS own (name, kind, token_hash, expires_at)
        SELECT $1, $2, sha256(convert_to(token, 'UTF8')), now() + make_interval(secs => $4) FROM new
    ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, token_hash = excluded.token_hash, created_at = now(), revoked_at = NULL,
        expires_at = excluded.expires_at, last_contact = NULL
    WHERE own.revoked_at IS NOT NULL OR own.expires_at <= now() RETURNING (SELECT token FROM new)";

const REVOKE: &str =
    "UPDATE memory_principals SET revoked_at = now() WHERE name = $1 AND revoked_at IS NULL";

const REMOVE: &str = "
    WITH gone AS (DELETE FROM memory_principals WHERE name = $1 RETURNING name),
        withdrawn AS (DELETE FROM memory_principal_scopes WHERE grantee = 'private:' || $1)
    SELECT name FROM gone";

/// A change of a grant by the owner, and by an admin of the scope. Without a level of access, it is withdrawn.
const SET_GRANT: &str = "SELECT memory_set_grant(NULL, $1, $2, $3)";
const SET_GRANT_AS_ADMIN: &str = "SELECT memory_node_grant($1, $2, $3)";

const WRITE_AUDIT: &str = "SELECT memory_write_audit(NULL, $1, $2)";

const LIST_AUDIT: &str = "SELECT at, coalesce(actor, ''), action, subject FROM memory_audit ORDER BY at DESC, id LIMIT $1";

const LIST: &str = "
    SELECT own.name, own.kind, own.created_at, own.revoked_at, own.expires_at, own.last_contact, ARRAY(
        SELECT scope || ' ' || access FROM memory_principal_scopes WHERE grantee = 'private:' || own.name ORDER BY scope
    )
    FROM memory_principals AS own ORDER BY own.name";

const LIST_TEAMS: &str = "
    SELECT team.scope, ARRAY(
        SELECT own.scope || ' ' || own.access FROM memory_principal_scopes AS own WHERE own.grantee = team.scope ORDER BY own.scope
    ) FROM (
        SELECT scope FROM memory_principal_scopes WHERE scope LIKE 'team:%'
        UNION SELECT grantee FROM memory_principal_scopes WHERE grantee LIKE 'team:%'
    ) AS team ORDER BY team.scope";

/// Returns whether a role and the owner bypass the policies, and whether the role may create objects that outlive its session.
const INSPECT_ROLE: &str = "
    SELECT node.rolsuper OR node.rolbypassrls OR pg_has_role(node.oid, owner.oid, 'MEMBER'), owner.rolsuper OR owner.rolbypassrls,
        has_database_privilege(node.oid, current_database(), 'CREATE')
        OR EXISTS (SELECT FROM pg_namespace WHERE has_schema_privilege(node.oid, pg_namespace.oid, 'CREATE'))
    FROM pg_roles AS node JOIN pg_roles AS owner ON owner.rolname = memory_owner() WHERE node.rolname = $1";

/// Returns a table with policies on which a role has a privilege, if there is one.
const FIND_PRIVILEGE: &str = "
    SELECT relname::text FROM pg_class WHERE oid IN (SELECT polrelid FROM pg_policy WHERE polname = 'memory_access')
        AND has_any_column_privilege($1::text::name, oid, 'SELECT, INSERT, UPDATE, REFERENCES') ORDER BY relname LIMIT 1";

/// A principal, as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrincipalRecord {
    /// The name.
    pub name: String,
    /// The kind.
    pub kind: PrincipalKind,
    /// The time at which its current token was created.
    pub created_at: DateTime<Utc>,
    /// The time at which its token was revoked, if it was.
    pub revoked_at: Option<DateTime<Utc>>,
    /// The end of its token, if it has one.
    pub expires_at: Option<DateTime<Utc>>,
    /// The time of its last contact with the database, to the minute.
    pub last_contact: Option<DateTime<Utc>>,
    /// Its teams, and the projects that it was granted itself.
    pub scopes: Vec<GrantedScope>,
}

/// A granted scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedScope {
    /// The scope.
    pub scope: String,
    /// The level of access.
    pub level: AccessLevel,
}

/// A new principal, or a new token of a revoked one.
#[derive(Debug, Clone)]
pub struct NewPrincipal<'a> {
    /// The kind.
    pub kind: PrincipalKind,
    /// The teams and projects.
    pub scopes: &'a [Scope],
    /// The level of access to them.
    pub level: AccessLevel,
    /// The time until the token expires, if it does.
    pub lifetime: Option<Duration>,
    /// The role of the database that the nodes of principals use.
    pub role: &'a str,
}

/// An entry of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// The time.
    pub at: DateTime<Utc>,
    /// The principal; empty for the owner.
    pub actor: String,
    /// What was done, such as `grant`.
    pub action: String,
    /// To what it was done.
    pub subject: String,
}

/// A team with the projects that it was granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamRecord {
    /// The scope of the team.
    pub team: String,
    /// The scopes of the projects.
    pub scopes: Vec<GrantedScope>,
}

/// The principals of the memories in a database.
///
/// The address of the database must be that of the owner of the tables, without a token.
#[derive(Debug)]
pub struct PrincipalTable {
    database: Arc<Database>,
}

impl PrincipalTable {
    /// Returns the principals of a database. It connects on first use.
    pub fn new(database: Arc<Database>) -> Self {
        Self { database }
    }

    /// Adds a principal, or a new token of a revoked one, and returns the token.
    ///
    /// It also lets the role of the nodes call their functions.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] if the principal has a token already, or a name that is reserved or that Windows does not allow, or if the role does not exist or
    /// bypasses the access control.
    pub fn add(
        &self,
        name: &PrincipalName,
        new: &NewPrincipal<'_>,
    ) -> Result<String, InstanceError> {
        // Homes have folders with the names of principals.
        if let Some(problem) = windows_name_problem(name.as_str()) {
            return Err(InstanceError::invalid(
                format!("{name} {problem}"),
                "choose another name",
            ));
        }
        if name.as_str().parse::<AgentName>().is_err() {
            return Err(InstanceError::invalid(
                format!("{name} is a reserved name"),
                "choose another name",
            ));
        }
        let scopes: Vec<_> = new
            .scopes
            .iter()
            .map(grantable_scope)
            .collect::<Result<_, _>>()?;
        let (name_text, kind) = (name.as_str(), new.kind.as_str());
        let seconds = new.lifetime.map(|lifetime| lifetime.as_secs_f64());
        self.run(async |client| {
            grant_functions(client, new.role).await?;
            let inserted: [SqlParameter; 4] = [
                (&name_text, Type::TEXT),
                (&kind, Type::TEXT),
                (&PRINCIPAL_TOKEN_PREFIX, Type::TEXT),
                (&seconds, Type::FLOAT8),
            ];
            let Some(row) = client.query_typed_opt(INSERT, &inserted).await? else {
                let hint = "`memory shared principal revoke NAME` revokes its token; then add it again for a new one";
                return Err(invalid(format!("{name} has a token already"), hint));
            };
            write_audit(client, "token", name_text).await?;
            let grantee = name.scope().to_string();
            for scope in &scopes {
                set_grant(client, SET_GRANT, &grantee, scope, Some(new.level)).await?;
            }
            Ok(row.try_get(0)?)
        })
    }

    /// Returns all principals, sorted by name.
    ///
    /// # Errors
    /// If the database cannot be reached or refuses.
    pub fn list(&self) -> Result<Vec<PrincipalRecord>, InstanceError> {
        self.run(async |client| {
            let rows = client.query_typed(LIST, &[]).await?;
            let to_record = |row: &tokio_postgres::Row| -> Result<PrincipalRecord, DatabaseError> {
                Ok(PrincipalRecord {
                    name: row.try_get(0)?,
                    kind: row.try_get::<_, &str>(1)?.parse().unwrap_or_default(),
                    created_at: row.try_get(2)?,
                    revoked_at: row.try_get(3)?,
                    expires_at: row.try_get(4)?,
                    last_contact: row.try_get(5)?,
                    scopes: parse_grants(row.try_get(6)?),
                })
            };
            rows.iter().map(to_record).collect()
        })
    }

    /// Returns all teams with their projects, sorted by name.
    ///
    /// # Errors
    /// If the database cannot be reached or refuses.
    pub fn teams(&self) -> Result<Vec<TeamRecord>, InstanceError> {
        self.run(async |client| {
            let rows = client.query_typed(LIST_TEAMS, &[]).await?;
            rows.iter()
                .map(|row| {
                    Ok(TeamRecord {
                        team: row.try_get(0)?,
                        scopes: parse_grants(row.try_get(1)?),
                    })
                })
                .collect()
        })
    }

    /// Returns whether the database is used with the token of a principal.
    pub fn is_of_principal(&self) -> bool {
        self.database.token().is_some()
    }

    /// Returns the grants of the scopes of which the principal of the node is an admin: the grantee and the scope.
    ///
    /// # Errors
    /// If the database cannot be reached or rejects the token.
    pub fn administered_grants(&self) -> Result<Vec<(String, GrantedScope)>, InstanceError> {
        self.database.run_without_instances(async |client| {
            access::run_as(client, self.database.token(), async |_| {
                let list =
                    "SELECT grant_grantee, grant_scope || ' ' || grant_access FROM memory_node_grants()";
                let rows = client.query_typed(list, &[]).await?;
                rows.iter()
                    .map(|row| Ok((row.try_get(0)?, parse_grant(row.try_get(1)?))))
                    .collect()
            })
            .await
        })
    }

    /// Returns the last `limit` entries of the audit log, newest first.
    ///
    /// # Errors
    /// If the database cannot be reached or refuses.
    pub fn audit(&self, limit: usize) -> Result<Vec<AuditRecord>, InstanceError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.run(async |client| {
            let rows = client
                .query_typed(LIST_AUDIT, &[(&limit, Type::INT8)])
                .await?;
            rows.iter()
                .map(|row| {
                    Ok(AuditRecord {
                        at: row.try_get(0)?,
                        actor: row.try_get(1)?,
                        action: row.try_get(2)?,
                        subject: row.try_get(3)?,
                    })
                })
                .collect()
        })
    }

    /// Records an export of memories in the audit log.
    ///
    /// # Errors
    /// If the database cannot be reached or rejects the token.
    pub fn record_export(&self, subject: &str) -> Result<(), InstanceError> {
        self.database.run_without_instances(async |client| {
            access::run_as(client, self.database.token(), async |_| {
                let record = "SELECT memory_node_record_export($1)";
                client
                    .query_typed(record, &[(&subject, Type::TEXT)])
                    .await?;
                Ok(())
            })
            .await
        })
    }

    /// Revokes the token of a principal. Its memories and its scopes remain.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] if it has no token.
    pub fn revoke(&self, name: &PrincipalName) -> Result<(), InstanceError> {
        let name = name.as_str();
        self.run(async |client| {
            match client.execute_typed(REVOKE, &[(&name, Type::TEXT)]).await? {
                0 => Err(invalid(format!("no principal {name} has a token"), LISTED)),
                _ => write_audit(client, "revoke", name).await,
            }
        })
    }

    /// Removes a principal with its token and its grants. Its memories remain.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] if it does not exist.
    pub fn remove(&self, name: &PrincipalName) -> Result<(), InstanceError> {
        let name = name.as_str();
        self.run(async |client| {
            match client
                .query_typed_opt(REMOVE, &[(&name, Type::TEXT)])
                .await?
            {
                None => Err(invalid(format!("there is no principal {name}"), LISTED)),
                Some(_) => write_audit(client, "remove", name).await,
            }
        })
    }

    /// Grants a team to a principal, or a project to a principal or to a team, with this level of access. The principal of a node does so
    /// as an admin of the scope.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] if the principal does not exist, or the scope cannot be granted to it.
    pub fn grant(
        &self,
        grantee: &Scope,
        scope: &Scope,
        level: AccessLevel,
    ) -> Result<(), InstanceError> {
        let name = check_grantee(grantee, scope)?.unwrap_or_default();
        let scope = grantable_scope(scope)?;
        if self.change_grant(grantee, &scope, Some(level))? {
            return Ok(());
        }
        let hint = "`memory shared principal list` lists the principals; a team is team:NAME";
        Err(InstanceError::invalid(
            format!("there is no principal {name}"),
            hint,
        ))
    }

    /// Withdraws a scope from a principal or from a team.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] if it was not granted.
    pub fn ungrant(&self, grantee: &Scope, scope: &Scope) -> Result<(), InstanceError> {
        check_grantee(grantee, scope)?;
        if self.change_grant(grantee, &scope.to_string(), None)? {
            return Ok(());
        }
        let grantee = grantee.to_string();
        let name = grantee.trim_start_matches("private:");
        Err(InstanceError::invalid(
            format!("{scope} is not granted to {name}"),
            "`memory shared principal list` lists the grants",
        ))
    }

    fn change_grant(
        &self,
        grantee: &Scope,
        scope: &str,
        level: Option<AccessLevel>,
    ) -> Result<bool, InstanceError> {
        let grantee = grantee.to_string();
        if self.database.token().is_none() {
            return self
                .run(async |client| set_grant(client, SET_GRANT, &grantee, scope, level).await);
        }
        self.database.run_without_instances(async |client| {
            access::run_as(client, self.database.token(), async |_| {
                set_grant(client, SET_GRANT_AS_ADMIN, &grantee, scope, level).await
            })
            .await
            .map_err(|error| match error {
                DatabaseError::Postgres(error)
                    if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) =>
                {
                    let what = format!("only an admin of {scope} and the owner of the database grant it");
                    let hint = "an admin makes another one with `memory shared principal grant NAME SCOPE --access admin`";
                    denied_error(what, hint)
                }
                error => error,
            })
        })
    }

    async fn run_once<T>(
        client: &Client,
        work: impl AsyncFnOnce() -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        run_transaction(client, work)
            .await
            .map_err(|error| match error {
                DatabaseError::Postgres(error)
                    if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) =>
                {
                    let what = "only the owner of the tables manages principals".to_owned();
                    let hint =
                        "use a home whose address has the user that ran the first `memory shared init`";
                    denied_error(what, hint)
                }
                error => error,
            })
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers pass closures")]
    fn run<T>(
        &self,
        work: impl AsyncFn(&Client) -> Result<T, DatabaseError>,
    ) -> Result<T, InstanceError> {
        if self.database.token().is_some() {
            let what = "a home with a token cannot manage principals";
            let hint = "use a home of the owner, which was set up without --token";
            return Err(database_error(what, Code::PermissionDenied, hint, None));
        }
        self.database.run_without_instances(async |client| {
            migrate(client, &DOCUMENTS).await?;
            close_functions(client).await?;
            Self::run_once(client, async || work(client).await).await
        })
    }
}

/// The hint of an error about an unknown principal.
const LISTED: &str = "`memory shared principal list` lists the principals";

async fn set_grant(
    client: &Client,
    statement: &str,
    grantee: &str,
    scope: &str,
    level: Option<AccessLevel>,
) -> Result<bool, DatabaseError> {
    let level = level.map(AccessLevel::as_str);
    let values: [SqlParameter; 3] = [
        (&grantee, Type::TEXT),
        (&scope, Type::TEXT),
        (&level, Type::TEXT),
    ];
    Ok(client
        .query_typed_one(statement, &values)
        .await?
        .try_get(0)?)
}

async fn write_audit(client: &Client, action: &str, subject: &str) -> Result<(), DatabaseError> {
    let values: [SqlParameter; 2] = [(&action, Type::TEXT), (&subject, Type::TEXT)];
    client.query_typed(WRITE_AUDIT, &values).await?;
    Ok(())
}

fn parse_grants(grants: Vec<&str>) -> Vec<GrantedScope> {
    grants.into_iter().map(parse_grant).collect()
}

/// Parses a scope and a level of access. A level of a newer version counts as the lowest one.
fn parse_grant(grant: &str) -> GrantedScope {
    let (scope, level) = grant.rsplit_once(' ').unwrap_or((grant, ""));
    GrantedScope {
        scope: scope.to_owned(),
        level: level.parse().unwrap_or(AccessLevel::Reader),
    }
}

/// This also works with an address that is not that of the owner, or with a token of another principal.
impl PrincipalTokens for PrincipalTable {
    fn find_principal(&self, token: &str) -> Result<Option<PrincipalAccess>, StoreError> {
        let token = self.database.principal_token(token);
        let found = self
            .database
            .run_without_instances(async |client| access::find_principal(client, &token).await);
        let Some(TokenPrincipal {
            name,
            scopes,
            read_only,
        }) = found.map_err(to_store_error)?
        else {
            return Ok(None);
        };
        let name = name.parse::<PrincipalName>()?.to_string();
        Ok(Some(PrincipalAccess {
            name,
            scopes: parse_scopes(&scopes),
            read_only: parse_scopes(&read_only),
        }))
    }
}

/// Lets the role of the nodes call their functions, and takes all other privileges from it.
async fn grant_functions(client: &Client, role: &str) -> Result<(), DatabaseError> {
    let is_plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    if role.is_empty() || 63 < role.len() || !role.chars().all(is_plain) {
        return Err(invalid(
            format!("{role:?} is not a name of a role"),
            "use letters a-z, digits, -, _ and .",
        ));
    }
    let Some(found) = client
        .query_typed_opt(INSPECT_ROLE, &[(&role, Type::TEXT)])
        .await?
    else {
        let sql = format!("CREATE ROLE \"{role}\" LOGIN PASSWORD 'PASSWORD'");
        let what = format!("the database has no role {role}; create it with {sql}");
        return Err(invalid(what, "or specify another role with --role"));
    };
    if found.try_get(0)? {
        let hint = "use a role without the attributes SUPERUSER and BYPASSRLS that is no member of the owner";
        return Err(invalid(
            format!("the role {role} bypasses the access control of memories"),
            hint,
        ));
    }
    if found.try_get(1)? {
        let hint = "create the tables as a role without the attributes SUPERUSER and BYPASSRLS";
        return Err(invalid(
            "the owner of the tables bypasses the access control of memories".to_owned(),
            hint,
        ));
    }
    // With functions of its own, a principal could receive the tokens of others, or have them called by a maintenance job of the owner.
    if found.try_get(2)? {
        let hint = "a superuser runs `REVOKE CREATE ON SCHEMA public FROM PUBLIC`, and the same for other schemas and the database";
        return Err(invalid(
            format!("the role {role} may create objects in the database"),
            hint,
        ));
    }
    client
        .execute_typed(
            "SELECT memory_grant_node($1::text::name)",
            &[(&role, Type::TEXT)],
        )
        .await?;
    match client
        .query_typed_opt(FIND_PRIVILEGE, &[(&role, Type::TEXT)])
        .await?
    {
        Some(table) => {
            let what = format!(
                "the role {role} has privileges on {} through another role or PUBLIC",
                table.try_get::<_, &str>(0)?
            );
            Err(invalid(
                what,
                "revoke them, and memberships such as pg_read_all_data: they would reveal hidden rows",
            ))
        }
        None => Ok(()),
    }
}

/// Returns the text of a scope that principals are granted.
fn grantable_scope(scope: &Scope) -> Result<String, InstanceError> {
    match scope {
        Scope::Team(name) => {
            name.parse::<PrincipalName>().map_err(StoreError::from)?;
            Ok(scope.to_string())
        }
        Scope::Project(_) => Ok(scope.to_string()),
        _ => Err(InstanceError::invalid(
            format!("{scope} cannot be granted"),
            "grant team:NAME or project:NAME",
        )),
    }
}

/// Returns the name of the grantee if it is a principal.
fn check_grantee<'a>(grantee: &'a Scope, scope: &Scope) -> Result<Option<&'a str>, InstanceError> {
    match (grantee, scope) {
        (Scope::Private(name), _) => Ok(Some(name)),
        (Scope::Team(_), Scope::Project(_)) => Ok(None),
        (Scope::Team(_), _) => {
            let what = format!("{scope} cannot be granted to a team");
            Err(InstanceError::invalid(
                what,
                "a team is granted project:NAME",
            ))
        }
        _ => Err(InstanceError::invalid(
            format!("{grantee} is no principal and no team"),
            "use NAME or team:NAME",
        )),
    }
}

fn invalid(what: String, hint: &'static str) -> DatabaseError {
    DatabaseError::Other(InstanceError::invalid(what, hint))
}
