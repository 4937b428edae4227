//! The review of proposals with single keys at a terminal.

use std::io;

use dialoguer::console::{Key, Term};
use memory_core::{
    AcceptOptions, Code, MergeOptions, SecretPolicy, StaleProposals, StoreError, WaitingProposal,
};

use super::accept::{accept_one, acceptance_text};
use super::edit::edit_with_editor;
use super::print::ShownPart;
use super::{InboxItem, print};
use crate::app::App;
use crate::failure::Failure;
use crate::home::Home;
use crate::print::{counted, wrap_paragraphs};

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReviewAction {
    Accept,
    Reject,
    Edit,
    Merge,
    View,
    Next,
    Previous,
    Quit,
    Help,
}

/// The question after each proposal.
const QUESTION: &str = "a accept, r reject, e edit, m merge, v view all, s skip, q quit, ? help";

/// The meaning of all keys.
const HELP: &str = "\
a  accept: store, change or delete the memory as proposed
r  reject: move the proposal to the trash; agents cannot propose it again
e  edit the proposed text in $EDITOR
m  merge the proposed text into one of the numbered memories
v  show the whole text; a and m on a text that is cut do this first
s, j  skip to the next proposal
k  go back to the previous proposal
q  quit; skipped proposals keep waiting
Each decision is one operation: `memory undo` reverts it.";

/// Returns the action of a key.
fn key_action(key: &Key) -> Option<ReviewAction> {
    Some(match key {
        Key::Char('a') => ReviewAction::Accept,
        Key::Char('r') => ReviewAction::Reject,
        Key::Char('e') => ReviewAction::Edit,
        Key::Char('m') => ReviewAction::Merge,
        Key::Char('v') => ReviewAction::View,
        Key::Char('s' | 'j') | Key::ArrowDown => ReviewAction::Next,
        Key::Char('k') | Key::ArrowUp => ReviewAction::Previous,
        Key::Char('q' | '\u{4}') | Key::Escape => ReviewAction::Quit,
        Key::Char('?' | 'h') => ReviewAction::Help,
        _ => return None,
    })
}

/// Shows the proposals one by one, and carries out what the person decides.
pub(super) fn review(
    waiting: Vec<WaitingProposal>,
    home: &Home,
    app: &mut App,
) -> Result<(), Failure> {
    let terminal = Term::stderr();
    let ids: Vec<String> = waiting
        .into_iter()
        .map(|one| one.stored.memory.id.to_string())
        .collect();
    let (mut left, mut place, mut decided) = (ids, 0, 0_u64);
    while place < left.len() {
        // Another process may have decided meanwhile.
        let waiting = match memory_core::proposal(&home.services, &left[place]) {
            Ok(waiting) => waiting,
            Err(StoreError::NotFound { .. } | StoreError::Invalid { .. }) => {
                left.remove(place);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let item = InboxItem::proposal(&home.services, waiting)?;
        let heading = format!("{}/{}", place + 1, left.len());
        let mut hidden =
            print::print_block(&mut app.output, &item, Some(&heading), ShownPart::Start)?;
        let is_decided = loop {
            let Some(action) = ask(&terminal, app)? else {
                continue;
            };
            let needs_text =
                matches!(action, ReviewAction::Accept | ReviewAction::Merge) && hidden != 0;
            if action == ReviewAction::View || needs_text {
                hidden =
                    print::print_block(&mut app.output, &item, Some(&heading), ShownPart::Whole)?;
                if needs_text {
                    app.output.note(
                        "the text was cut; this is all of it: press the key again to decide",
                    )?;
                }
                continue;
            }
            match decide(action, &left[place], &item, &terminal, home, app) {
                Ok(Decision::Decided) => break Some(true),
                Ok(Decision::Changed) => break Some(false),
                Ok(Decision::Open) => {}
                Ok(Decision::Moved(next)) => {
                    place = next.apply(place);
                    break Some(false);
                }
                Ok(Decision::Quit) => break None,
                Err(Failure::Store(error)) => {
                    app.output.error(
                        &error.code().as_str().to_ascii_lowercase(),
                        &error.to_string(),
                    )?;
                    if let Some(hint) = error.hint() {
                        app.output.hint(&hint)?;
                    }
                    // The proposal or its memory changed since it was shown.
                    if matches!(error.code(), Code::Conflict | Code::MemoryNotFound) {
                        break Some(false);
                    }
                }
                Err(other) => return Err(other),
            }
        };
        match is_decided {
            Some(true) => {
                decided += 1;
                left.remove(place);
            }
            Some(false) => {}
            None => break,
        }
    }
    app.update_pending_page(home)?;
    let waiting = counted(left.len() as u64, "proposal");
    let is = if left.len() == 1 { "is" } else { "are" };
    app.output
        .note(&format!("decided {decided}; {waiting} {is} waiting"))
}

/// The effect of a key.
enum Decision {
    /// The proposal is gone.
    Decided,
    /// The proposal is shown again.
    Changed,
    /// Another key is read.
    Open,
    /// Another proposal is shown.
    Moved(Step),
    /// The review ends.
    Quit,
}

/// A step in the list of proposals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Forward,
    Back,
}

impl Step {
    fn apply(self, place: usize) -> usize {
        match self {
            Self::Forward => place + 1,
            Self::Back => place.saturating_sub(1),
        }
    }
}

/// Reads a key, and returns its action if it has one.
fn ask(terminal: &Term, app: &mut App) -> Result<Option<ReviewAction>, Failure> {
    app.output.flush()?;
    let question = format!("{QUESTION} >");
    let question = wrap_paragraphs(&question, terminal.size().1.into(), 0);
    terminal.write_str(&format!("{question} "))?;
    let key = read_key(terminal)?;
    terminal.write_line("")?;
    Ok(key.map_or(Some(ReviewAction::Quit), |key| key_action(&key)))
}

/// Reads a key; `None` at the end of the input.
pub(super) fn read_key(terminal: &Term) -> Result<Option<Key>, Failure> {
    match terminal.read_key() {
        Ok(key) => Ok(Some(key)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::NotConnected
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn decide(
    action: ReviewAction,
    id: &str,
    item: &InboxItem,
    terminal: &Term,
    home: &Home,
    app: &mut App,
) -> Result<Decision, Failure> {
    // Only the version that was shown is decided on.
    let expected = Some(item.stored().stamp);
    Ok(match action {
        ReviewAction::Accept => {
            let (stale, secrets) = (StaleProposals::Refuse, SecretPolicy::Refuse);
            let result = accept_one(
                home,
                id,
                AcceptOptions {
                    category: None,
                    stale,
                    secrets,
                    expected,
                },
            )?;
            app.output.note(&format!(
                "{}: {}",
                acceptance_text(result.acceptance),
                result.path
            ))?;
            if !result.ignored.is_empty() {
                app.output.warning(&format!(
                    "the memory kept its own {}",
                    result.ignored.join(", ")
                ))?;
            }
            Decision::Decided
        }
        ReviewAction::Reject => {
            memory_core::reject(&home.services, id, expected)?;
            app.output
                .note("rejected; agents cannot propose it again")?;
            Decision::Decided
        }
        ReviewAction::Edit => {
            edit_with_editor(home, id, SecretPolicy::Refuse, app)?;
            Decision::Changed
        }
        ReviewAction::Merge => match choose_neighbour(item, terminal, app)? {
            Some(into) => {
                let merged = memory_core::merge(
                    &home.services,
                    id,
                    &into,
                    MergeOptions {
                        item: expected,
                        ..MergeOptions::default()
                    },
                    SecretPolicy::Refuse,
                )?;
                app.output.note(&format!("merged into {}", merged.path))?;
                Decision::Decided
            }
            None => Decision::Open,
        },
        // The caller shows the text.
        ReviewAction::View => Decision::Open,
        ReviewAction::Next => Decision::Moved(Step::Forward),
        ReviewAction::Previous => Decision::Moved(Step::Back),
        ReviewAction::Quit => Decision::Quit,
        ReviewAction::Help => {
            app.output.note(HELP)?;
            Decision::Open
        }
    })
}

/// Asks for the memory to merge into, if there are several, and returns its id.
fn choose_neighbour(
    item: &InboxItem,
    terminal: &Term,
    app: &mut App,
) -> Result<Option<String>, Failure> {
    let number = match item.neighbours.len() {
        0 => {
            app.output.note(
                "no similar memory is known; `memory inbox merge ID INTO` merges into any memory",
            )?;
            return Ok(None);
        }
        1 => Some(0),
        several => {
            terminal.write_str(&format!("merge into which memory, 1 to {several}? > "))?;
            let key = read_key(terminal)?;
            terminal.write_line("")?;
            match key {
                Some(Key::Char(digit)) => digit
                    .to_digit(10)
                    .and_then(|digit| (digit as usize).checked_sub(1)),
                _ => None,
            }
        }
    };
    Ok(number
        .and_then(|number| item.neighbours.get(number))
        .map(|neighbour| neighbour.id.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_question_has_an_action() {
        for part in QUESTION.split(", ") {
            let key = part.chars().next().expect("a key");
            assert!(key_action(&Key::Char(key)).is_some(), "{part}");
        }
        assert_eq!(key_action(&Key::Char('x')), None);
    }

    #[test]
    fn the_first_proposal_has_no_previous_one() {
        assert_eq!(
            [
                Step::Back.apply(0),
                Step::Back.apply(2),
                Step::Forward.apply(2)
            ],
            [0, 1, 3]
        );
    }
}
