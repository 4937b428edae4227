//! The selection of several items at a terminal.

use std::io;
use std::sync::Arc;

use dialoguer::MultiSelect;
use dialoguer::console::Term;
use dialoguer::theme::SimpleTheme;
use signal_hook::consts::SIGINT;

/// Asks for several of the items, and returns their indexes; none after Escape or Ctrl-C.
pub(crate) fn select_several(question: &str, items: &[(String, bool)]) -> io::Result<Vec<usize>> {
    // With a handler, Ctrl-C does not end the process while the cursor is hidden.
    let interrupted = signal_hook::flag::register(SIGINT, Arc::default())?;
    let chosen = MultiSelect::with_theme(&SimpleTheme)
        .with_prompt(format!(
            "{question} (space selects, enter confirms, Ctrl-C cancels)"
        ))
        .items_checked(
            items
                .iter()
                .map(|(label, is_selected)| (label, *is_selected)),
        )
        .report(false)
        .interact_opt();
    signal_hook::low_level::unregister(interrupted);
    match chosen {
        Ok(chosen) => Ok(chosen.unwrap_or_default()),
        Err(dialoguer::Error::IO(error)) if error.kind() == io::ErrorKind::Interrupted => {
            Term::stderr().show_cursor()?;
            Ok(Vec::new())
        }
        Err(dialoguer::Error::IO(error)) => Err(error),
    }
}
