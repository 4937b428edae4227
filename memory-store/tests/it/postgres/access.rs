//! Access control: principals with tokens, on nodes and in the database.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use memory_core::secret::Checked;
use memory_core::{
    AccessLevel, Change, ChangeOutcome, ChangeSet, Code, Draft, Filter, Memory, MemoryStore,
    MemoryStoreExt, PageRequest, Patch, PrincipalKind, ProposalFilter, Query, Scope, SecretPolicy,
    StoreError, Verb, delete, restore, search, undo, update, write,
};
use memory_store::postgres::{Database, DatabaseLimits, NewPrincipal, PrincipalTable};
use memory_store::{FileStore, FileStoreOptions};

use super::replicas::{Node, content_patch};
use super::server::{PostgresServer, report_skipped, run_to_end, shared_server};

/// A database with an owner and a role for nodes, neither of which is a superuser.
pub(super) struct SharedDatabase<'s> {
    pub(super) server: &'s PostgresServer,
    pub(super) name: String,
    pub(super) role: String,
    pub(super) principals: PrincipalTable,
}

impl SharedDatabase<'static> {
    pub(super) fn new(claim: &str) -> Option<Self> {
        shared_server(claim).map(Self::on)
    }
}

impl<'s> SharedDatabase<'s> {
    pub(super) fn on(server: &'s PostgresServer) -> Self {
        let name = server.database();
        server.sql(
            &name,
            &format!(
                "CREATE ROLE {name}_owner LOGIN; CREATE ROLE {name}_node LOGIN; ALTER DATABASE {name} OWNER TO {name}_owner"
            ),
        );
        let principals = PrincipalTable::new(Arc::new(open(server, &name, "owner")));
        Self {
            server,
            role: format!("{name}_node"),
            name,
            principals,
        }
    }

    /// Adds a principal, and returns its token.
    pub(super) fn add(&self, name: &str, scopes: &[&str]) -> String {
        let scopes: Vec<Scope> = scopes.iter().map(|scope| scope.parse().unwrap()).collect();
        self.principals
            .add(&name.parse().unwrap(), &self.new_principal(&scopes))
            .unwrap()
    }

    pub(super) fn new_principal<'a>(&'a self, scopes: &'a [Scope]) -> NewPrincipal<'a> {
        NewPrincipal {
            kind: PrincipalKind::User,
            scopes,
            level: AccessLevel::Writer,
            lifetime: None,
            role: &self.role,
        }
    }

    pub(super) fn owner(&self) -> Node {
        Node::new(Arc::new(open(self.server, &self.name, "owner")))
    }

    pub(super) fn node(&self, token: &str) -> Node {
        Node::new(self.database(token))
    }

    /// Opens the database as a node.
    pub(super) fn database(&self, token: &str) -> Arc<Database> {
        Arc::new(open(self.server, &self.name, "node").with_token(token))
    }

    /// Returns the name of the role of the nodes.
    pub(super) fn node_role(&self) -> String {
        self.role.clone()
    }

    /// Runs a statement as the owner or as a node, with a token, and returns the rows.
    pub(super) fn sql(&self, role: &str, token: &str, statement: &str) -> String {
        run_to_end(&mut self.psql(role, token, statement))
    }

    /// Runs a statement that fails, and returns the error.
    pub(super) fn error(&self, role: &str, token: &str, statement: &str) -> String {
        let output = self.psql(role, token, statement).output().unwrap();
        assert!(!output.status.success(), "{statement}");
        String::from_utf8_lossy(&output.stderr)
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    }

    fn psql(&self, role: &str, token: &str, statement: &str) -> Command {
        let (user, statements) = (
            format!("{}_{role}", self.name),
            format!("SET memory.token = '{token}'; {statement}"),
        );
        let mut psql = self.server.client("psql");
        psql.args([
            "-XAtq",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            &user,
            "-d",
            &self.name,
            "-c",
            &statements,
        ]);
        psql
    }

    /// Checks that statements fail because of a missing permission.
    pub(super) fn check_refused(&self, role: &str, token: &str, statements: &[String]) {
        let block = |statement: &String| {
            let quoted = statement.replace('\'', "''");
            format!(
                "DO $block$ BEGIN EXECUTE '{quoted}'; RAISE EXCEPTION 'not refused'; EXCEPTION WHEN insufficient_privilege THEN NULL; \
                END $block$;"
            )
        };
        self.sql(
            role,
            token,
            &statements.iter().map(block).collect::<String>(),
        );
    }

    /// Returns all tables of the program, according to the catalog, for which a condition is true.
    pub(super) fn tables(&self, condition: &str) -> Vec<String> {
        let list = format!(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND {condition} \
            ORDER BY 1"
        );
        self.server
            .sql(&self.name, &list)
            .lines()
            .map(str::to_owned)
            .collect()
    }
}

fn open(server: &PostgresServer, name: &str, role: &str) -> Database {
    open_with(
        server,
        name,
        role,
        DatabaseLimits {
            restart: Duration::from_secs(20),
            ..DatabaseLimits::default()
        },
    )
}

fn open_with(server: &PostgresServer, name: &str, role: &str, limits: DatabaseLimits) -> Database {
    Database::new(
        &server.url(&format!("{name}_{role}"), name, "?sslmode=disable"),
        limits,
    )
    .unwrap()
}

pub(super) fn write_into(node: &Node, text: &str, scope: &str) -> String {
    let draft = Draft {
        scope: scope.parse().unwrap(),
        ..Draft::new(text)
    };
    write(&node.services, draft, SecretPolicy::Refuse)
        .unwrap()
        .id
        .to_string()
}

pub(super) fn move_into(node: &Node, id: &str, scope: &str) {
    let patch = Patch {
        scope: Some(scope.parse().unwrap()),
        ..Patch::default()
    };
    update(&node.services, id, &patch, None, SecretPolicy::Refuse).unwrap();
}

/// Returns the scopes of the memories that a node has.
pub(super) fn scopes(node: &Node) -> Vec<String> {
    node.services.store.refresh().unwrap();
    let page = node
        .services
        .store
        .list(
            &Filter::all(),
            &PageRequest::default(),
            node.services.clock.now(),
        )
        .unwrap();
    let mut scopes: Vec<_> = page
        .memories
        .iter()
        .map(|stored| stored.memory.scope.to_string())
        .collect();
    scopes.sort();
    scopes
}

fn hits(node: &Node, query: &str) -> usize {
    search(&node.services, &Query::new(query))
        .unwrap()
        .hits
        .len()
}

/// Returns whether a text is in a file of the replica below one of its folders.
fn has_text(node: &Node, text: &str) -> bool {
    node.services.store.refresh().unwrap();
    node.home
        .files("")
        .into_iter()
        .any(|(path, bytes)| path.contains(text) || String::from_utf8_lossy(&bytes).contains(text))
}

fn code_of<T>(result: Result<T, StoreError>) -> Option<Code> {
    result.err().map(|error| error.code())
}

#[test]
fn a_revoked_or_unknown_token_is_refused_and_finds_nothing() {
    let Some(shared) = SharedDatabase::new("revoked tokens") else {
        return;
    };
    let token = shared.add("ada", &[]);
    let node = shared.node(&token);
    let id = write_into(&node, "a private note", "private:ada");
    let ada = "ada".parse().unwrap();
    assert_eq!(
        shared
            .principals
            .add(&ada, &shared.new_principal(&[]))
            .unwrap_err()
            .code(),
        Code::InvalidInput
    );
    shared.principals.revoke(&ada).unwrap();
    let refused = write(
        &node.services,
        Draft::new("another note"),
        SecretPolicy::Refuse,
    )
    .unwrap_err();
    insta::assert_snapshot!(
        format!("{}: {refused}\n{}", refused.code().as_str(), refused.hint().unwrap_or_default()),
        @"
    UNAUTHORIZED: the database does not accept the token of this home
    it was revoked, or is from another database: ask the owner of the database for a new one, and pass it to `memory shared init --token`
    "
    );
    assert_eq!(
        code_of(search(&node.services, &Query::new("note"))),
        Some(Code::Unauthorized)
    );
    assert_eq!(
        code_of(delete(&node.services, &id)),
        Some(Code::Unauthorized)
    );
    assert_eq!(
        code_of(shared.node("mem_00").services.store.refresh()),
        Some(Code::Unauthorized)
    );
    assert_eq!(
        shared.principals.revoke(&ada).unwrap_err().code(),
        Code::InvalidInput
    );
    // A new token restores the access.
    let again = shared.add("ada", &[]);
    assert_ne!(again, token);
    assert_eq!(hits(&shared.node(&again), "private note"), 1);
    let hashes = shared.sql(
        "owner",
        "",
        "SELECT count(*) FROM memory_principals WHERE length(token_hash) = 32",
    );
    assert_eq!(hashes, "1");
}

#[test]
fn a_private_memory_reaches_another_node_only_while_it_is_shared() {
    let Some(shared) = SharedDatabase::new("private memories") else {
        return;
    };
    let ada = shared.node(&shared.add("ada", &["team:web"]));
    let bob = shared.node(&shared.add("bob", &["team:web"]));
    let carol = shared.node(&shared.add("carol", &[]));
    let id = write_into(&ada, "the zebra hint", "private:ada");
    write_into(&ada, "the okapi of the agent", "agent:claude");
    let path = ada.services.store.get_by(&id).unwrap().path;
    assert!(path.ends_with("@private-ada.md"), "{path}");
    assert_eq!(scopes(&ada), ["agent:claude", "private:ada"]);
    for other in [&bob, &carol] {
        assert_eq!(
            (
                hits(other, "zebra"),
                has_text(other, "zebra"),
                has_text(other, "okapi")
            ),
            (0, false, false)
        );
        assert_eq!(other.services.history.records().count(), 0);
    }
    // A name in use reveals nothing: the same text and title can be written.
    write_into(&bob, "the zebra hint", "private:bob");
    assert_eq!(scopes(&bob), ["private:bob"]);
    move_into(&ada, &id, "team:web");
    assert_eq!(
        (scopes(&bob), hits(&carol, "zebra")),
        (vec!["private:bob".to_owned(), "team:web".into()], 0)
    );
    assert!(
        ada.services
            .store
            .get_by(&id)
            .unwrap()
            .path
            .ends_with("@team-web.md")
    );
    // A member of the team edits it, and the journal names the member.
    update(
        &bob.services,
        &id,
        &content_patch("the zebra hint of the team"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    assert_eq!(ada.content(&id), "the zebra hint of the team");
    assert_eq!(
        ada.services
            .history
            .records()
            .next()
            .unwrap()
            .unwrap()
            .operation
            .by,
        "bob/test"
    );
    move_into(&ada, &id, "private:ada");
    assert_eq!(
        (scopes(&bob), hits(&bob, "team")),
        (vec!["private:bob".to_owned()], 0)
    );
    undo(&ada.services, None).unwrap();
    assert_eq!(
        (scopes(&bob).len(), bob.content(&id)),
        (2, "the zebra hint of the team".to_owned())
    );
    move_into(&ada, &id, "private:ada");
    assert_eq!((scopes(&bob).len(), has_text(&carol, "zebra")), (1, false));
    // A new node of each principal has the same memories.
    assert_eq!(scopes(&ada), ["agent:claude", "private:ada"]);
    assert_eq!(
        scopes(&shared.owner()),
        ["agent:claude", "private:ada", "private:bob"]
    );
}

#[test]
fn a_shared_version_that_is_restored_after_it_was_taken_back_is_a_memory_of_its_own() {
    let Some(shared) = SharedDatabase::new("restored versions") else {
        return;
    };
    let ada = shared.node(&shared.add("ada", &["team:web"]));
    let bob = shared.node(&shared.add("bob", &["team:web"]));
    let id = write_into(&ada, "the zebra hint", "private:ada");
    let restored_by = |node: &Node| {
        node.services.store.refresh().unwrap();
        let (_, outcome) = restore(&node.services, &id).unwrap();
        let ChangeOutcome::Kept { id, path } = outcome else {
            panic!("{outcome:?}")
        };
        (id.to_string(), path)
    };
    // The memory leaves the team by an update, by an undo, and by a restored private version.
    move_into(&ada, &id, "team:web");
    assert_eq!(scopes(&bob), ["team:web"]);
    move_into(&ada, &id, "private:ada");
    assert_eq!(scopes(&bob), [""; 0]);
    let (copy, path) = restored_by(&bob);
    assert!(
        copy != id && path.ends_with(&format!("-{}@team-web.md", &copy[..8])),
        "{path}"
    );
    assert_eq!(bob.content(&copy), "the zebra hint");
    // Nobody is in the way of the other.
    assert_eq!(scopes(&ada), ["private:ada", "team:web"]);
    update(
        &ada.services,
        &id,
        &content_patch("the private zebra"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    update(
        &ada.services,
        &copy,
        &content_patch("the zebra of the team"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    assert_eq!(bob.content(&copy), "the zebra of the team");
    assert!(!has_text(&bob, "the private zebra"));
    move_into(&ada, &id, "team:web");
    assert_eq!(scopes(&bob), ["team:web", "team:web"]);
    undo(&ada.services, None).unwrap();
    assert_eq!(scopes(&bob), ["team:web"]);
    let (second, _) = restored_by(&bob);
    assert!(second != id && second != copy);
    // A memory that was deleted for everybody gets its id back.
    delete(&bob.services, &copy).unwrap();
    assert_eq!(
        restore(&bob.services, &copy).unwrap().1,
        ChangeOutcome::Kept {
            id: copy.parse().unwrap(),
            path: path.clone()
        }
    );
    delete(&ada.services, &second).unwrap();
    assert_eq!(
        (scopes(&ada), scopes(&bob)),
        (
            vec!["private:ada".to_owned(), "team:web".into()],
            vec!["team:web".to_owned()]
        )
    );
}

#[test]
fn nobody_writes_a_memory_with_the_id_of_one_that_they_do_not_read() {
    let Some(shared) = SharedDatabase::new("memories with one id") else {
        return;
    };
    let ada = shared.node(&shared.add("ada", &["team:web"]));
    let bob = shared.node(&shared.add("bob", &["team:web"]));
    let id = write_into(&ada, "the zebra hint", "private:ada");
    for scope in ["global", "team:web", "private:bob"] {
        let draft = Draft {
            scope: scope.parse().unwrap(),
            ..Draft::new("another text")
        };
        let memory = draft.into_memory(id.parse().unwrap(), bob.services.clock.now());
        let mut set = bob.services.change_set(Verb::Import);
        set.changes.push(Change::Create {
            memory: Box::new(memory),
            front_matter: String::new(),
        });
        assert_eq!(
            bob.services
                .store
                .commit(Checked::allowed(&set))
                .unwrap_err()
                .code(),
            Code::Conflict,
            "{scope}"
        );
    }
    update(
        &ada.services,
        &id,
        &content_patch("the changed hint"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    assert_eq!(ada.content(&id), "the changed hint");
    assert_eq!(
        (scopes(&ada), scopes(&bob)),
        (vec!["private:ada".to_owned()], Vec::new())
    );
}

#[test]
fn the_file_of_a_shared_memory_has_no_words_of_former_versions() {
    let Some(shared) = SharedDatabase::new("names of shared files") else {
        return;
    };
    let ada = shared.node(&shared.add("ada", &["team:web"]));
    let bob = shared.node(&shared.add("bob", &["team:web"]));
    let id = write_into(&ada, "the zebra is secret", "private:ada");
    update(
        &ada.services,
        &id,
        &content_patch("deploy on Tuesdays"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    move_into(&ada, &id, "team:web");
    assert_eq!(scopes(&bob), ["team:web"]);
    let files = bob.home.files("");
    assert!(
        files
            .keys()
            .any(|path| path.contains("/deploy-on-tuesdays-")),
        "{:?}",
        files.keys()
    );
    assert!(
        files.iter().all(|(path, bytes)| !path.contains("zebra")
            && !bytes.windows(5).any(|part| part == b"zebra"))
    );
}

#[test]
fn a_scope_that_is_granted_or_withdrawn_appears_or_disappears_with_its_history() {
    let Some(shared) = SharedDatabase::new("granted scopes") else {
        return;
    };
    let ada = shared.node(&shared.add("ada", &["team:web"]));
    let bob = shared.node(&shared.add("bob", &[]));
    let scope = |text: &str| text.parse::<Scope>().unwrap();
    let id = write_into(&ada, "the zebra deploys", "team:web");
    for number in 0..3 {
        update(
            &ada.services,
            &id,
            &content_patch(&format!("the zebra deploys {number}")),
            None,
            SecretPolicy::Refuse,
        )
        .unwrap();
    }
    let global = write_into(&bob, "a global note", "global");
    assert_eq!(scopes(&bob), ["global"]);
    let denied = write(
        &bob.services,
        Draft {
            scope: scope("team:web"),
            ..Draft::new("no")
        },
        SecretPolicy::Refuse,
    )
    .unwrap_err();
    insta::assert_snapshot!(
        format!("{}: {denied}\n{}", denied.code().as_str(), denied.hint().unwrap_or_default()),
        @"
    PERMISSION_DENIED: bob has no access to team:web
    the owner of the database grants it with `memory shared principal grant NAME SCOPE`
    "
    );
    shared
        .principals
        .grant(
            &scope("private:bob"),
            &scope("team:web"),
            AccessLevel::Writer,
        )
        .unwrap();
    assert_eq!(
        (scopes(&bob), bob.content(&id)),
        (
            vec!["global".to_owned(), "team:web".into()],
            "the zebra deploys 2".to_owned()
        )
    );
    update(
        &bob.services,
        &id,
        &content_patch("the zebra deploys for bob"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    assert_eq!(ada.content(&id), "the zebra deploys for bob");
    shared
        .principals
        .ungrant(&scope("private:bob"), &scope("team:web"))
        .unwrap();
    assert_eq!(scopes(&bob), ["global"]);
    // No file contains it, neither the index nor its log.
    let files = bob.home.files("");
    assert!(
        files.contains_key("index/documents.db"),
        "{:?}",
        files.keys()
    );
    for (path, bytes) in files {
        assert!(
            !bytes
                .windows(5)
                .any(|part| part == b"zebra" || part == b"ZEBRA"),
            "{path}"
        );
    }
    // What was not in the lost scope remains, and is usable.
    update(
        &bob.services,
        &global,
        &content_patch("a changed global note"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    assert_eq!(ada.content(&global), "a changed global note");
    // A project that a team was granted.
    shared
        .principals
        .grant(
            &scope("team:web"),
            &scope("project:api"),
            AccessLevel::Writer,
        )
        .unwrap();
    write_into(&ada, "a note of the project", "project:api");
    assert_eq!(scopes(&ada), ["global", "project:api", "team:web"]);
    assert_eq!(scopes(&bob), ["global"]);
    for (grantee, granted) in [
        ("private:nobody", "team:web"),
        ("team:web", "team:api"),
        ("private:bob", "private:ada"),
        ("global", "team:web"),
    ] {
        assert_eq!(
            shared
                .principals
                .grant(&scope(grantee), &scope(granted), AccessLevel::Writer)
                .unwrap_err()
                .code(),
            Code::InvalidInput,
            "{grantee}"
        );
    }
    assert!(
        shared
            .principals
            .ungrant(&scope("private:bob"), &scope("team:web"))
            .is_err()
    );
}

#[test]
fn without_the_database_a_principal_writes_and_its_scopes_are_checked_when_it_is_back() {
    let claim = "a principal without its database";
    let Some(server) = PostgresServer::start() else {
        return report_skipped(claim, "there is no initdb");
    };
    let shared = SharedDatabase::on(&server);
    let limits = || DatabaseLimits {
        restart: Duration::ZERO,
        ..DatabaseLimits::default()
    };
    let (ada_token, bob_token) = (
        shared.add("ada", &["team:web"]),
        shared.add("bob", &["team:web"]),
    );
    let node = |token: &str| {
        Node::new(Arc::new(
            open_with(&server, &shared.name, "node", limits()).with_token(token),
        ))
    };
    let (ada, bob) = (node(&ada_token), node(&bob_token));
    let shared_id = write_into(&ada, "the zebra of the team", "team:web");
    let (private_id, lost_id) = (
        write_into(&ada, "the private zebra", "private:ada"),
        write_into(&ada, "a note", "team:web"),
    );
    assert_eq!(scopes(&bob), ["team:web", "team:web"]);
    server.control(&["-w", "-m", "fast", "stop"]);
    // Everything that does not need the database works, and the default scope is that of the principal.
    let store = |node: &Node, token: &str| {
        let database = open_with(&server, &shared.name, "node", limits()).with_token(token);
        super::replicas::open(node.home.path(), Arc::new(database), Duration::ZERO)
    };
    let principal = store(&ada, &ada_token).principal().unwrap().unwrap();
    assert_eq!(
        (
            principal.name.as_str(),
            principal.private_scope().to_string()
        ),
        ("ada", "private:ada".to_owned())
    );
    let offline = write_into(&ada, "a zebra without a network", "private:ada");
    move_into(&ada, &private_id, "team:web");
    update(
        &ada.services,
        &shared_id,
        &content_patch("the offline zebra of the team"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    delete(&ada.services, &lost_id).unwrap();
    assert_eq!((hits(&ada, "zebra"), hits(&bob, "zebra")), (3, 1));
    server.control(&["-w", "start"]);
    ada.services.store.refresh().unwrap();
    assert_eq!(scopes(&bob), ["team:web", "team:web"]);
    assert_eq!(
        (
            bob.content(&shared_id).as_str(),
            bob.content(&private_id).as_str()
        ),
        ("the offline zebra of the team", "the private zebra")
    );
    assert!(!has_text(&bob, "without a network"));
    assert_eq!(ada.content(&offline), "a zebra without a network");
    let queued = || {
        store(&ada, &ada_token)
            .shared_store_status()
            .unwrap()
            .unwrap()
            .queued
    };
    assert_eq!(queued(), 0);
    // The team is withdrawn while the node is offline: what was written for the team becomes private proposals.
    server.control(&["-w", "-m", "fast", "stop"]);
    update(
        &ada.services,
        &shared_id,
        &content_patch("a late zebra"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    write_into(&ada, "a late note for the team", "team:web");
    write_into(&ada, "a late private note", "private:ada");
    server.control(&["-w", "start"]);
    shared
        .principals
        .ungrant(
            &"private:ada".parse().unwrap(),
            &"team:web".parse().unwrap(),
        )
        .unwrap();
    assert_eq!(
        (scopes(&ada), queued()),
        (vec!["private:ada".to_owned(); 2], 0)
    );
    let texts = |filter: &Filter| {
        let page = ada
            .services
            .store
            .list(filter, &PageRequest::default(), ada.services.clock.now())
            .unwrap();
        let mut texts: Vec<_> = page
            .memories
            .into_iter()
            .map(|stored| stored.memory.content)
            .collect();
        texts.sort();
        texts
    };
    assert_eq!(
        texts(&Filter::default()),
        ["a late private note", "a zebra without a network"]
    );
    let proposals = Filter {
        proposals: ProposalFilter::Only,
        scope: Some("private:ada".parse().unwrap()),
        ..Filter::all()
    };
    assert_eq!(
        texts(&proposals),
        ["a late note for the team", "a late zebra"]
    );
    assert_eq!(bob.content(&shared_id), "the offline zebra of the team");
    assert!(!has_text(&bob, "late"));
}

#[test]
fn an_operation_on_several_scopes_has_on_each_node_the_part_that_it_may_read() {
    let Some(shared) = SharedDatabase::new("operations on several scopes") else {
        return;
    };
    let ada = shared.node(&shared.add("ada", &["team:web"]));
    let bob = shared.node(&shared.add("bob", &[]));
    let ids: Vec<_> = ["private:ada", "global", "team:web"]
        .iter()
        .map(|scope| write_into(&ada, &format!("in {scope}"), scope))
        .collect();
    let pin = |id: &String| {
        let stored = ada.services.store.get_by(id).unwrap();
        Change::Replace {
            expected: stored.stamp,
            memory: Box::new(Memory {
                pinned: true,
                ..stored.memory
            }),
        }
    };
    let set = ChangeSet {
        changes: ids.iter().map(pin).collect(),
        ..ChangeSet::new(ada.services.operation(Verb::Update))
    };
    ada.services.store.commit(Checked::allowed(&set)).unwrap();
    assert_eq!(scopes(&bob), ["global"]);
    let record = bob.services.history.records().next().unwrap().unwrap();
    assert_eq!(
        bob.services.history.changes(&record.operation.id).count(),
        1
    );
    assert!(bob.services.store.get_by(&ids[1]).unwrap().memory.pinned);
    undo(&ada.services, None).unwrap();
    assert!(!bob.services.store.get_by(&ids[1]).unwrap().memory.pinned);
    // The rest of known operations arrives with a new grant.
    shared
        .principals
        .grant(
            &Scope::Private("bob".into()),
            &Scope::Team("web".into()),
            AccessLevel::Writer,
        )
        .unwrap();
    assert_eq!(scopes(&bob), ["global", "team:web"]);
    assert!(!has_text(&bob, "in private:ada"));
}

#[test]
fn the_owner_changes_a_memory_of_an_agent_without_taking_it_from_its_principal() {
    let Some(shared) = SharedDatabase::new("memories of agents of principals") else {
        return;
    };
    let token = shared.add("ada", &[]);
    let (ada, bob, owner) = (
        shared.node(&token),
        shared.node(&shared.add("bob", &[])),
        shared.owner(),
    );
    let id = write_into(&ada, "a note of the agent", "agent:claude");
    update(
        &owner.services,
        &id,
        &content_patch("a note of the agent, corrected"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    assert_eq!(ada.content(&id), "a note of the agent, corrected");
    assert_eq!(scopes(&bob), [""; 0]);
    assert_eq!(
        shared.sql("owner", "", "SELECT scope FROM memory_documents"),
        "private:ada"
    );
    // A version from before it was shared returns to its own scope.
    move_into(&ada, &id, "global");
    assert_eq!(scopes(&bob), ["global"]);
    let trashed = ada.services.history.trashed().next().unwrap().unwrap();
    ada.services
        .history
        .restore(&trashed, &ada.services.operation(Verb::Restore))
        .unwrap();
    assert_eq!(
        (scopes(&ada), scopes(&bob).len()),
        (vec!["agent:claude".to_owned()], 0)
    );
    // A replica of one principal is not used with the token of another one.
    let other =
        Arc::new(open(shared.server, &shared.name, "node").with_token(&shared.add("carol", &[])));
    let store = FileStore::open_replica(
        ada.home.path(),
        FileStoreOptions::default(),
        other,
        Duration::ZERO,
    )
    .unwrap();
    assert_eq!(code_of(store.refresh()), Some(Code::InvalidInput));
}

#[test]
fn a_node_neither_creates_tables_nor_bypasses_the_policies() {
    let Some(shared) = SharedDatabase::new("nodes without tables") else {
        return;
    };
    assert_eq!(
        code_of(shared.node("mem_00").services.store.refresh()),
        Some(Code::PermissionDenied)
    );
    assert_eq!(shared.tables("true"), [""; 0]);
    let token = shared.add("ada", &[]);
    // A superuser bypasses all policies, so a node with a token does not run as one.
    let superuser = Database::new(
        &shared.server.address(&shared.name),
        DatabaseLimits::default(),
    )
    .unwrap()
    .with_token(&token);
    let refused = Node::new(Arc::new(superuser))
        .services
        .store
        .refresh()
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the user of the database bypasses the access control of memories"
    );
    let add = |role: &str| {
        shared
            .principals
            .add(
                &"eve".parse().unwrap(),
                &NewPrincipal {
                    role,
                    ..shared.new_principal(&[])
                },
            )
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        add("postgres"),
        "the role postgres bypasses the access control of memories"
    );
    assert_eq!(
        add("absent_role"),
        "the database has no role absent_role; create it with CREATE ROLE \"absent_role\" LOGIN PASSWORD 'PASSWORD'"
    );
    let as_node = PrincipalTable::new(Arc::new(
        open(shared.server, &shared.name, "node").with_token(&token),
    ));
    assert_eq!(as_node.list().unwrap_err().code(), Code::PermissionDenied);
    let as_node = PrincipalTable::new(Arc::new(open(shared.server, &shared.name, "node")));
    assert_eq!(
        as_node.revoke(&"ada".parse().unwrap()).unwrap_err().code(),
        Code::PermissionDenied
    );
    let without_token = Node::new(Arc::new(open(shared.server, &shared.name, "node")))
        .services
        .store
        .refresh()
        .unwrap_err();
    insta::assert_snapshot!(without_token.to_string(), @"the user of the database does not own the tables, and this home has no token");
    let everyone = |action: &str| {
        let sql = format!(
            "{action} SELECT (path) ON memory_documents {} PUBLIC",
            if action == "GRANT" { "TO" } else { "FROM" }
        );
        shared.server.sql(&shared.name, &sql)
    };
    everyone("GRANT");
    let refused = format!(
        "the role {} has privileges on memory_documents through another role or PUBLIC",
        shared.node_role()
    );
    assert_eq!(add(&shared.node_role()), refused);
    everyone("REVOKE");
    // A role with objects of its own could have them called by others.
    shared.server.sql(
        &shared.name,
        &format!("GRANT CREATE ON SCHEMA public TO {}", shared.node_role()),
    );
    assert_eq!(
        add(&shared.node_role()),
        format!(
            "the role {} may create objects in the database",
            shared.node_role()
        )
    );
    // The functions run as the owner of the tables, so the policies must apply to it.
    let own = Arc::new(
        Database::new(
            &shared.server.address(&shared.server.database()),
            DatabaseLimits::default(),
        )
        .unwrap(),
    );
    let refused = PrincipalTable::new(own)
        .add(&"eve".parse().unwrap(), &shared.new_principal(&[]))
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the owner of the tables bypasses the access control of memories"
    );
}
