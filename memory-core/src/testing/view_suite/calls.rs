//! Generates and executes the calls of an agent.

use std::collections::BTreeMap;
use std::fmt::Debug;

use chrono::{TimeDelta, Utc};
use proptest::prelude::*;

use super::home::{PlantedMemory, SCOPES, id, scope, secret};
use crate::secret::Checked;
use crate::{
    Change, Draft, Filter, ListOrder, MemoryId, MemoryStoreExt, PageRequest, Patch, Query, Ranking,
    ReminderFilter, Revision, SecretPolicy, Services, ShownMemories, StoreError, Tags, Verb,
    backlinks, build_context, delete, link, list, pending, read, remind, remind_of_memory,
    reminders, resolve_links, resolve_links_both_ways, restore, revise, search, smart_search,
    snooze, tag, undo, unlink, update, upgrade, write,
};

/// A reference to a memory.
#[derive(Debug, Clone)]
pub(super) enum CallReference {
    Whole(usize),
    Short(usize),
    Stem(usize),
    /// The common prefix of all planted ids.
    Alike,
    /// A memory that the agent wrote.
    Own(usize),
    Unknown,
}

/// The text that the agent writes.
#[derive(Debug, Clone)]
pub(super) enum CallText {
    New(usize),
    /// The text of a planted memory.
    Same(usize),
    LinkTo(usize),
}

#[derive(Debug, Clone)]
pub(super) enum ViewCall {
    Write(CallText, usize),
    Read(CallReference),
    List(Option<usize>, Option<usize>),
    Search(String, Option<usize>),
    SmartSearch(usize),
    Context(usize),
    Tag(CallReference),
    Link(CallReference, CallReference),
    Unlink(CallReference, CallReference),
    Backlinks(CallReference),
    Rewrite(CallReference, CallText),
    Move(CallReference, usize),
    Supersede(CallReference, usize),
    Revise(CallReference),
    File(CallReference),
    Delete(CallReference),
    Undo(Option<UndoTarget>),
    Restore(CallReference),
    Remind(CallText, usize),
    RemindOf(CallReference),
    Snooze(CallReference),
    Reminders,
    Follow(usize),
    FollowAll,
    Records,
    Trash,
    Outlines,
    /// A change that no use case makes: a link to an arbitrary memory.
    Forge(CallReference, usize),
}

/// The operation to undo.
#[derive(Debug, Clone, Copy)]
pub(super) enum UndoTarget {
    Before(usize),
    LastOfAll,
}

fn any_reference() -> impl Strategy<Value = CallReference> {
    let number = 0..10_usize;
    prop_oneof![
        3 => number.clone().prop_map(CallReference::Whole),
        2 => number.clone().prop_map(CallReference::Short),
        1 => number.clone().prop_map(CallReference::Stem),
        1 => Just(CallReference::Alike),
        3 => number.prop_map(CallReference::Own),
        1 => Just(CallReference::Unknown),
    ]
}

fn any_text() -> impl Strategy<Value = CallText> {
    let number = 0..10_usize;
    prop_oneof![
        number.clone().prop_map(CallText::New),
        number.clone().prop_map(CallText::Same),
        number.prop_map(CallText::LinkTo)
    ]
}

pub(super) fn any_call() -> impl Strategy<Value = ViewCall> {
    let scopes = || proptest::option::of(0..SCOPES);
    let words = prop_oneof![
        Just("tea".to_owned()),
        (0..10_usize).prop_map(|number| format!("word{number}")),
        (0..10_usize).prop_map(|number| format!("tea -word{number}")),
        (0..10_usize).prop_map(|number| format!("wor* tag:tag{number}")),
        (0..SCOPES).prop_map(|number| format!("tea scope:{}", scope(number))),
        (0..10_usize).prop_map(|number| format!("Name{number}")),
        Just("other talk".to_owned()),
        Just("othre tallk".to_owned()),
    ];
    prop_oneof![
        3 => (any_text(), 0..SCOPES).prop_map(|(said, scope)| ViewCall::Write(said, scope)),
        2 => any_reference().prop_map(ViewCall::Read),
        2 => (scopes(), proptest::option::of(0..10_usize)).prop_map(|(scope, tag)| ViewCall::List(scope, tag)),
        3 => (words, scopes()).prop_map(|(words, scope)| ViewCall::Search(words, scope)),
        1 => (0..10_usize).prop_map(ViewCall::SmartSearch),
        1 => (0..10_usize).prop_map(ViewCall::Context),
        1 => any_reference().prop_map(ViewCall::Tag),
        2 => (any_reference(), any_reference()).prop_map(|(one, other)| ViewCall::Link(one, other)),
        1 => (any_reference(), any_reference()).prop_map(|(one, other)| ViewCall::Unlink(one, other)),
        2 => any_reference().prop_map(ViewCall::Backlinks),
        1 => (any_reference(), any_text()).prop_map(|(named, said)| ViewCall::Rewrite(named, said)),
        1 => (any_reference(), 0..SCOPES).prop_map(|(named, scope)| ViewCall::Move(named, scope)),
        1 => (any_reference(), 0..10_usize).prop_map(|(named, by)| ViewCall::Supersede(named, by)),
        1 => any_reference().prop_map(ViewCall::Revise),
        1 => any_reference().prop_map(ViewCall::File),
        3 => any_reference().prop_map(ViewCall::Delete),
        3 => Just(ViewCall::Undo(None)),
        1 => (0..3_usize).prop_map(|before| ViewCall::Undo(Some(UndoTarget::Before(before)))),
        1 => Just(ViewCall::Undo(Some(UndoTarget::LastOfAll))),
        2 => any_reference().prop_map(ViewCall::Restore),
        1 => (any_text(), 0..SCOPES).prop_map(|(said, scope)| ViewCall::Remind(said, scope)),
        1 => any_reference().prop_map(ViewCall::RemindOf),
        1 => any_reference().prop_map(ViewCall::Snooze),
        1 => Just(ViewCall::Reminders),
        1 => (0..10_usize).prop_map(ViewCall::Follow),
        1 => Just(ViewCall::FollowAll),
        1 => Just(ViewCall::Records),
        1 => Just(ViewCall::Trash),
        1 => Just(ViewCall::Outlines),
        1 => (any_reference(), 0..10_usize).prop_map(|(named, other)| ViewCall::Forge(named, other)),
    ]
}

impl ViewCall {
    /// Returns whether the call contains the text of the planted memory `number`.
    ///
    /// Later results may then repeat this text.
    pub(super) fn contains_text(&self, number: usize) -> bool {
        let (Self::Write(said, _) | Self::Rewrite(_, said) | Self::Remind(said, _)) = self else {
            return false;
        };
        matches!(said, CallText::Same(other) if *other == number)
    }
}

/// An agent with its knowledge.
#[derive(Debug)]
pub(super) struct ViewCaller<'h> {
    services: Services,
    planted: &'h [PlantedMemory],
    stems: &'h BTreeMap<usize, String>,
    written: Vec<MemoryId>,
}

impl<'h> ViewCaller<'h> {
    pub(super) fn new(
        services: Services,
        planted: &'h [PlantedMemory],
        stems: &'h BTreeMap<usize, String>,
    ) -> Self {
        Self {
            services,
            planted,
            stems,
            written: Vec::new(),
        }
    }

    /// Executes a call, and returns its result as text.
    #[expect(clippy::too_many_lines, reason = "a list of cases")]
    pub(super) fn call(&mut self, call: &ViewCall) -> String {
        let services = &self.services;
        let name = |named: &CallReference| self.name(named);
        let patched = |named: &CallReference, patch: Patch| {
            format_result(update(
                services,
                &name(named),
                &patch,
                None,
                SecretPolicy::Refuse,
            ))
        };
        match call {
            ViewCall::Write(said, place) => {
                let draft = Draft {
                    scope: scope(*place),
                    ..Draft::new(&self.text(said))
                };
                let written = write(services, draft, SecretPolicy::Refuse);
                self.written
                    .extend(written.as_ref().ok().map(|written| written.id));
                format_result(written)
            }
            ViewCall::Read(named) => format_result(read(services, &name(named))),
            ViewCall::List(place, label) => {
                let tags = label.map(|number| format!("tag{number}")).iter().collect();
                let filter = Filter {
                    scope: place.map(scope),
                    tags,
                    ..Filter::all()
                };
                format_result(list(
                    services,
                    &filter,
                    &PageRequest {
                        order: ListOrder::Title,
                        offset: 0,
                        limit: Some(4),
                    },
                ))
            }
            ViewCall::Search(text, place) => {
                let filter = Filter {
                    scope: place.map(scope),
                    ..Filter::all()
                };
                let query = Query {
                    text: text.clone(),
                    filter,
                    limit: 50,
                    ranking: Ranking::default(),
                };
                format_hits(search(services, &query).map(|found| {
                    let corrected = found.corrected.map(|own| own.describe());
                    (found.hits, found.total, found.degraded.or(corrected))
                }))
            }
            ViewCall::SmartSearch(number) => {
                let asked = format!("word{number} tea");
                let query = Query::new(&asked).limit(50);
                let answer = smart_search(services, &query, &services.clock.now());
                format_hits(
                    answer.map(|answer| {
                        (answer.found.hits, answer.found.total, answer.found.degraded)
                    }),
                )
            }
            ViewCall::Context(number) => {
                let asked = format!("tea, word{number}?");
                let told = build_context(
                    services,
                    &asked,
                    4_000,
                    &ShownMemories::default(),
                    &services.clock.now(),
                );
                let mut ids = told.map(|told| {
                    told.memories
                        .into_iter()
                        .map(|stored| stored.memory.content)
                        .collect::<Vec<_>>()
                });
                if let Ok(ids) = &mut ids {
                    ids.sort_unstable();
                }
                format!("{ids:?}")
            }
            ViewCall::Tag(named) => format_result(tag(
                services,
                &name(named),
                ["new"].iter().collect(),
                Tags::default(),
            )),
            ViewCall::Link(one, other) => format_result(link(services, &name(one), &name(other))),
            ViewCall::Unlink(one, other) => {
                format_result(unlink(services, &name(one), &name(other)))
            }
            ViewCall::Backlinks(named) => format_result(backlinks(services, &name(named))),
            ViewCall::Rewrite(named, said) => patched(
                named,
                Patch {
                    content: Some(self.text(said)),
                    ..Patch::default()
                },
            ),
            ViewCall::Move(named, place) => patched(
                named,
                Patch {
                    scope: Some(scope(*place)),
                    ..Patch::default()
                },
            ),
            ViewCall::Supersede(named, by) => patched(
                named,
                Patch {
                    superseded_by: Some(Some(id(*by))),
                    ..Patch::default()
                },
            ),
            ViewCall::Revise(named) => {
                let revision = Revision {
                    old: "tea".into(),
                    new: "milk".into(),
                    version: None,
                };
                format_result(revise(
                    services,
                    &name(named),
                    &revision,
                    &Patch::default(),
                    SecretPolicy::Refuse,
                ))
            }
            ViewCall::File(named) => format_result(upgrade(services, &name(named), None)),
            ViewCall::Delete(named) => format_result(delete(services, &name(named))),
            ViewCall::Undo(None) => format_result(undo(services, None)),
            ViewCall::Undo(Some(which)) => match self.operation(*which) {
                Some(set) => format_result(undo(services, Some(&set))),
                None => format_result(undo(services, None)),
            },
            ViewCall::Restore(named) => format_result(restore(services, &name(named))),
            ViewCall::Remind(said, place) => {
                let draft = Draft {
                    scope: scope(*place),
                    ..Draft::new(&self.text(said))
                };
                let at = services.clock.now() + TimeDelta::days(1);
                format_result(remind(
                    services,
                    draft,
                    Some(at.into()),
                    &Utc,
                    SecretPolicy::Refuse,
                ))
            }
            ViewCall::RemindOf(named) => {
                let at = services.clock.now() + TimeDelta::days(1);
                format_result(remind_of_memory(
                    services,
                    &name(named),
                    Some(at.into()),
                    &Utc,
                ))
            }
            ViewCall::Snooze(named) => format_result(snooze(
                services,
                &name(named),
                (services.clock.now() + TimeDelta::days(2)).into(),
            )),
            ViewCall::Reminders => format_result(
                (
                    reminders(services, ReminderFilter::All, Some(3)),
                    pending(services, &Utc),
                )
                    .0,
            ),
            ViewCall::Follow(number) => {
                format_result(resolve_links_both_ways(services, &[id(*number)], None))
            }
            ViewCall::FollowAll => format_result(resolve_links(services)),
            ViewCall::Records => {
                format_result(services.history.records().collect::<Result<Vec<_>, _>>())
            }
            ViewCall::Trash => {
                format_result(services.history.trashed().collect::<Result<Vec<_>, _>>())
            }
            ViewCall::Outlines => format_result(services.store.summaries()),
            ViewCall::Forge(named, other) => format_result(self.forge(&name(named), id(*other))),
        }
    }

    fn name(&self, named: &CallReference) -> String {
        match named {
            CallReference::Whole(number) => id(*number).to_string(),
            CallReference::Short(number) => id(*number).short(),
            CallReference::Stem(number) => self
                .stems
                .get(number)
                .cloned()
                .unwrap_or_else(|| "none-abcdffff".into()),
            CallReference::Alike => "abcd".into(),
            CallReference::Own(number) if !self.written.is_empty() => {
                self.written[number % self.written.len()].to_string()
            }
            CallReference::Own(_) | CallReference::Unknown => {
                "12345678-0000-4000-8000-000000000000".into()
            }
        }
    }

    fn text(&self, said: &CallText) -> String {
        match said {
            CallText::New(number) => format!("something new, {number}"),
            CallText::Same(number) => self
                .planted
                .get(*number)
                .map_or_else(|| secret(*number), |own| own.text(*number)),
            CallText::LinkTo(number) => format!("see [[Name{number}]] and [[{}]]", id(*number)),
        }
    }

    fn operation(&self, which: UndoTarget) -> Option<String> {
        let records: Vec<_> = self
            .services
            .history
            .records()
            .filter_map(Result::ok)
            .collect();
        let record = match which {
            UndoTarget::Before(number) => records.get(number),
            UndoTarget::LastOfAll => records.last(),
        };
        record.map(|record| record.operation.id.to_string())
    }

    /// Adds a link to one memory only, without the backlink.
    fn forge(&self, name: &str, other: MemoryId) -> Result<(), StoreError> {
        let stored = self.services.store.get_by(name)?;
        let mut set = self.services.change_set(Verb::Update);
        let patch = Patch {
            add_links: vec![other],
            ..Patch::default()
        };
        let Some(memory) = patch.apply(&stored.memory, set.operation.at) else {
            return Ok(());
        };
        set.changes.push(Change::Replace {
            expected: stored.stamp,
            memory: Box::new(memory),
        });
        self.services.store.commit(Checked::allowed(&set)).map(drop)
    }
}

fn format_result<T: Debug>(result: Result<T, StoreError>) -> String {
    match result {
        Ok(told) => format!("{told:?}"),
        Err(error) => format!("{error:?}: {error} ({})", error.code()),
    }
}

/// Formats the hits by id, because the weight of a word may depend on the length of hidden memories.
fn format_hits(found: Result<(Vec<crate::Hit>, u64, Option<String>), StoreError>) -> String {
    format_result(found.map(|(hits, total, degraded)| {
        let mut stored: Vec<_> = hits
            .into_iter()
            .map(|hit| (hit.stored.memory.id, hit.score, hit.stored, hit.snippet))
            .collect();
        stored.sort_by_key(|(id, ..)| *id);
        (stored, total, degraded)
    }))
}
