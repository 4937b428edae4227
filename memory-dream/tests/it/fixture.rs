//! A test fixture with memories and a clock.

use std::ops::ControlFlow;
use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use memory_core::testing::{FakeClock, services};
use memory_core::{
    Category, Draft, Filter, MemStore, Memory, MemoryId, SecretPolicy, Services, Verb, upgrade,
    write,
};
use memory_dream::{DreamReport, DreamRequest, DreamRules, DreamTask, ProgressCallback, dream};

pub(crate) fn dream_request(tasks: &[DreamTask], is_rehearsal: bool) -> DreamRequest<'_, Utc> {
    DreamRequest {
        verb: Verb::Dream,
        tasks,
        rules: DreamRules::default(),
        is_rehearsal,
        zone: &Utc,
        recalls: None,
    }
}

/// A memory store with a clock that advances only on request.
pub(crate) struct DreamFixture {
    pub services: Services,
    pub clock: Arc<FakeClock>,
}

impl DreamFixture {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(FakeClock::default());
        let services = Services {
            clock: Arc::clone(&clock) as _,
            ..services(Arc::new(MemStore::default()))
        };
        Self { services, clock }
    }

    pub(crate) fn write(&self, text: &str) -> MemoryId {
        write(&self.services, Draft::new(text), SecretPolicy::Refuse)
            .expect("it is written")
            .id
    }

    pub(crate) fn file(&self, text: &str, category: Category) -> MemoryId {
        let id = self.write(text);
        upgrade(&self.services, &id.to_string(), Some(category)).expect("it is filed");
        id
    }

    pub(crate) fn advance_days(&self, days: i64) {
        self.clock.advance(TimeDelta::days(days));
    }

    pub(crate) fn read(&self, id: MemoryId, times: usize) {
        self.services.store.count_access(&vec![id; times]);
    }

    pub(crate) fn dream(&self, tasks: &[DreamTask]) -> DreamReport {
        self.with(tasks, false)
    }

    pub(crate) fn with(&self, tasks: &[DreamTask], is_rehearsal: bool) -> DreamReport {
        let mut go_on = |_| ControlFlow::Continue(());
        dream(
            &self.services,
            &dream_request(tasks, is_rehearsal),
            &mut ProgressCallback::new(&mut go_on),
        )
        .expect("it is done")
    }

    pub(crate) fn all(&self) -> Vec<Memory> {
        let now = self.services.clock.now();
        self.services
            .store
            .memories(&Filter::all(), now)
            .map(|stored| stored.expect("it is read").memory)
            .collect()
    }

    pub(crate) fn get(&self, id: MemoryId) -> Option<Memory> {
        self.services
            .store
            .get(&id)
            .ok()
            .map(|stored| stored.memory)
    }
}
