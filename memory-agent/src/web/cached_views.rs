//! Views of the memories that take long to make in a large home: the plan of a dream, contradictions, the maps of the graph and the
//! numbers of the charts. A page shows the last one while the next one is made in the background.

use std::collections::HashMap;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use askama::Template;
use axum::response::Response;
use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{
    Category, ExpiringMemory, Filter, HomeSection, ListOrder, MemoryMap, PageRequest, Phase,
    PlannedRefinement, ProposalFilter, StoreError, add_time, list, memory_map,
};
use tokio::runtime::Handle;
use tokio::time::sleep;

use super::conflict::{MemoryConflict, find_conflicts};
use super::error::{PageError, render};
use super::layout::Layout;
use super::request::WebRequest;
use super::state::WebState;

/// Time after which a view is made again, because memories expire and other programs change files.
const VIEW_LIFETIME: TimeDelta = TimeDelta::minutes(10);

/// Number of days for which the page lists memories that will be removed.
pub(super) const EXPIRING_DAYS: i64 = 7;

/// The pause after a view was made, as a multiple of its duration. That of a large home takes seconds of a processor.
const VIEW_PAUSE: i32 = 5;

/// Time for which a page waits for a view after an attempt that failed, to show the error.
const FAILED_TIMEOUT: Duration = Duration::from_mins(1);

/// The plan of automatic work.
#[derive(Debug)]
pub(super) struct PlannedWork {
    /// The changes that wait for a decision.
    pub(super) refinements: Vec<PlannedRefinement>,
    /// The memories that will be removed by age within [`EXPIRING_DAYS`].
    pub(super) expiring: Vec<ExpiringMemory>,
}

/// Views by a key.
#[derive(Debug)]
pub(super) struct SlowViews<K, V>(Mutex<HashMap<K, SlowView<V>>>);

#[derive(Debug)]
struct SlowView<V> {
    /// The last view, with the mark of the home for which it was made.
    last: Option<(String, Arc<V>)>,
    work: ViewWork,
    is_slow: bool,
    /// Whether the last attempt failed. The page then waits for the next one, to show its error.
    has_failed: bool,
    /// The time before which no other one is made.
    next: DateTime<Utc>,
}

/// The background work for a view.
#[derive(Debug, Default, PartialEq, Eq)]
enum ViewWork {
    #[default]
    None,
    /// The next view is being made.
    Making,
    /// Open pages will load again at the time of the next view.
    Waiting,
}

/// The next step for a view that is older than the home.
enum ViewStep {
    Nothing,
    Make,
    /// Open pages load again after the rest of the pause, because nothing else may change then.
    Await(Duration),
}

impl<V> Default for SlowView<V> {
    fn default() -> Self {
        Self {
            last: None,
            work: ViewWork::None,
            is_slow: false,
            has_failed: false,
            next: DateTime::UNIX_EPOCH,
        }
    }
}

impl<K, V> Default for SlowViews<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K: Eq + Hash + Clone, V> SlowViews<K, V> {
    /// Returns the last view of `key`, and the next step for one of this mark.
    fn find(&self, key: &K, mark: &str, now: DateTime<Utc>) -> (Option<Arc<V>>, ViewStep) {
        let mut views = lock(&self.0);
        let view = views.entry(key.clone()).or_default();
        let is_current = view.last.as_ref().is_some_and(|(known, _)| known == mark);
        let step = if is_current || view.work == ViewWork::Making {
            ViewStep::Nothing
        } else if view.next <= now {
            view.work = ViewWork::Making;
            ViewStep::Make
        } else if view.work == ViewWork::Waiting {
            ViewStep::Nothing
        } else {
            view.work = ViewWork::Waiting;
            ViewStep::Await((view.next - now).to_std().unwrap_or_default())
        };
        (view.last(), step)
    }

    /// Returns how long a page waits for a view of `key`, if `usual` is the time for one that is unknown.
    fn timeout(&self, key: &K, usual: Duration) -> Duration {
        match lock(&self.0).get(key) {
            Some(view) if view.has_failed => FAILED_TIMEOUT,
            Some(view) if view.is_slow => Duration::ZERO,
            _ => usual,
        }
    }

    fn last(&self, key: &K) -> Option<Arc<V>> {
        lock(&self.0).get(key).and_then(SlowView::last)
    }

    /// Stores what was made; the last view remains if it failed. After one that takes longer than `timeout` there is a pause.
    fn store(
        &self,
        key: K,
        made: Option<(String, V)>,
        (start, end): (DateTime<Utc>, DateTime<Utc>),
        timeout: Duration,
    ) {
        let mut views = lock(&self.0);
        let view = views.entry(key).or_default();
        let duration = end - start;
        view.work = ViewWork::None;
        view.has_failed = made.is_none();
        view.is_slow = duration.to_std().is_ok_and(|duration| timeout < duration);
        view.next = if view.is_slow && !view.has_failed {
            add_time(end, duration * VIEW_PAUSE)
        } else {
            end
        };
        if let Some((mark, value)) = made {
            view.last = Some((mark, Arc::new(value)));
        }
    }
}

impl<V> SlowView<V> {
    fn last(&self) -> Option<Arc<V>> {
        self.last.as_ref().map(|(_, value)| Arc::clone(value))
    }
}

impl WebState {
    /// Returns a text that differs after a change of the home and after a slow view was made.
    pub(super) fn change_mark(&self) -> String {
        let made = self.made_views.load(Ordering::Relaxed);
        format!("{} {made}", self.config.host.change_mark())
    }

    /// Returns the last view, which may be older than the last change of the home; `None` if there is none yet.
    ///
    /// If it is older, a new one is made in the background, and the change mark differs after that. The page waits for a view that was made
    /// in that time before.
    ///
    /// # Errors
    /// That of `make`, if the page waited for it.
    pub(super) fn slow_view<K, V, E>(
        self: &Arc<Self>,
        views: fn(&Self) -> &SlowViews<K, V>,
        key: &K,
        mark: &str,
        make: impl FnOnce(&Self) -> Result<V, E> + Send + 'static,
    ) -> Result<Option<Arc<V>>, PageError>
    where
        K: Eq + Hash + Clone + Send + 'static,
        V: Send + 'static,
        E: Into<PageError> + 'static,
    {
        let now = self.now();
        let mark = format!("{mark} {}", now.timestamp() / VIEW_LIFETIME.num_seconds());
        let (last, step) = views(self).find(key, &mark, now);
        match step {
            ViewStep::Make => {}
            ViewStep::Nothing => return Ok(last),
            ViewStep::Await(pause) => {
                let (web, key) = (Arc::clone(self), key.clone());
                Handle::current().spawn(async move {
                    tokio::select! {
                        () = sleep(pause) => {}
                        () = web.end.cancelled() => return,
                    }
                    if let Some(view) = lock(&views(&web).0).get_mut(&key)
                        && view.work == ViewWork::Waiting
                    {
                        view.work = ViewWork::None;
                    }
                    web.made_views.fetch_add(1, Ordering::Relaxed);
                });
                return Ok(last);
            }
        }
        let timeout = self.config.host.view_timeout();
        let own_timeout = views(self).timeout(key, timeout);
        let (sender, finished) = sync_channel(1);
        let (web, own_key) = (Arc::clone(self), key.clone());
        Handle::current().spawn_blocking(move || {
            let result = catch_unwind(AssertUnwindSafe(|| make(&web)));
            let (view, result) = match result {
                Ok(Ok(value)) => (Some((mark, value)), Ok(())),
                Ok(Err(error)) => (None, Err(error.into())),
                // A panic is already reported.
                Err(_) => (None, Ok(())),
            };
            views(&web).store(own_key, view, (now, web.now()), timeout);
            web.made_views.fetch_add(1, Ordering::Relaxed);
            // The page may not wait any more.
            let _ = sender.send(result);
        });
        if let Ok(result) = finished.recv_timeout(own_timeout) {
            result?;
        }
        Ok(views(self).last(key))
    }
}

impl WebRequest {
    /// Returns the last plan of automatic work; `None` if there is none yet.
    ///
    /// # Errors
    /// If the memories cannot be read.
    pub(super) fn plan(&self) -> Result<Option<Arc<PlannedWork>>, PageError> {
        let mark = self.web.config.host.change_mark();
        self.web.slow_view(
            |web| &web.plans,
            &(),
            &mark,
            |web| {
                let planner = web.config.host.planner(web.config.services.clone());
                Ok::<_, StoreError>(PlannedWork {
                    refinements: planner.plan()?,
                    expiring: planner.expiring(TimeDelta::days(EXPIRING_DAYS))?,
                })
            },
        )
    }

    /// Returns the contradictions that were found last; `None` if they were not looked for yet.
    ///
    /// # Errors
    /// If the memories cannot be read.
    pub(super) fn conflicts(&self) -> Result<Option<Arc<Vec<MemoryConflict>>>, PageError> {
        let mark = self.web.config.host.change_mark();
        self.web.slow_view(
            |web| &web.conflicts,
            &(),
            &mark,
            |web| find_conflicts(&web.config.services),
        )
    }

    /// Returns the last map of the notes, or of those in a category; `None` if there is none yet.
    ///
    /// # Errors
    /// If the memories cannot be read.
    pub(super) fn memory_map(
        &self,
        category: Option<Category>,
    ) -> Result<Option<Arc<MemoryMap>>, PageError> {
        let mark = self.web.config.host.memory_mark();
        let make = move |web: &WebState| memory_map(&web.config.services, category);
        self.web.slow_view(|web| &web.maps, &category, &mark, make)
    }

    /// Returns the page that is shown until the first view is made; the open page loads again when it is.
    pub(super) fn page_in_progress(&self, title: &'static str, work: &'static str) -> Response {
        render(&PageInProgress {
            layout: self.layout(title),
            title,
            work,
        })
    }

    /// Returns the numbers of items in the inbox at this change mark; `None` if they cannot be counted.
    pub(super) fn inbox_counts(&self, mark: &str) -> Option<InboxCounts> {
        let cached = || lock(&self.web.inbox_counts);
        if let Some((_, counts)) = cached().as_ref().filter(|(known, _)| known == mark) {
            return Some(*counts);
        }
        let counts = count_inbox(self).ok()?;
        *cached() = Some((mark.to_owned(), counts));
        Some(counts)
    }
}

/// A page whose content is being made for the first time.
#[derive(Template)]
#[template(path = "in_progress.html")]
struct PageInProgress {
    layout: Layout,
    title: &'static str,
    work: &'static str,
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

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: TimeDelta = TimeDelta::seconds(1);

    /// The views after one that took ten seconds, which a page does not wait for.
    fn slow(made: Option<(String, u8)>) -> (SlowViews<(), u8>, DateTime<Utc>) {
        let views = SlowViews::default();
        let (start, end) = (DateTime::UNIX_EPOCH, DateTime::UNIX_EPOCH + SECOND * 10);
        assert!(matches!(views.find(&(), "1", start).1, ViewStep::Make));
        assert!(matches!(views.find(&(), "1", start).1, ViewStep::Nothing));
        views.store((), made, (start, end), Duration::ZERO);
        (views, end)
    }

    #[test]
    fn open_pages_load_again_once_after_the_pause_of_a_slow_view() {
        let (views, end) = slow(Some(("1".into(), 1)));
        assert!(matches!(views.find(&(), "1", end).1, ViewStep::Nothing));
        let ViewStep::Await(pause) = views.find(&(), "2", end + SECOND).1 else {
            panic!("the view is paused");
        };
        assert_eq!(pause, Duration::from_secs(49));
        assert!(matches!(
            views.find(&(), "3", end + SECOND).1,
            ViewStep::Nothing
        ));
        let (last, step) = views.find(&(), "3", end + SECOND * 50);
        assert!(last.as_deref() == Some(&1) && matches!(step, ViewStep::Make));
    }

    #[test]
    fn a_page_waits_for_the_next_view_after_one_that_failed_and_there_is_no_pause() {
        let (views, end) = slow(None);
        assert_eq!(views.timeout(&(), Duration::ZERO), FAILED_TIMEOUT);
        assert!(matches!(views.find(&(), "1", end).1, ViewStep::Make));
        let (views, _) = slow(Some(("1".into(), 1)));
        assert_eq!(views.timeout(&(), SECOND.to_std().unwrap()), Duration::ZERO);
    }
}
