//! Undos by principals: an operation claims to revert another one only if it does.

use std::fmt::Write;
use std::time::Duration;

use memory_core::secret::Checked;
use memory_core::testing::history_suite;
use memory_core::{
    Change, ChangeSet, Code, LARGE_OPERATION, Memory, MemoryStoreExt, OperationId, Patch,
    SecretPolicy, Verb, delete, undo, update,
};

use super::access::{SharedDatabase, write_into};
use super::replicas::{Node, content_patch, open};
use super::server::shared_server;
use crate::home::{TestHome, services};

/// Calls of functions of nodes that append an operation on one scope, without a node.
struct Forgery<'s> {
    shared: &'s SharedDatabase<'static>,
    scope: &'s str,
    position: i64,
    token: String,
}

impl<'s> Forgery<'s> {
    const OPERATION: &'static str = "0123456789ab";

    /// Begins with the current head of a scope.
    fn new(shared: &'s SharedDatabase<'static>, scope: &'s str) -> Self {
        let find =
            format!("SELECT position, token FROM memory_document_heads WHERE scope = '{scope}'");
        let head = shared.server.sql(&shared.name, &find);
        let (position, token) = head.split_once('|').unwrap();
        Self {
            shared,
            scope,
            position: position.parse().unwrap(),
            token: token.to_owned(),
        }
    }

    /// Returns a call that appends an operation, and moves the file of a memory to the trash if there is one.
    fn append(&self, former: Option<&CurrentFile>) -> String {
        let Self {
            scope,
            position,
            token,
            ..
        } = self;
        let former = former.map_or("'{}', '{}', '{}', '{}', '{}', '{}'".to_owned(), |CurrentFile { id, path, hash, .. }| {
            format!("'{{0}}', '{{{scope}}}', '{{{id}}}', '{{{path}}}', ARRAY[decode('{hash}', 'hex')], '{{{}}}'", Self::trash())
        });
        format!(
            "SELECT memory_node_append('{{{scope}}}', '{{{position}}}', '{{{token}}}', {position}, '{}', 5, 'undo', 'cli', \
            '2026-11-26T10:00:00Z', 0::smallint, {former}, NULL)",
            Self::OPERATION
        )
    }

    /// Returns a call that adds a change of a memory to the operation, which claims to undo another one.
    fn change(
        &self,
        undoes: &str,
        id: &str,
        former: Option<&CurrentFile>,
        next: Option<&CurrentFile>,
    ) -> String {
        let (scope, position) = (self.scope, self.position + 1);
        let array = |value: Option<String>| {
            value.map_or("'{NULL}'".to_owned(), |value| format!("ARRAY[{value}]"))
        };
        let text = |value: Option<&str>| array(value.map(|value| format!("'{value}'")));
        let bytes =
            |value: Option<&str>| array(value.map(|value| format!("decode('{value}', 'hex')")));
        let trash = Self::trash();
        format!(
            "SELECT memory_node_append_changes('{{{scope}}}', {position}, '{}', 5, '{undoes}', '{{0}}', '{{{id}}}', {}, {}, {}, {}, {}, {}, \
            {}, '{{NULL}}', {}, '{{ideas}}', '{{organized}}', '{{a}}', '{{NULL}}', '{{NULL}}', '{{NULL}}', '{{cli}}')",
            Self::OPERATION,
            text(Some(scope)),
            text(former.map(|file| file.path.as_str())),
            bytes(former.map(|file| file.hash.as_str())),
            text(former.map(|_| trash.as_str())),
            text(next.map(|_| scope)),
            text(next.map(|file| file.path.as_str())),
            bytes(next.map(|file| file.hash.as_str())),
            bytes(next.map(|file| file.content.as_str())),
        )
    }

    fn trash() -> String {
        format!("trash/2026-11/{}/a.md", Self::OPERATION)
    }

    /// Returns the current file of a memory.
    fn file(&self, id: &str) -> CurrentFile {
        let find = format!(
            "SELECT path, encode(hash, 'hex'), encode(content, 'hex') FROM memory_documents WHERE scope = '{}' AND id = '{id}'",
            self.scope
        );
        let found = self.shared.server.sql(&self.shared.name, &find);
        let [path, hash, content] = found
            .split('|')
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .try_into()
            .unwrap();
        CurrentFile {
            id: id.to_owned(),
            path,
            hash,
            content,
        }
    }
}

/// A file; the hash and the content are hexadecimal.
#[derive(Debug, Clone)]
struct CurrentFile {
    id: String,
    path: String,
    hash: String,
    content: String,
}

impl CurrentFile {
    /// Returns the file of another memory with the same content.
    fn with_id(&self, id: &str) -> Self {
        let content = decode(&self.content).replace(&self.id, id);
        Self {
            path: self.path.replacen('/', "/x", 2),
            ..self.with_content(id, &content)
        }
    }

    fn with_content(&self, id: &str, content: &str) -> Self {
        let hash = memory_core::ContentHash::from_bytes(content.as_bytes());
        Self {
            id: id.to_owned(),
            path: self.path.clone(),
            hash: encode(hash.as_bytes()),
            content: encode(content.as_bytes()),
        }
    }
}

/// Returns bytes as hexadecimal digits.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut digits = String::new();
    bytes
        .iter()
        .try_for_each(|byte| write!(digits, "{byte:02x}"))
        .unwrap();
    digits
}

fn decode(hex: &str) -> String {
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    String::from_utf8((0..hex.len()).step_by(2).map(byte).collect()).unwrap()
}

/// Returns the id of the last operation.
fn last_operation(node: &Node) -> OperationId {
    node.services
        .history
        .records()
        .next()
        .unwrap()
        .unwrap()
        .operation
        .id
}

fn change(node: &Node, id: &str, text: &str) -> OperationId {
    update(
        &node.services,
        id,
        &content_patch(text),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    last_operation(node)
}

/// Pins memories in one operation.
fn pin(node: &Node, ids: &[String]) -> OperationId {
    let pinned = |id: &String| {
        let stored = node.services.store.get_by(id).unwrap();
        Change::Replace {
            expected: stored.stamp,
            memory: Box::new(Memory {
                pinned: true,
                ..stored.memory
            }),
        }
    };
    let set = ChangeSet {
        changes: ids.iter().map(pinned).collect(),
        ..ChangeSet::new(node.services.operation(Verb::Update))
    };
    node.services.store.commit(Checked::allowed(&set)).unwrap();
    set.operation.id
}

fn is_undone(node: &Node, operation: &OperationId) -> bool {
    node.services.store.refresh().unwrap();
    let found = node
        .services
        .history
        .records()
        .find(|record| record.as_ref().unwrap().operation.id == *operation);
    found.unwrap().unwrap().undone_by.is_some()
}

#[test]
fn a_principal_keeps_the_promises_of_a_history() {
    let Some(server) = shared_server("the promises of the history of a principal") else {
        return;
    };
    let homes = std::cell::RefCell::new(Vec::new());
    history_suite(&|| {
        let shared = SharedDatabase::on(server);
        let database = shared.database(&shared.add("ada", &["project:tea", "project:api"]));
        let home = TestHome::new();
        let made = services(open(home.path(), database, Duration::ZERO));
        homes.borrow_mut().push(home);
        made
    });
}

#[test]
fn an_operation_that_does_not_revert_another_one_cannot_claim_to_undo_it() {
    let Some(shared) = SharedDatabase::new("forged undos") else {
        return;
    };
    let (ada_token, bob_token) = (
        shared.add("ada", &["team:web"]),
        shared.add("bob", &["team:web"]),
    );
    let (ada, bob) = (shared.node(&ada_token), shared.node(&bob_token));
    let (id, other) = (
        write_into(&ada, "the first text", "team:web"),
        write_into(&ada, "another note", "team:web"),
    );
    let hidden = write_into(&ada, "a private note", "private:ada");
    let hidden = change(&ada, &hidden, "a changed private note");
    let undone = change(&ada, &id, "the second text");
    let forgery = Forgery::new(&shared, "team:web");
    let (current, further) = (forgery.file(&id), forgery.file(&other));
    let edited = current.with_content(&id, &decode(&current.content).replace("second", "third"));
    let own = "01234567-0123-7000-8000-0123456789ab";
    let created = current.with_id(own);
    for (what, undoes, id, former, next) in [
        (
            "a file is left that was not changed",
            &undone,
            id.as_str(),
            None,
            None,
        ),
        (
            "a file is left that the operation did not change",
            &undone,
            &other,
            None,
            None,
        ),
        ("another text", &undone, &id, Some(&current), Some(&edited)),
        (
            "a deletion in place of a former version",
            &undone,
            &id,
            Some(&current),
            None,
        ),
        (
            "another memory is deleted",
            &undone,
            &other,
            Some(&further),
            None,
        ),
        ("a new memory", &undone, own, None, Some(&created)),
        (
            "an operation in no scope of the principal",
            &hidden,
            own,
            None,
            Some(&created),
        ),
        (
            "no operation",
            &"ffffffffffff".parse().unwrap(),
            &other,
            Some(&further),
            None,
        ),
    ] {
        let calls = format!(
            "{}; {}",
            forgery.append(former),
            forgery.change(undoes.as_str(), id, former, next)
        );
        let refused = shared.error("node", &bob_token, &calls);
        assert_eq!(
            refused, "ERROR:  the operation does not revert the other one",
            "{what}"
        );
    }
    // Without changes, the claim has no effect; a deletion without a change is in the log and can be undone.
    let none = forgery
        .change(undone.as_str(), &id, None, None)
        .replace("'{0}'", "'{}'");
    let none = none
        .replace(&format!("'{{{id}}}'"), "'{}'")
        .replace("'{NULL}'", "'{}'")
        .replace("ARRAY['team:web']", "'{}'");
    let none = ["ideas", "organized", "a", "cli"]
        .iter()
        .fold(none, |call, word| {
            call.replace(&format!("'{{{word}}}'"), "'{}'")
        });
    shared.sql(
        "node",
        &bob_token,
        &format!("{}; {none}", forgery.append(Some(&current))),
    );
    assert_eq!(
        shared.sql(
            "owner",
            "",
            "SELECT count(*) FROM memory_document_operations WHERE undoes IS NOT NULL"
        ),
        "0"
    );
    assert!(!is_undone(&ada, &undone));
    assert_eq!(
        ada.services.store.get_by(&id).unwrap_err().code(),
        Code::MemoryNotFound
    );
    undo(&ada.services, Some(Forgery::OPERATION)).unwrap();
    assert_eq!(ada.content(&id), "the second text");
    // Real undos, of two principals at the same time, and the undo of an undo.
    undo(&bob.services, Some(undone.as_str())).unwrap();
    let again = ada
        .services
        .history
        .revert(&undone, &ada.services.operation(Verb::Undo))
        .unwrap_err();
    assert_eq!(
        (again.code(), again.to_string()),
        (
            Code::OperationNotFound,
            format!("operation {undone} was already undone")
        )
    );
    assert!(is_undone(&ada, &undone) && ada.content(&id) == "the first text");
    undo(&ada.services, Some(last_operation(&bob).as_str())).unwrap();
    assert!(!is_undone(&bob, &undone) && bob.content(&id) == "the second text");
    undo(&ada.services, Some(undone.as_str())).unwrap();
    assert!(is_undone(&bob, &undone) && bob.content(&id) == "the first text");
}

#[test]
fn a_large_undo_leaves_changed_memories_and_names_them_only_to_their_readers() {
    let Some(shared) = SharedDatabase::new("large undos") else {
        return;
    };
    let (ada, bob) = (
        shared.node(&shared.add("ada", &["team:web"])),
        shared.node(&shared.add("bob", &["team:web"])),
    );
    let scope = |number: usize| {
        if number.is_multiple_of(2) {
            "team:web"
        } else {
            "private:ada"
        }
    };
    let ids: Vec<_> = (0..2 * LARGE_OPERATION)
        .map(|number| write_into(&ada, &format!("note {number}"), scope(number)))
        .collect();
    let pinned = pin(&ada, &ids);
    change(&bob, &ids[0], "changed by bob");
    change(&ada, &ids[1], "changed by ada");
    assert_eq!(
        undo(&ada.services, Some(pinned.as_str()))
            .unwrap()
            .left
            .len(),
        2
    );
    for node in [&ada, &bob] {
        assert!(is_undone(node, &pinned));
        assert!(node.services.store.get_by(&ids[0]).unwrap().memory.pinned);
        assert!(!node.services.store.get_by(&ids[2]).unwrap().memory.pinned);
    }
    assert!(
        bob.files()
            .values()
            .all(|bytes| !String::from_utf8_lossy(bytes).contains(&ids[1]))
    );
    // The undo of the undo repeats the operation, except for the memories that were left.
    undo(&ada.services, Some(last_operation(&ada).as_str())).unwrap();
    assert!(!is_undone(&bob, &pinned) && bob.services.store.get_by(&ids[2]).unwrap().memory.pinned);
}

#[test]
fn a_principal_undoes_its_part_of_an_operation_and_the_author_the_rest() {
    let Some(shared) = SharedDatabase::new("parts of undos") else {
        return;
    };
    let (ada, bob) = (
        shared.node(&shared.add("ada", &["team:web"])),
        shared.node(&shared.add("bob", &["team:web"])),
    );
    for scopes in [["team:web", "private:ada"], ["private:ada", "team:web"]] {
        let ids = scopes.map(|scope| write_into(&ada, &format!("in {scope} first"), scope));
        let is_pinned = |id: &String| ada.services.store.get_by(id).unwrap().memory.pinned;
        let pinned = pin(&ada, &ids);
        undo(&bob.services, Some(pinned.as_str())).unwrap();
        assert!(is_undone(&bob, &pinned) && !is_undone(&ada, &pinned));
        let of_team = usize::from(scopes[1] == "team:web");
        assert_eq!(
            (is_pinned(&ids[of_team]), is_pinned(&ids[1 - of_team])),
            (false, true)
        );
        undo(&ada.services, Some(pinned.as_str())).unwrap();
        assert!(is_undone(&ada, &pinned) && !is_pinned(&ids[1 - of_team]));
        for id in &ids {
            delete(&ada.services, id).unwrap();
        }
    }
    // A memory that leaves a private scope is not back in it when the team deletes it.
    let id = write_into(&ada, "a note to share", "private:ada");
    let patch = Patch {
        scope: Some("team:web".parse().unwrap()),
        ..Patch::default()
    };
    update(&ada.services, &id, &patch, None, SecretPolicy::Refuse).unwrap();
    let shared_by = last_operation(&ada);
    assert_eq!(
        bob.services.store.refresh().map_err(|error| error.code()),
        Ok(())
    );
    undo(&bob.services, Some(shared_by.as_str())).unwrap();
    ada.services.store.refresh().unwrap();
    assert_eq!(
        ada.services.store.get_by(&id).unwrap_err().code(),
        Code::MemoryNotFound
    );
    memory_core::restore(&ada.services, &id).unwrap();
    assert_eq!(ada.content(&id), "a note to share");
}
