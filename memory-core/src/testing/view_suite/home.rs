//! Generates homes with memories of several agents.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use proptest::collection::vec;
use proptest::prelude::*;
use uuid::Uuid;

use crate::secret::Checked;
use crate::{
    Change, ChangeOutcome, ChangeSet, Draft, Memory, MemoryId, Operation, OperationId,
    PrincipalAccess, Reminder, Scope, Services, Verb, View,
};

/// Number of scopes.
pub(super) const SCOPES: usize = 11;

/// Returns one of the scopes; the first five are within the view of an agent on the node of the principal.
pub(super) fn scope(number: usize) -> Scope {
    match number % SCOPES {
        0 => Scope::Global,
        1 => Scope::Agent("own".into()),
        2 => Scope::Project("ours".into()),
        3 => principal().private_scope(),
        4 => Scope::Team("ours".into()),
        5 => Scope::Agent("other".into()),
        6 => Scope::Agent("own2".into()),
        7 => Scope::Project("theirs".into()),
        8 => Scope::Private("other".into()),
        9 => Scope::Team("theirs".into()),
        _ => Scope::Conversation("talk".into()),
    }
}

/// The owner of the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Viewer {
    /// An agent on the node of the principal.
    Agent,
    /// The principal, with an agent, at the server of a node without a token.
    Principal,
}

pub(super) fn any_viewer() -> impl Strategy<Value = Viewer> {
    prop_oneof![Just(Viewer::Agent), Just(Viewer::Principal)]
}

impl Viewer {
    pub(super) fn view(self) -> View {
        let principal = (self == Self::Principal).then(principal);
        View {
            agent: Some("own".parse().expect("a name")),
            project: Some("ours".into()),
            principal,
        }
    }

    /// Returns the principal of the node.
    pub(super) fn node_principal(self) -> Option<PrincipalAccess> {
        (self == Self::Agent).then(principal)
    }

    /// Returns whether memories in a scope are in the view.
    pub(super) fn sees(self, scope: &Scope) -> bool {
        match (self, scope) {
            (_, Scope::Global) => true,
            (_, Scope::Private(name)) => name == "me",
            (_, Scope::Team(name)) | (Self::Agent, Scope::Project(name)) => name == "ours",
            (Self::Agent, Scope::Agent(name)) => name == "own",
            (Self::Principal, Scope::Project(name)) => name == "theirs",
            (Self::Principal, Scope::Agent(_)) | (_, Scope::Conversation(_)) => false,
        }
    }
}

/// Returns the principal who uses the home.
fn principal() -> PrincipalAccess {
    PrincipalAccess {
        name: "me".into(),
        scopes: vec![Scope::Team("ours".into()), Scope::Project("theirs".into())],
        read_only: Vec::new(),
    }
}

/// A memory that exists before the calls.
#[derive(Debug, Clone)]
pub(super) struct PlantedMemory {
    scope: usize,
    has_title: bool,
    links: Vec<usize>,
    wikilinks: Vec<usize>,
    is_reminder: bool,
    of: Option<usize>,
    is_own: bool,
    past: PlantedHistory,
}

/// The change of a planted memory before the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlantedHistory {
    Kept,
    Removed,
    /// Moved to its scope from the global one, if it is outside the view.
    Moved,
}

pub(super) fn any_planted() -> impl Strategy<Value = PlantedMemory> {
    let past = prop_oneof![4 => Just(PlantedHistory::Kept), 1 => Just(PlantedHistory::Removed), 1 => Just(PlantedHistory::Moved)];
    let names = (vec(0..10_usize, 0..3), vec(0..10_usize, 0..3));
    let reminds = (prop::bool::weighted(0.3), proptest::option::of(0..10_usize));
    (
        0..SCOPES,
        any::<bool>(),
        names,
        reminds,
        any::<bool>(),
        past,
    )
        .prop_map(
            |(scope, has_title, (links, wikilinks), (is_reminder, of), is_own, past)| {
                PlantedMemory {
                    scope,
                    has_title,
                    links,
                    wikilinks,
                    is_reminder,
                    of,
                    is_own,
                    past,
                }
            },
        )
}

/// Returns the id of a planted memory. All of them have a common prefix.
pub(super) fn id(number: usize) -> MemoryId {
    let first = 0xabcd_0000_u128 + number as u128;
    MemoryId::from(Uuid::from_u128(
        first << 96 | 0x4000 << 64 | 0x8000 << 48 | number as u128,
    ))
}

/// Returns a word that occurs only in the text of the memory.
///
/// It does not occur in the file name, which the agent may name.
pub(super) fn secret(number: usize) -> String {
    format!("hush{number}hush")
}

impl PlantedMemory {
    pub(super) fn is_seen(&self, viewer: Viewer) -> bool {
        viewer.sees(&scope(self.scope))
    }

    /// Returns the text of the memory `number`.
    pub(super) fn text(&self, number: usize) -> String {
        let links: Vec<String> = self
            .wikilinks
            .iter()
            .map(|other| format!("[[Name{other}]]"))
            .collect();
        format!(
            "tea for word{number}\n\n{}, see {}",
            secret(number),
            links.join(" ")
        )
    }

    fn memory(&self, number: usize, at: DateTime<Utc>) -> Memory {
        let draft = Draft {
            title: self.has_title.then(|| format!("Name{number}")),
            aliases: if self.has_title {
                Vec::new()
            } else {
                vec![format!("Name{number}")]
            },
            tags: ["shared".to_owned(), format!("tag{number}")]
                .iter()
                .collect(),
            scope: scope(self.scope),
            reminder: self.is_reminder.then(|| Reminder {
                of: self.of.map(id),
                ..Reminder::new(at)
            }),
            ..Draft::new(&self.text(number))
        };
        Memory {
            links: self.links.iter().map(|other| id(*other)).collect(),
            ..draft.into_memory(id(number), at)
        }
    }
}

/// Creates the memories, and returns the stems of their files.
///
/// Unless `all` is set, those outside the view are left out.
pub(super) fn plant(
    services: &Services,
    viewer: Viewer,
    planted: &[PlantedMemory],
    all: bool,
) -> BTreeMap<usize, String> {
    let mut stems = BTreeMap::new();
    for (number, own) in planted
        .iter()
        .enumerate()
        .filter(|(_, own)| all || own.is_seen(viewer))
    {
        let at = DateTime::UNIX_EPOCH
            + TimeDelta::days(20_000)
            + TimeDelta::hours(i64::try_from(number).unwrap_or_default());
        let mut operations = 0xf000_0000_0000 + 16 * number as u64;
        let mut commit = |verb: Verb, by: &str, change: Change| {
            operations += 1;
            let (id, by) = (OperationId::from_random(operations), by.to_owned());
            let set = ChangeSet {
                changes: vec![change],
                ..ChangeSet::new(Operation { id, verb, by, at })
            };
            services
                .store
                .commit(Checked::allowed(&set))
                .expect("it is kept")
                .remove(0)
        };
        let view = viewer.view();
        let actor = if own.is_own {
            view.actor()
        } else {
            "test".into()
        };
        let is_moved = own.past == PlantedHistory::Moved && !own.is_seen(viewer);
        let memory = own.memory(number, at);
        let first = Memory {
            scope: if is_moved {
                Scope::Global
            } else {
                memory.scope.clone()
            },
            ..memory.clone()
        };
        let made = commit(
            Verb::Write,
            &actor,
            Change::Create {
                memory: Box::new(first),
                front_matter: String::new(),
            },
        );
        if is_moved {
            let expected = services.store.get(&memory.id).expect("it is there").stamp;
            commit(
                Verb::Update,
                "test",
                Change::Replace {
                    expected,
                    memory: Box::new(memory),
                },
            );
        }
        if own.past == PlantedHistory::Removed {
            commit(
                Verb::Delete,
                &actor,
                Change::Remove {
                    id: id(number),
                    expected: None,
                },
            );
        }
        let (ChangeOutcome::Kept { path, .. }
        | ChangeOutcome::Duplicate { path, .. }
        | ChangeOutcome::Removed { path, .. }) = made;
        let stem = path
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .trim_end_matches(".md");
        stems.insert(number, stem.to_owned());
    }
    stems
}
