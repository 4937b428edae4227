//! Tests that each memory and time has one reminder, however often and in any order it is requested.

use std::collections::HashSet;
use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use memory_core::testing::services;
use memory_core::{
    Draft, MemStore, ReminderFilter, SecretPolicy, done, remind_of_memory, reminders, snooze, write,
};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum ReminderAction {
    Remind { memory: usize, days: i64 },
    Done { nth: usize },
    Snooze { nth: usize },
}

fn reminder_action() -> impl Strategy<Value = ReminderAction> {
    prop_oneof![
        4 => (0..3_usize, 1..4_i64).prop_map(|(memory, days)| ReminderAction::Remind { memory, days }),
        1 => (0..9_usize).prop_map(|nth| ReminderAction::Done { nth }),
        1 => (0..9_usize).prop_map(|nth| ReminderAction::Snooze { nth }),
    ]
}

proptest! {
    #[test]
    fn a_reminder_is_made_once_for_each_memory_and_time(acts in prop::collection::vec(reminder_action(), 1..20)) {
        let services = services(Arc::new(MemStore::default()));
        let memories: Vec<_> = (0..3)
            .map(|number| write(&services, Draft::new(&format!("note {number}")), SecretPolicy::Refuse).unwrap().id)
            .collect();
        let start = services.clock.now() + TimeDelta::days(1);
        let all = || reminders(&services, ReminderFilter::All, None).unwrap().memories;
        let mut wanted = HashSet::new();
        for act in acts {
            match act {
                ReminderAction::Remind { memory, days } => {
                    let at = start + TimeDelta::days(days);
                    let made = remind_of_memory(&services, &memories[memory].to_string(), Some(at.into()), &Utc).unwrap();
                    prop_assert_eq!(made.created, wanted.insert((memory, days)));
                    prop_assert_eq!(made.stored.memory.reminder.unwrap().of, Some(memories[memory]));
                }
                ReminderAction::Done { nth } => {
                    if let Some(stored) = all().get(nth) {
                        done(&services, &stored.memory.id.to_string(), &Utc).unwrap();
                    }
                }
                ReminderAction::Snooze { nth } => {
                    if let Some(stored) = all().get(nth) {
                        snooze(&services, &stored.memory.id.to_string(), (start + TimeDelta::days(9)).into()).unwrap();
                    }
                }
            }
            prop_assert_eq!(all().len(), wanted.len());
        }
    }
}
