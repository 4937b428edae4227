//! Views of the memories that are cached until the next change of the home: the plan of a dream, the size of the inbox, the maps of
//! the graph and the numbers of the charts.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::TimeDelta;
use memory_core::{
    Category, Filter, HomeSection, ListOrder, MemoryMap, PageRequest, Phase, ProposalFilter,
    StoreError, list, memory_map,
};

use super::request::WebRequest;
use super::state::{CachedPlan, EXPIRING_DAYS, PlannedWork};

/// Time after which a plan is made again, because memories may have reached an age.
const PLAN_LIFETIME: TimeDelta = TimeDelta::minutes(10);

impl WebRequest {
    /// Returns what automatic work would do. The plan is made again after a change of the home.
    ///
    /// # Errors
    /// If the memories cannot be read.
    pub(super) fn plan(&self) -> Result<Arc<PlannedWork>, StoreError> {
        let (host, now) = (&self.web.config.host, self.services.clock.now());
        // Another request for the plan waits for this one.
        let mut cached = self.web.plan.lock().unwrap_or_else(PoisonError::into_inner);
        let mark = host.change_mark();
        if let Some(known) = cached
            .as_ref()
            .filter(|known| known.mark == mark && now - known.at < PLAN_LIFETIME)
        {
            return Ok(Arc::clone(&known.plan));
        }
        let planner = host.planner(self.services.clone());
        let plan = Arc::new(PlannedWork {
            refinements: planner.plan()?,
            expiring: planner.expiring(TimeDelta::days(EXPIRING_DAYS))?,
        });
        *cached = Some(CachedPlan {
            mark,
            at: now,
            plan: Arc::clone(&plan),
        });
        Ok(plan)
    }

    /// Returns the map of the notes, or of those in a category.
    ///
    /// # Errors
    /// If the memories cannot be read.
    pub(super) fn memory_map(
        &self,
        category: Option<Category>,
    ) -> Result<Arc<MemoryMap>, StoreError> {
        let mark = self.web.config.host.change_mark();
        let make = || memory_map(&self.services, category);
        self.web.maps.get(&mark, category, make)
    }

    /// Returns the number of items in the inbox at this change mark; `None` if they cannot be counted.
    pub(super) fn inbox_count(&self, mark: &str) -> Option<u64> {
        let cached = || {
            self.web
                .inbox_count
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some((_, count)) = cached().as_ref().filter(|(known, _)| known == mark) {
            return Some(*count);
        }
        let count = count_inbox(self).ok()?;
        *cached() = Some((mark.to_owned(), count));
        Some(count)
    }
}

/// Values that depend on the home, by a key. They are valid at one change mark.
#[derive(Debug)]
pub(super) struct MarkCache<K, V>(Mutex<(String, HashMap<K, Arc<V>>)>);

impl<K, V> Default for MarkCache<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V> MarkCache<K, V> {
    /// Returns the value of `key` at `mark`, and makes it if it is unknown. Another request for it waits.
    pub(super) fn get<E>(
        &self,
        mark: &str,
        key: K,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<Arc<V>, E> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.0 != mark {
            *cached = (mark.to_owned(), HashMap::new());
        }
        if let Some(known) = cached.1.get(&key) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(make()?);
        cached.1.insert(key, Arc::clone(&made));
        Ok(made)
    }
}

/// Returns the number of items in the inbox.
fn count_inbox(request: &WebRequest) -> Result<u64, StoreError> {
    let of = |proposals: ProposalFilter| {
        let filter = Filter {
            proposals,
            phase: Some(Phase::Inbox),
            place: Some(HomeSection::Notes),
            ..Filter::default()
        };
        list(
            &request.services,
            &filter,
            &PageRequest {
                order: ListOrder::Created,
                offset: 0,
                limit: Some(0),
            },
        )
    };
    Ok(of(ProposalFilter::Only)?.total + of(Filter::default().proposals)?.total)
}
