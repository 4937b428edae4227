//! Creates, lists and completes reminders: `cargo run -p examples --bin reminders`.

use std::error::Error;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{
    Draft, MemStore, Memories, ReminderFilter, SecretPolicy, Services, StoreError, done, remind,
    reminders, snooze,
};

fn main() -> Result<(), Box<dyn Error>> {
    // `memory_store::open` in place of the store in memory makes them permanent.
    let memories = Memories::builder(MemStore::default()).build();
    let services = memories.services();
    // The time is in the text, or is given. Times in texts are those of the zone.
    let make = |text: &str, at: Option<DateTime<Utc>>| {
        remind(
            services,
            Draft::new(text),
            at.map(Into::into),
            &Utc,
            SecretPolicy::Refuse,
        )
    };
    let call = make("call Anna tomorrow at 3pm", None)?
        .stored
        .memory
        .id
        .to_string();
    make(
        "water the plants",
        Some(services.clock.now() + TimeDelta::days(2)),
    )?;
    print_open(services)?;

    snooze(
        services,
        &call,
        (services.clock.now() + TimeDelta::days(3)).into(),
    )?;
    print_open(services)?;

    done(services, &call, &Utc)?;
    print_open(services)?;
    if let Err(error) = make("call Bob", None) {
        println!("error: {error}");
    }
    Ok(())
}

/// Prints the open reminders in the order in which they are due.
fn print_open(services: &Services) -> Result<(), StoreError> {
    let open = reminders(services, ReminderFilter::Open, None)?;
    let texts: Vec<String> = open
        .memories
        .into_iter()
        .map(|stored| stored.memory.content)
        .collect();
    println!("open: {}", texts.join(", "));
    Ok(())
}
