//! A language model that keeps to a budget.

use std::fmt::Debug;
use std::sync::Arc;

use chrono::TimeZone;

use super::{Answer, ChatError, ChatModel, ChatRequest};
use crate::{Allowance, Budget, Clock, Meter, Reservation, Spent};

/// A language model that keeps to a budget, and writes down what is spent.
///
/// Before it is asked, the estimate of [`ChatRequest::estimate`] is set aside; what that leaves of the budget is all that
/// others may still spend. Afterwards it is replaced by what the answer took. A request whose answer did not arrive counts
/// as estimated. Where nothing can be written down, nothing is asked.
///
/// A call is one request, however often the model within has to try. A model that takes more than was estimated may
/// overdraw the budget by that much, and no more.
#[derive(Debug)]
pub struct Metered<M, Z> {
    /// The model.
    pub model: M,
    /// Where what is spent is kept.
    pub meter: Arc<dyn Meter>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where a day begins and ends.
    pub zone: Z,
    /// What a day may cost.
    pub budget: Budget,
}

impl<M: ChatModel, Z: TimeZone + Debug + Send + Sync> ChatModel for Metered<M, Z>
where
    Z::Offset: Send + Sync,
{
    fn answer(&self, request: &ChatRequest) -> Result<Answer, ChatError> {
        let day = self.clock.now().with_timezone(&self.zone).date_naive();
        let amount = Spent::one_call(request.estimate());
        let reservation = Reservation { day, purpose: request.purpose.clone(), amount };
        self.meter.reserve(&reservation, &self.budget)?;
        let answer = self.model.answer(request);
        let spent = match &answer {
            Ok(answer) => Spent::one_call(answer.tokens),
            Err(error) => error.spent(amount),
        };
        // An answer that is paid for is not thrown away because of this: the reservation stands.
        let _ = self.meter.settle(&reservation, spent);
        answer
    }

    fn allowance(&self) -> Result<Allowance, ChatError> {
        let day = self.clock.now().with_timezone(&self.zone).date_naive();
        let spending = self.meter.spending(day, day).map_err(ChatError::Meter)?;
        let spent = spending.entries.iter().fold(Spent::default(), |sum, entry| sum + entry.spent);
        Ok(Allowance { budget: self.budget, left: self.budget.left(spent) })
    }
}

#[cfg(test)]
mod tests;
