//! The report of language-model usage.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};

use crate::{Budget, LlmUsage, Meter, Purpose, RemainingBudget, Spending, StoreError};

/// The number of days before today that the report covers.
const PREVIOUS_DAYS: Days = Days::new(29);

/// Recent language-model usage and the remaining budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// The daily budget.
    pub budget: Budget,
    /// The remaining budget of today.
    pub left: RemainingBudget,
    /// The usage of today.
    pub today: PeriodUsage,
    /// The usage of the last 30 days, including today.
    pub lately: PeriodUsage,
    /// Number of records of these months that could not be read. Their usage is not counted.
    pub unreadable: u64,
}

/// The usage of a range of days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeriodUsage {
    /// The first day.
    pub from: NaiveDate,
    /// The last day.
    pub to: NaiveDate,
    /// The total usage.
    pub all: LlmUsage,
    /// The usage by purpose, ordered by the name of the purpose.
    pub purposes: Vec<(Purpose, LlmUsage)>,
}

/// Returns the language-model usage of today and of the last 30 days, and today's remaining budget.
///
/// # Errors
/// If the usage cannot be read.
pub fn usage(meter: &dyn Meter, today: NaiveDate, budget: Budget) -> Result<Usage, StoreError> {
    let from = today
        .checked_sub_days(PREVIOUS_DAYS)
        .unwrap_or(NaiveDate::MIN);
    let spending = meter.spending(from, today)?;
    let (today, lately) = (
        sum_usage(&spending, today, today),
        sum_usage(&spending, from, today),
    );
    Ok(Usage {
        budget,
        left: budget.remaining(today.all),
        today,
        lately,
        unreadable: spending.unreadable,
    })
}

fn sum_usage(spending: &Spending, from: NaiveDate, to: NaiveDate) -> PeriodUsage {
    let mut purposes: BTreeMap<&Purpose, LlmUsage> = BTreeMap::new();
    for entry in spending
        .entries
        .iter()
        .filter(|entry| from <= entry.day && entry.day <= to)
    {
        let sum = purposes.entry(&entry.purpose).or_default();
        *sum = *sum + entry.spent;
    }
    let all = purposes
        .values()
        .fold(LlmUsage::default(), |sum, spent| sum + *spent);
    PeriodUsage {
        from,
        to,
        all,
        purposes: purposes
            .into_iter()
            .map(|(purpose, spent)| (purpose.clone(), spent))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reservation;
    use crate::testing::FakeMeter;

    #[test]
    fn days_are_added_up_and_a_budget_is_todays() {
        let meter = FakeMeter::default();
        let day = |text: &str| text.parse::<NaiveDate>().expect("it is a day");
        let today = day("2026-05-07");
        for (on, purpose) in [
            ("2026-04-07", "classify"),
            ("2026-04-08", "compress"),
            ("2026-05-06", "classify"),
            ("2026-05-07", "classify"),
            ("2026-05-08", "classify"),
        ] {
            let amount = LlmUsage {
                calls: 1,
                prompt_tokens: 10,
                answer_tokens: 5,
            };
            let reservation = Reservation {
                day: day(on),
                purpose: Purpose::of(purpose),
                amount,
            };
            meter
                .reserve(&reservation, &Budget::default())
                .expect("there is no limit");
        }
        let found = usage(
            &meter,
            today,
            Budget {
                calls_a_day: None,
                tokens_a_day: Some(20),
            },
        )
        .expect("it is read");
        assert_eq!(
            found.left,
            RemainingBudget {
                calls: None,
                tokens: Some(5)
            }
        );
        assert_eq!((found.today.all.calls, found.today.purposes.len()), (1, 1));
        assert_eq!(
            (found.lately.from, found.lately.to),
            (day("2026-04-08"), today)
        );
        let lately: Vec<_> = found
            .lately
            .purposes
            .iter()
            .map(|(purpose, spent)| (purpose.as_str(), spent.calls))
            .collect();
        assert_eq!(
            (lately, found.lately.all.total_tokens()),
            (vec![("classify", 2), ("compress", 1)], 45)
        );
    }
}
