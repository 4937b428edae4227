//! Fuzzes imports: a line is imported or refused, and an export of it imports unchanged.

use std::sync::Arc;

use memory_agent::json;
use memory_core::testing::services;
use memory_core::{
    ExportedMemory, Filter, ImportError, ImportSummary, MemStore, SecretPolicy, Services,
};

/// Imports the lines of an export twice, and exports what they contain.
pub fn import(bytes: &[u8]) {
    let services = services(Arc::new(MemStore::default()));
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let first = import_lines(&services, &lines);
    assert_eq!(
        first.new + first.updated + first.unchanged + first.skipped.len() as u64,
        lines.len() as u64
    );
    let second = import_lines(&services, &lines);
    assert_eq!(
        (second.new, second.updated),
        (0, 0),
        "what is kept already is kept: {lines:?}"
    );
    let kept: Vec<_> = services
        .store
        .memories(&Filter::all(), services.clock.now())
        .map(|stored| stored.expect("it is in memory"))
        .collect();
    for stored in kept {
        let line = json::memory_for_export(&stored).to_string();
        let exported = json::parse_exported(&line).expect("what we export we take");
        assert_eq!(
            (exported.id, &exported.draft.content),
            (Some(stored.memory.id), &stored.memory.content)
        );
        let again = import_lines(&services, &[&line]);
        assert_eq!(
            (again.new, again.updated, again.unchanged),
            (0, 0, 1),
            "{line}"
        );
    }
}

fn import_lines(services: &Services, lines: &[&str]) -> ImportSummary {
    let exported = lines.iter().enumerate().map(|(number, line)| {
        let place = format!("line {}", number + 1);
        match json::parse_exported(line) {
            Ok(exported) => Ok::<(String, ExportedMemory), ImportError>((place, exported)),
            Err(reason) => Err(ImportError { place, reason }),
        }
    });
    memory_core::import(services, exported, SecretPolicy::Keep, &mut |_| ())
        .expect("the store is in memory")
}
