//! Views of the memories that are cached until the next change of the home: the plan of a dream, the daily review, the size of the
//! inbox, the maps of the graph and the numbers of the charts.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{
    Category, ExpiringMemory, Filter, HomeSection, ListOrder, MemoryMap, PageRequest, Phase,
    PlannedRefinement, ProposalFilter, StoreError, add_time, list, memory_map,
};
use tokio::runtime::Handle;

use super::conflict::{MemoryConflict, find_conflicts};
use super::request::WebRequest;
use super::state::WebState;

/// Time after which a view is made again, because memories may have reached an age.
const VIEW_LIFETIME: TimeDelta = TimeDelta::minutes(10);

/// Number of days for which the page lists memories that will be removed.
pub(super) const EXPIRING_DAYS: i64 = 7;

/// Time for which a page waits for the daily review. That of a small home is ready by then.
const REVIEW_TIMEOUT: Duration = Duration::from_millis(15);

/// The pause after a daily review, as a multiple of its duration. That of a large home takes seconds of a processor.
const REVIEW_PAUSE: i32 = 20;

/// The plan of automatic work.
#[derive(Debug)]
pub(super) struct PlannedWork {
    /// The changes that wait for a decision.
    pub(super) refinements: Vec<PlannedRefinement>,
    /// The memories that will be removed by age within [`EXPIRING_DAYS`].
    pub(super) expiring: Vec<ExpiringMemory>,
}

/// What automatic work found for a person to decide.
#[derive(Debug)]
pub(super) struct DailyReview {
    pub(super) plan: Arc<PlannedWork>,
    pub(super) conflicts: Vec<MemoryConflict>,
}

/// The cached views of a server.
#[derive(Debug, Default)]
pub(super) struct CachedViews {
    plan: CachedView<PlannedWork>,
    review: CachedView<DailyReview>,
    /// The time before which no other daily review is made.
    next_review: Mutex<DateTime<Utc>>,
    /// The number of daily reviews that were made.
    reviews: AtomicU64,
    /// The numbers of items in the inbox at a change mark.
    inbox_counts: Mutex<Option<(String, InboxCounts)>>,
}

/// A view that is made again after a change of the home.
#[derive(Debug)]
struct CachedView<T> {
    last: Mutex<Option<DatedView<T>>>,
    /// Held while the view is made, so that other requests wait for it.
    making: Mutex<()>,
}

/// A view of the home at a change mark.
#[derive(Debug)]
struct DatedView<T> {
    mark: String,
    at: DateTime<Utc>,
    value: Arc<T>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Default for CachedView<T> {
    fn default() -> Self {
        Self {
            last: Mutex::new(None),
            making: Mutex::default(),
        }
    }
}

impl<T> CachedView<T> {
    fn last(&self) -> Option<Arc<T>> {
        lock(&self.last).as_ref().map(|own| Arc::clone(&own.value))
    }

    /// Returns the view if it was made at this mark and not long before `now`.
    fn current(&self, mark: &str, now: DateTime<Utc>) -> Option<Arc<T>> {
        let last = lock(&self.last);
        let current = last
            .as_ref()
            .filter(|own| own.mark == mark && now - own.at < VIEW_LIFETIME);
        current.map(|own| Arc::clone(&own.value))
    }

    fn store(&self, mark: String, at: DateTime<Utc>, value: T) -> Arc<T> {
        let value = Arc::new(value);
        *lock(&self.last) = Some(DatedView {
            mark,
            at,
            value: Arc::clone(&value),
        });
        value
    }
}

impl WebState {
    /// Returns a text that differs after a change of the home and after a new daily review.
    pub(super) fn change_mark(&self) -> String {
        let reviews = self.views.reviews.load(Ordering::Relaxed);
        format!("{} {reviews}", self.config.host.change_mark())
    }

    /// Returns what automatic work would do. The plan is made again after a change of the home.
    ///
    /// # Errors
    /// If the memories cannot be read.
    pub(super) fn plan(&self) -> Result<Arc<PlannedWork>, StoreError> {
        let (host, services) = (&self.config.host, &self.config.services);
        let (view, now) = (&self.views.plan, services.clock.now());
        let _making = lock(&view.making);
        let mark = host.change_mark();
        if let Some(plan) = view.current(&mark, now) {
            return Ok(plan);
        }
        let planner = host.planner(services.clone());
        let plan = PlannedWork {
            refinements: planner.plan()?,
            expiring: planner.expiring(TimeDelta::days(EXPIRING_DAYS))?,
        };
        Ok(view.store(mark, now, plan))
    }

    /// Makes the daily review again, unless another thread does.
    fn make_review(&self) -> Result<(), StoreError> {
        let (view, services) = (&self.views.review, &self.config.services);
        let Ok(_making) = view.making.try_lock() else {
            return Ok(());
        };
        let (mark, now) = (self.config.host.change_mark(), services.clock.now());
        let make = || -> Result<DailyReview, StoreError> {
            Ok(DailyReview {
                plan: self.plan()?,
                conflicts: find_conflicts(services)?,
            })
        };
        let review = make();
        let end = services.clock.now();
        *lock(&self.views.next_review) = add_time(end, (end - now) * REVIEW_PAUSE);
        view.store(mark, now, review?);
        self.views.reviews.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl WebRequest {
    /// Returns the last daily review, which may be older than the last change of the home; `None` if there is none yet.
    ///
    /// If it is older, a new one is made in the background, and the change mark differs after that.
    pub(super) fn last_review(&self) -> Option<Arc<DailyReview>> {
        let mark = self.web.config.host.change_mark();
        let view = &self.web.views.review;
        let now = self.services.clock.now();
        if let Some(review) = view.current(&mark, now) {
            return Some(review);
        }
        if now < *lock(&self.web.views.next_review) {
            return view.last();
        }
        let (sender, made) = sync_channel(1);
        let web = Arc::clone(&self.web);
        Handle::current().spawn_blocking(move || {
            // Without a review the page lists no contradictions; the next one is made after a pause.
            let _ = web.make_review();
            // The page may not wait any more.
            let _ = sender.send(());
        });
        let _ = made.recv_timeout(REVIEW_TIMEOUT);
        view.last()
    }

    /// Returns the map of the notes, or of those in a category.
    ///
    /// # Errors
    /// If the memories cannot be read.
    pub(super) fn memory_map(
        &self,
        category: Option<Category>,
    ) -> Result<Arc<MemoryMap>, StoreError> {
        let make = || memory_map(&self.services, category);
        let mark = self.dated(&self.web.config.host.memory_mark());
        self.web.maps.get(&mark, category, make)
    }

    /// Returns a mark that also differs every few minutes, because memories expire and other programs change files.
    pub(super) fn dated(&self, mark: &str) -> String {
        let period = self.services.clock.now().timestamp() / VIEW_LIFETIME.num_seconds();
        format!("{mark} {period}")
    }

    /// Returns the numbers of items in the inbox at this change mark; `None` if they cannot be counted.
    pub(super) fn inbox_counts(&self, mark: &str) -> Option<InboxCounts> {
        let cached = || lock(&self.web.views.inbox_counts);
        if let Some((_, counts)) = cached().as_ref().filter(|(known, _)| known == mark) {
            return Some(*counts);
        }
        let counts = count_inbox(self).ok()?;
        *cached() = Some((mark.to_owned(), counts));
        Some(counts)
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
        let value = Arc::new(make()?);
        cached.1.insert(key, Arc::clone(&value));
        Ok(value)
    }
}

/// The numbers of items in the inbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct InboxCounts {
    /// The number of proposals.
    pub(super) proposals: u64,
    /// The number of notes without a category.
    pub(super) notes: u64,
}

pub(super) fn count_inbox(request: &WebRequest) -> Result<InboxCounts, StoreError> {
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
    Ok(InboxCounts {
        proposals: of(ProposalFilter::Only)?.total,
        notes: of(ProposalFilter::Exclude)?.total,
    })
}
