//! Questions at a terminal.

use std::io;
use std::sync::Arc;

use dialoguer::MultiSelect;
use dialoguer::console::Term;
use dialoguer::theme::SimpleTheme;
use signal_hook::consts::SIGINT;

/// Asks for several of the items, and returns their indexes; none after Escape or Ctrl-C.
pub(crate) fn select_several(question: &str, items: &[(String, bool)]) -> io::Result<Vec<usize>> {
    let chosen = prompt(|| {
        MultiSelect::with_theme(&SimpleTheme)
            .with_prompt(format!(
                "{question} (space selects, enter confirms, Ctrl-C cancels)"
            ))
            .items_checked(
                items
                    .iter()
                    .map(|(label, is_selected)| (label, *is_selected)),
            )
            .report(false)
            .interact_opt()
    });
    match chosen {
        Ok(chosen) => Ok(chosen.unwrap_or_default()),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Asks a question with `interact`. Ctrl-C is the error [`io::ErrorKind::Interrupted`], and the cursor is visible after it.
pub(crate) fn prompt<T>(interact: impl FnOnce() -> dialoguer::Result<T>) -> io::Result<T> {
    // With a handler, Ctrl-C does not end the process while the cursor is hidden.
    let interrupted = signal_hook::flag::register(SIGINT, Arc::default())?;
    let answer = interact();
    signal_hook::low_level::unregister(interrupted);
    answer.map_err(|dialoguer::Error::IO(error)| {
        if error.kind() == io::ErrorKind::Interrupted {
            // The error of the terminal is less important.
            let _ = Term::stderr().show_cursor();
        }
        error
    })
}
