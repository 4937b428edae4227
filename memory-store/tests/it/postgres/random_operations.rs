//! Random operations on two nodes, compared with a map.

use std::collections::BTreeMap;
use std::sync::Arc;

use memory_core::secret::Checked;
use memory_core::testing::FakeClock;
use memory_core::{
    Category, Change, ChangeSet, Clock, Code, Draft, Filter, MemoryStoreExt, Patch, Query, Scope,
    SecretPolicy, Services, Verb, delete, restore, search, undo, update, write,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::replicas::Node;
use super::server::{PostgresServer, shared_server};

const MAX_STEPS: usize = 20;

/// A step on one of the nodes. Numbers choose among the existing memories or operations.
#[derive(Debug, Clone)]
struct Step {
    node: usize,
    action: Action,
    /// Whether both nodes read afterwards. Otherwise the other node is behind at its next step.
    is_checked: bool,
}

#[derive(Debug, Clone)]
enum Action {
    Write {
        scope: usize,
        category: usize,
    },
    Content(usize),
    Move {
        memory: usize,
        scope: usize,
        category: usize,
    },
    Delete(usize),
    /// Removes, replaces and creates memories in one operation.
    Several {
        removed: usize,
        replaced: usize,
        scope: usize,
    },
    Undo(usize),
    Restore(usize),
}

/// A version of a memory. Two versions are equal if and only if their files are.
#[derive(Debug, Clone, PartialEq)]
struct Version {
    number: usize,
    content: String,
    scope: Scope,
    category: Category,
}

/// An operation: the memories that it changed, with their former and next versions.
struct ModelOperation {
    id: String,
    changes: Vec<(String, Option<Version>, Option<Version>)>,
    undoes: Option<usize>,
}

/// The expected memories and operations.
#[derive(Default)]
struct Model {
    memories: BTreeMap<String, Version>,
    operations: Vec<ModelOperation>,
    /// The ids of deleted memories.
    deleted: Vec<String>,
    versions: usize,
}

impl Model {
    fn new_version(&mut self, scope: Scope, category: Category) -> Version {
        self.versions += 1;
        Version {
            number: self.versions,
            content: format!("text {} 部署 of the team", self.versions),
            scope,
            category,
        }
    }

    fn record(
        &mut self,
        id: String,
        changes: Vec<(String, Option<Version>)>,
        undoes: Option<usize>,
    ) {
        let changes = changes.into_iter().map(|(memory, next)| {
            let former = match &next {
                Some(next) => self.memories.insert(memory.clone(), next.clone()),
                None => self.memories.remove(&memory),
            };
            self.deleted.retain(|deleted| *deleted != memory);
            if next.is_none() {
                self.deleted.push(memory.clone());
            }
            (memory, former, next)
        });
        let changes = changes.collect();
        self.operations.push(ModelOperation {
            id,
            changes,
            undoes,
        });
    }

    fn is_undone(&self, number: usize) -> bool {
        let undos = self.operations.iter().enumerate().skip(number + 1);
        undos
            .filter(|(_, undo)| undo.undoes == Some(number))
            .any(|(undo, _)| !self.is_undone(undo))
    }

    /// Returns the error of an undo, or the versions that it restores.
    fn undo(&self, number: usize) -> Result<Vec<(String, Option<Version>)>, Code> {
        let operation = &self.operations[number];
        if self.is_undone(number) {
            return Err(Code::InvalidInput);
        }
        if operation
            .changes
            .iter()
            .any(|(memory, _, next)| self.memories.get(memory) != next.as_ref())
        {
            return Err(Code::Conflict);
        }
        Ok(operation
            .changes
            .iter()
            .rev()
            .map(|(memory, former, _)| (memory.clone(), former.clone()))
            .collect())
    }

    /// Returns the version of a deleted memory that a restore brings back.
    fn last_trashed(&self, memory: &str) -> Option<Version> {
        let done = self
            .operations
            .iter()
            .enumerate()
            .rev()
            .filter(|(number, _)| !self.is_undone(*number));
        let mut former = done.flat_map(|(_, operation)| operation.changes.iter().rev());
        former.find_map(|(changed, former, _)| former.clone().filter(|_| changed == memory))
    }

    fn pick(&self, number: usize) -> Option<String> {
        self.memories
            .keys()
            .nth(number % self.memories.len().max(1))
            .cloned()
    }
}

fn scope(number: usize) -> Scope {
    [
        Scope::Global,
        Scope::Agent("coder".into()),
        Scope::Project("site".into()),
    ][number % 3]
        .clone()
}

fn category(number: usize) -> Category {
    [Category::Inbox, Category::Decisions, Category::Lessons][number % 3]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let number = 0..1_000_usize;
    let two = || (number.clone(), number.clone());
    let action = prop_oneof![
        4 => two().prop_map(|(scope, category)| Action::Write { scope, category }),
        3 => number.clone().prop_map(Action::Content),
        2 => (two(), number.clone()).prop_map(|((memory, scope), category)| Action::Move { memory, scope, category }),
        2 => number.clone().prop_map(Action::Delete),
        2 => (two(), number.clone()).prop_map(|((removed, replaced), scope)| Action::Several { removed, replaced, scope }),
        3 => number.clone().prop_map(Action::Undo),
        2 => number.clone().prop_map(Action::Restore),
    ];
    let step = (0..2_usize, action, any::<bool>()).prop_map(|(node, action, is_checked)| Step {
        node,
        action,
        is_checked,
    });
    prop::collection::vec(step, 4..MAX_STEPS)
}

#[test]
fn random_operations_on_two_nodes_leave_the_memories_of_a_map() {
    let Some(server) = shared_server("random operations on two nodes") else {
        return;
    };
    let mut runner = TestRunner::new(Config {
        cases: memory_core::testing::extent(8, 64),
        failure_persistence: None,
        ..Config::default()
    });
    let run = |steps: Vec<Step>| {
        check(server, &steps);
        Ok(())
    };
    runner.run(&steps(), run).unwrap();
}

fn check(server: &PostgresServer, steps: &[Step]) {
    let (database, name) = super::open(server);
    // A common clock, so that no two versions have the same times.
    let clock: Arc<dyn Clock> = Arc::new(FakeClock::default());
    let with_clock = |node: Node| Node {
        services: Services {
            clock: Arc::clone(&clock),
            ..node.services
        },
        ..node
    };
    let nodes = [Node::new(database), Node::new(super::reopen(server, &name))].map(with_clock);
    let mut model = Model::default();
    for step in steps {
        run(&nodes[step.node].services, &step.action, &mut model);
        for node in nodes.iter().filter(|_| step.is_checked) {
            assert_eq!(memories(&node.services), expected(&model), "{step:?}");
        }
    }
    let new = [(); 2].map(|()| with_clock(Node::new(super::reopen(server, &name))));
    let first = &nodes[0];
    for node in [&nodes[1], &new[0], &new[1]] {
        assert_eq!(memories(&node.services), expected(&model));
        // Operations without a common scope may be in another order.
        assert_eq!(node.sorted_files(), first.sorted_files());
        assert_eq!(results(&node.services), results(&first.services));
    }
    assert_eq!(new[0].files(), new[1].files());
    let count = |table: &str| server.sql(&name, &format!("SELECT count(*) FROM {table}"));
    assert_eq!(count("memory_documents"), model.memories.len().to_string());
    let former = model
        .operations
        .iter()
        .flat_map(|operation| &operation.changes)
        .filter(|(_, former, _)| former.is_some());
    assert_eq!(count("memory_documents_trash"), former.count().to_string());
}

/// Performs an action on a node and on the model.
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn run(services: &Services, action: &Action, model: &mut Model) {
    let last_operation = || {
        services
            .history
            .records()
            .next()
            .unwrap()
            .unwrap()
            .operation
            .id
            .to_string()
    };
    match *action {
        Action::Write {
            scope: place,
            category: kind,
        } => {
            let next = model.new_version(scope(place), category(kind));
            let draft = Draft {
                scope: next.scope.clone(),
                category: Some(next.category).filter(|kind| *kind != Category::Inbox),
                ..Draft::new(&next.content)
            };
            let id = write(services, draft, SecretPolicy::Refuse)
                .unwrap()
                .id
                .to_string();
            model.record(last_operation(), vec![(id, Some(next))], None);
        }
        Action::Content(memory) => {
            let Some(id) = model.pick(memory) else { return };
            let former = model.memories[&id].clone();
            let next = model.new_version(former.scope, former.category);
            let patch = Patch {
                content: Some(next.content.clone()),
                ..Patch::default()
            };
            update(services, &id, &patch, None, SecretPolicy::Refuse).unwrap();
            model.record(last_operation(), vec![(id, Some(next))], None);
        }
        Action::Move {
            memory,
            scope: place,
            category: kind,
        } => {
            let Some(id) = model.pick(memory) else { return };
            let next = Version {
                scope: scope(place),
                category: category(kind),
                ..model.memories[&id].clone()
            };
            if next == model.memories[&id] {
                return;
            }
            let patch = Patch {
                scope: Some(next.scope.clone()),
                category: Some(next.category),
                ..Patch::default()
            };
            update(services, &id, &patch, None, SecretPolicy::Refuse).unwrap();
            model.versions += 1;
            let next = Version {
                number: model.versions,
                ..next
            };
            model.record(last_operation(), vec![(id, Some(next))], None);
        }
        Action::Delete(memory) => {
            let Some(id) = model.pick(memory) else { return };
            delete(services, &id).unwrap();
            model.record(last_operation(), vec![(id, None)], None);
        }
        Action::Several {
            removed,
            replaced,
            scope: place,
        } => {
            let (Some(removed), Some(replaced)) = (model.pick(removed), model.pick(replaced))
            else {
                return;
            };
            if removed == replaced {
                return;
            }
            let mut stored = services.store.get_by(&replaced).unwrap();
            let next = model.new_version(scope(place), model.memories[&replaced].category);
            stored.memory.content.clone_from(&next.content);
            stored.memory.scope = next.scope.clone();
            let new = model.new_version(scope(place + 1), Category::Inbox);
            let draft = Draft {
                scope: new.scope.clone(),
                ..Draft::new(&new.content)
            };
            let memory = draft.into_memory(services.ids.memory_id(), services.clock.now());
            let new_id = memory.id.to_string();
            let changes = vec![
                Change::Remove {
                    id: services.store.find(&removed).unwrap(),
                    expected: None,
                },
                Change::Replace {
                    expected: stored.stamp,
                    memory: Box::new(stored.memory),
                },
                Change::Create {
                    memory: Box::new(memory),
                    front_matter: String::new(),
                },
            ];
            let set = ChangeSet {
                changes,
                ..ChangeSet::new(services.operation(Verb::Import))
            };
            services.store.commit(Checked::allowed(&set)).unwrap();
            model.record(
                set.operation.id.to_string(),
                vec![(removed, None), (replaced, Some(next)), (new_id, Some(new))],
                None,
            );
        }
        Action::Undo(operation) => {
            if model.operations.is_empty() {
                return;
            }
            let number = operation % model.operations.len();
            let undone = undo(services, Some(&model.operations[number].id));
            match model.undo(number) {
                Ok(changes) => {
                    model.record(undone.unwrap().undo.to_string(), changes, Some(number));
                }
                Err(code) => {
                    assert_eq!(undone.map(|_| ()).map_err(|error| error.code()), Err(code));
                }
            }
        }
        Action::Restore(memory) => {
            let Some(id) = model
                .deleted
                .get(memory % model.deleted.len().max(1))
                .cloned()
            else {
                return;
            };
            let restored = restore(services, &id);
            match model.last_trashed(&id) {
                Some(version) => {
                    restored.unwrap();
                    model.record(last_operation(), vec![(id, Some(version))], None);
                }
                None => assert_eq!(restored.unwrap_err().code(), Code::TrashNotFound),
            }
        }
    }
}

/// Returns the content, scope and category of each memory of a node.
fn memories(services: &Services) -> BTreeMap<String, (String, Scope, Category)> {
    services.store.refresh().unwrap();
    let memories = services
        .store
        .memories(&Filter::all(), services.clock.now())
        .map(Result::unwrap);
    memories
        .map(|stored| stored.memory)
        .map(|one| (one.id.to_string(), (one.content, one.scope, one.category)))
        .collect()
}

fn expected(model: &Model) -> BTreeMap<String, (String, Scope, Category)> {
    let memories = model.memories.iter();
    memories
        .map(|(id, one)| {
            (
                id.clone(),
                (one.content.clone(), one.scope.clone(), one.category),
            )
        })
        .collect()
}

/// Returns the results of searches with their explanations, which contain the statistics of the index.
fn results(services: &Services) -> Vec<String> {
    // Each node searches at the same time.
    let services = Services {
        clock: Arc::new(FakeClock::default()),
        ..services.clone()
    };
    let hits = |query: &str| {
        let found = search(&services, &Query::new(query)).unwrap();
        found
            .hits
            .into_iter()
            .map(|hit| format!("{} {} {:?}", hit.stored.path, hit.score, hit.explanation))
            .collect::<Vec<_>>()
    };
    ["text 1", "部署", "team text 7", "scope:agent:coder team"]
        .into_iter()
        .flat_map(hits)
        .collect()
}
