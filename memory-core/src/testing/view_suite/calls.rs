//! Generates and executes the calls of an agent.

use std::collections::BTreeMap;
use std::fmt::Debug;

use chrono::{TimeDelta, Utc};
use proptest::prelude::*;

use super::home::{Planted, id, scope, secret};
use crate::{
    Change, Draft, Filter, Given, MemoryId, MemoryStoreExt, Order, Patch, Query, Ranking, ReminderFilter, Revision, Secrets,
    Services, Slice, StoreError, Tags, Verb, backlinks, context, delete, link, list, pending, read, remind, remind_of, reminders,
    resolve_links, resolve_links_of, restore, revise, search, smart_search, snooze, tag, undo, unlink, update, upgrade, write,
};

/// A reference to a memory.
#[derive(Debug, Clone)]
pub(super) enum Named {
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
pub(super) enum Said {
    New(usize),
    /// The text of a planted memory.
    Same(usize),
    LinkTo(usize),
}

#[derive(Debug, Clone)]
pub(super) enum Call {
    Write(Said, usize),
    Read(Named),
    List(Option<usize>, Option<usize>),
    Search(String, Option<usize>),
    SmartSearch(usize),
    Context(usize),
    Tag(Named),
    Link(Named, Named),
    Unlink(Named, Named),
    Backlinks(Named),
    Rewrite(Named, Said),
    Move(Named, usize),
    Supersede(Named, usize),
    Revise(Named),
    File(Named),
    Delete(Named),
    Undo(Option<Undone>),
    Restore(Named),
    Remind(Said, usize),
    RemindOf(Named),
    Snooze(Named),
    Reminders,
    Follow(usize),
    FollowAll,
    Records,
    Trash,
    Outlines,
    /// A change that no use case makes: a link to an arbitrary memory.
    Forge(Named, usize),
}

/// The operation to undo.
#[derive(Debug, Clone, Copy)]
pub(super) enum Undone {
    Before(usize),
    LastOfAll,
}

fn any_named() -> impl Strategy<Value = Named> {
    let number = 0..10_usize;
    prop_oneof![
        3 => number.clone().prop_map(Named::Whole),
        2 => number.clone().prop_map(Named::Short),
        1 => number.clone().prop_map(Named::Stem),
        1 => Just(Named::Alike),
        3 => number.prop_map(Named::Own),
        1 => Just(Named::Unknown),
    ]
}

fn any_said() -> impl Strategy<Value = Said> {
    let number = 0..10_usize;
    prop_oneof![number.clone().prop_map(Said::New), number.clone().prop_map(Said::Same), number.prop_map(Said::LinkTo)]
}

pub(super) fn any_call() -> impl Strategy<Value = Call> {
    let scopes = || proptest::option::of(0..7_usize);
    let words = prop_oneof![
        Just("tea".to_owned()),
        (0..10_usize).prop_map(|number| format!("word{number}")),
        (0..10_usize).prop_map(|number| format!("tea -word{number}")),
        (0..10_usize).prop_map(|number| format!("wor* tag:tag{number}")),
        (0..7_usize).prop_map(|number| format!("tea scope:{}", scope(number))),
        (0..10_usize).prop_map(|number| format!("Name{number}")),
        Just("other talk".to_owned()),
    ];
    prop_oneof![
        3 => (any_said(), 0..7_usize).prop_map(|(said, scope)| Call::Write(said, scope)),
        2 => any_named().prop_map(Call::Read),
        2 => (scopes(), proptest::option::of(0..10_usize)).prop_map(|(scope, tag)| Call::List(scope, tag)),
        3 => (words, scopes()).prop_map(|(words, scope)| Call::Search(words, scope)),
        1 => (0..10_usize).prop_map(Call::SmartSearch),
        1 => (0..10_usize).prop_map(Call::Context),
        1 => any_named().prop_map(Call::Tag),
        2 => (any_named(), any_named()).prop_map(|(one, other)| Call::Link(one, other)),
        1 => (any_named(), any_named()).prop_map(|(one, other)| Call::Unlink(one, other)),
        2 => any_named().prop_map(Call::Backlinks),
        1 => (any_named(), any_said()).prop_map(|(named, said)| Call::Rewrite(named, said)),
        1 => (any_named(), 0..7_usize).prop_map(|(named, scope)| Call::Move(named, scope)),
        1 => (any_named(), 0..10_usize).prop_map(|(named, by)| Call::Supersede(named, by)),
        1 => any_named().prop_map(Call::Revise),
        1 => any_named().prop_map(Call::File),
        3 => any_named().prop_map(Call::Delete),
        3 => Just(Call::Undo(None)),
        1 => (0..3_usize).prop_map(|before| Call::Undo(Some(Undone::Before(before)))),
        1 => Just(Call::Undo(Some(Undone::LastOfAll))),
        2 => any_named().prop_map(Call::Restore),
        1 => (any_said(), 0..7_usize).prop_map(|(said, scope)| Call::Remind(said, scope)),
        1 => any_named().prop_map(Call::RemindOf),
        1 => any_named().prop_map(Call::Snooze),
        1 => Just(Call::Reminders),
        1 => (0..10_usize).prop_map(Call::Follow),
        1 => Just(Call::FollowAll),
        1 => Just(Call::Records),
        1 => Just(Call::Trash),
        1 => Just(Call::Outlines),
        1 => (any_named(), 0..10_usize).prop_map(|(named, other)| Call::Forge(named, other)),
    ]
}

impl Call {
    /// Returns whether the call contains the text of the planted memory `number`.
    ///
    /// Later results may then repeat this text.
    pub(super) fn tells(&self, number: usize) -> bool {
        let (Self::Write(said, _) | Self::Rewrite(_, said) | Self::Remind(said, _)) = self else { return false };
        matches!(said, Said::Same(other) if *other == number)
    }
}

/// An agent with its knowledge.
#[derive(Debug)]
pub(super) struct Caller<'h> {
    services: Services,
    planted: &'h [Planted],
    stems: &'h BTreeMap<usize, String>,
    written: Vec<MemoryId>,
}

impl<'h> Caller<'h> {
    pub(super) fn new(services: Services, planted: &'h [Planted], stems: &'h BTreeMap<usize, String>) -> Self {
        Self { services, planted, stems, written: Vec::new() }
    }

    /// Executes a call, and returns its result as text.
    pub(super) fn call(&mut self, call: &Call) -> String {
        let services = &self.services;
        let name = |named: &Named| self.name(named);
        let patched = |named: &Named, patch: Patch| told(update(services, &name(named), &patch, None, Secrets::Refuse));
        match call {
            Call::Write(said, place) => {
                let draft = Draft { scope: scope(*place), ..Draft::new(&self.text(said)) };
                let written = write(services, draft, Secrets::Refuse);
                self.written.extend(written.as_ref().ok().map(|written| written.id));
                told(written)
            }
            Call::Read(named) => told(read(services, &name(named))),
            Call::List(place, label) => {
                let tags = label.map(|number| format!("tag{number}")).iter().collect();
                let filter = Filter { scope: place.map(scope), tags, ..Filter::everything() };
                told(list(services, &filter, &Slice { order: Order::Title, offset: 0, limit: Some(4) }))
            }
            Call::Search(text, place) => {
                let filter = Filter { scope: place.map(scope), ..Filter::everything() };
                let query = Query { text: text.clone(), filter, limit: 50, ranking: Ranking::default() };
                found(search(services, &query).map(|found| (found.hits, found.total, found.degraded)))
            }
            Call::SmartSearch(number) => {
                let asked = format!("word{number} tea");
                let answer = smart_search(services, &asked, &Filter::default(), 50, &services.clock.now());
                found(answer.map(|answer| (answer.found.hits, answer.found.total, answer.found.degraded)))
            }
            Call::Context(number) => {
                let asked = format!("tea, word{number}?");
                let told = context(services, &asked, 4_000, &Given::default(), &services.clock.now());
                let mut ids = told.map(|told| told.memories.into_iter().map(|stored| stored.memory.content).collect::<Vec<_>>());
                if let Ok(ids) = &mut ids {
                    ids.sort_unstable();
                }
                format!("{ids:?}")
            }
            Call::Tag(named) => told(tag(services, &name(named), ["new"].iter().collect(), Tags::default())),
            Call::Link(one, other) => told(link(services, &name(one), &name(other))),
            Call::Unlink(one, other) => told(unlink(services, &name(one), &name(other))),
            Call::Backlinks(named) => told(backlinks(services, &name(named))),
            Call::Rewrite(named, said) => patched(named, Patch { content: Some(self.text(said)), ..Patch::default() }),
            Call::Move(named, place) => patched(named, Patch { scope: Some(scope(*place)), ..Patch::default() }),
            Call::Supersede(named, by) => patched(named, Patch { superseded_by: Some(Some(id(*by))), ..Patch::default() }),
            Call::Revise(named) => {
                let revision = Revision { old: "tea".into(), new: "milk".into(), version: None };
                told(revise(services, &name(named), &revision, Secrets::Refuse))
            }
            Call::File(named) => told(upgrade(services, &name(named), None)),
            Call::Delete(named) => told(delete(services, &name(named))),
            Call::Undo(None) => told(undo(services, None)),
            Call::Undo(Some(which)) => match self.operation(*which) {
                Some(operation) => told(undo(services, Some(&operation))),
                None => told(undo(services, None)),
            },
            Call::Restore(named) => told(restore(services, &name(named))),
            Call::Remind(said, place) => {
                let draft = Draft { scope: scope(*place), ..Draft::new(&self.text(said)) };
                let at = services.clock.now() + TimeDelta::days(1);
                told(remind(services, draft, Some(at), &Utc, Secrets::Refuse))
            }
            Call::RemindOf(named) => {
                let at = services.clock.now() + TimeDelta::days(1);
                told(remind_of(services, &name(named), Some(at), &Utc))
            }
            Call::Snooze(named) => told(snooze(services, &name(named), services.clock.now() + TimeDelta::days(2))),
            Call::Reminders => told((reminders(services, ReminderFilter::All, Some(3)), pending(services, &Utc)).0),
            Call::Follow(number) => told(resolve_links_of(services, &[id(*number)], None)),
            Call::FollowAll => told(resolve_links(services)),
            Call::Records => told(services.history.records().collect::<Result<Vec<_>, _>>()),
            Call::Trash => told(services.history.trashed().collect::<Result<Vec<_>, _>>()),
            Call::Outlines => told(services.store.outlines()),
            Call::Forge(named, other) => told(self.forge(&name(named), id(*other))),
        }
    }

    fn name(&self, named: &Named) -> String {
        match named {
            Named::Whole(number) => id(*number).to_string(),
            Named::Short(number) => id(*number).short(),
            Named::Stem(number) => self.stems.get(number).cloned().unwrap_or_else(|| "none-abcdffff".into()),
            Named::Alike => "abcd".into(),
            Named::Own(number) if !self.written.is_empty() => self.written[number % self.written.len()].to_string(),
            Named::Own(_) | Named::Unknown => "12345678-0000-4000-8000-000000000000".into(),
        }
    }

    fn text(&self, said: &Said) -> String {
        match said {
            Said::New(number) => format!("something new, {number}"),
            Said::Same(number) => self.planted.get(*number).map_or_else(|| secret(*number), |own| own.text(*number)),
            Said::LinkTo(number) => format!("see [[Name{number}]] and [[{}]]", id(*number)),
        }
    }

    fn operation(&self, which: Undone) -> Option<String> {
        let records: Vec<_> = self.services.history.records().filter_map(Result::ok).collect();
        let record = match which {
            Undone::Before(number) => records.get(number),
            Undone::LastOfAll => records.last(),
        };
        record.map(|record| record.id.to_string())
    }

    /// Adds a link to one memory only, without the backlink.
    fn forge(&self, name: &str, other: MemoryId) -> Result<(), StoreError> {
        let stored = self.services.store.get_by(name)?;
        let mut operation = self.services.operation(Verb::Update);
        let patch = Patch { add_links: vec![other], ..Patch::default() };
        let Some(memory) = patch.apply(&stored.memory, operation.at) else { return Ok(()) };
        operation.changes.push(Change::Replace { expected: stored.stamp, memory: Box::new(memory) });
        self.services.store.commit(&operation).map(drop)
    }
}

fn told<T: Debug>(result: Result<T, StoreError>) -> String {
    match result {
        Ok(told) => format!("{told:?}"),
        Err(error) => format!("{error:?}: {error} ({})", error.code()),
    }
}

/// Formats the hits by id, because the weight of a word may depend on the length of hidden memories.
fn found(found: Result<(Vec<crate::Hit>, u64, Option<String>), StoreError>) -> String {
    told(found.map(|(hits, total, degraded)| {
        let mut stored: Vec<_> = hits.into_iter().map(|hit| (hit.stored.memory.id, hit.stored, hit.snippet)).collect();
        stored.sort_by_key(|(id, ..)| *id);
        (stored, total, degraded)
    }))
}
