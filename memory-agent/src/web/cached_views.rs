//! Views of the memories that are cached until the next change of the home: the plan of a dream and the size of the inbox.

use std::sync::{Arc, PoisonError};

use chrono::TimeDelta;
use memory_core::{
    Filter, HomeSection, ListOrder, PageRequest, Phase, ProposalFilter, StoreError, list,
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
