//! The review of proposed merges of similar memories, with single keys at a terminal.

use dialoguer::console::{Key, Term};
use memory_core::text::to_one_line;
use memory_core::{PlannedAction, PlannedRefinement, RefinementPlanner, StoreError};
use memory_dream::DreamTask;

use super::interactive::read_key;
use crate::app::App;
use crate::failure::Failure;
use crate::home::Home;
use crate::print::escape_hidden;

/// The question after each proposed merge.
const QUESTION: &str = "m merge, s skip, q quit > ";

/// Maximum number of characters of a shown line.
const MAX_LINE: usize = 300;

/// Shows the merges of similar memories one by one, and makes those that the person accepts.
pub(super) fn review(home: &Home, app: &mut App) -> Result<(), Failure> {
    let planner = home.planner(
        home.services.clone(),
        vec![DreamTask::Merge, DreamTask::MergeSimilar],
    );
    let merges = planner.plan()?;
    let (mut done, total) = (0, merges.len());
    for (number, merge) in merges.iter().enumerate() {
        show(merge, &format!("merge {}/{total}", number + 1), home, app)?;
        let terminal = Term::stderr();
        let key = loop {
            app.output.flush()?;
            terminal.write_str(QUESTION)?;
            let key = read_key(&terminal)?;
            terminal.write_line("")?;
            match key {
                Some(Key::Char('m')) => break Some(true),
                Some(Key::Char('s' | 'j')) => break Some(false),
                None | Some(Key::Char('q' | '\u{4}') | Key::Escape) => break None,
                Some(_) => {}
            }
        };
        match key {
            Some(true) => {
                let applied = planner.apply(std::slice::from_ref(&merge.key))?;
                done += applied.applied;
                if 0 < applied.skipped {
                    app.output
                        .note("not merged: one of them was changed meanwhile")?;
                }
            }
            Some(false) => {}
            None => break,
        }
    }
    if total == 0 {
        return Ok(());
    }
    app.output.note(&format!(
        "merged {done} of {total}; `memory undo` reverts a merge"
    ))
}

/// Shows the memories that would be merged, and the result.
fn show(
    merge: &PlannedRefinement,
    heading: &str,
    home: &Home,
    app: &mut App,
) -> Result<(), Failure> {
    let PlannedAction::Merge {
        duplicates,
        content,
        ..
    } = &merge.action
    else {
        return Ok(());
    };
    let line = |text: &str| escape_hidden(&to_one_line(text, MAX_LINE)).into_owned();
    app.output.line(heading)?;
    let ids = std::iter::once(merge.memory).chain(duplicates.iter().map(|(id, _)| *id));
    for id in ids {
        match home.services.store.get(&id) {
            Ok(stored) => {
                let text = line(&stored.memory.content);
                app.output.line(&format!("  {}  {text}", id.short()))?;
            }
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    app.output.line(&format!("  =  {}", line(content)))
}
