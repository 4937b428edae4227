//! A language model with a daily budget.

use std::fmt::Debug;
use std::sync::Arc;

use chrono::TimeZone;

use super::{ChatAnswer, ChatError, ChatModel, ChatRequest};
use crate::{Budget, BudgetStatus, Clock, LlmUsage, Meter, Reservation};

/// A language model that enforces a budget and records its usage.
///
/// Before each request, the model reserves the estimate of [`ChatRequest::estimate`]; other requests can only use the rest of the budget.
/// After the response, the actual usage replaces the reservation. If the response does not arrive, the whole reservation may count as
/// spent. If the usage cannot be recorded, no request is sent.
///
/// A call counts as one request, regardless of retries in the inner model. A model that uses more than the estimate may overdraw the budget
/// by the difference.
#[derive(Debug)]
pub struct MeteredModel<M, Z> {
    /// The model.
    pub model: M,
    /// The store of the usage records.
    pub meter: Arc<dyn Meter>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The time zone that defines the start of a day.
    pub zone: Z,
    /// The daily budget.
    pub budget: Budget,
}

impl<M: ChatModel, Z: TimeZone + Debug + Send + Sync> ChatModel for MeteredModel<M, Z>
where
    Z::Offset: Send + Sync,
{
    fn answer(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        let day = self.clock.now().with_timezone(&self.zone).date_naive();
        let amount = LlmUsage::from_call(request.estimate());
        let reservation = Reservation {
            day,
            purpose: request.purpose.clone(),
            amount,
        };
        self.meter.reserve(&reservation, &self.budget)?;
        let answer = self.model.answer(request);
        let spent = match &answer {
            Ok(answer) => LlmUsage::from_call(answer.tokens),
            Err(error) => error.cost(amount),
        };
        // The response is paid for, so a failure here does not discard it: the reservation counts as spent.
        let _ = self.meter.settle(&reservation, spent);
        answer
    }

    fn allowance(&self) -> Result<BudgetStatus, ChatError> {
        let day = self.clock.now().with_timezone(&self.zone).date_naive();
        let spending = self.meter.spending(day, day).map_err(ChatError::Meter)?;
        let spent = spending
            .entries
            .iter()
            .fold(LlmUsage::default(), |sum, entry| sum + entry.spent);
        Ok(BudgetStatus {
            budget: self.budget,
            left: self.budget.remaining(spent),
        })
    }
}

#[cfg(test)]
mod tests;
