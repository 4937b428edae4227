//! A progress bar.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use memory_core::Progress;

/// A progress bar that is removed when dropped.
#[derive(Debug)]
pub(crate) struct ProgressDisplay {
    bar: ProgressBar,
    counted: bool,
}

/// Template for an unknown total.
const UNKNOWN_TOTAL: &str = "{spinner} {msg} {human_pos}";
/// Template for a known total.
const KNOWN_TOTAL: &str = "{msg} {bar:30} {human_pos}/{human_len} {eta}";

impl ProgressDisplay {
    pub(super) fn new(what: &'static str, visible: bool) -> Self {
        Self::with_target(
            what,
            if visible {
                ProgressDrawTarget::stderr()
            } else {
                ProgressDrawTarget::hidden()
            },
        )
    }

    fn with_target(what: &'static str, target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(
            ProgressStyle::with_template(UNKNOWN_TOTAL).expect("the template is well-formed"),
        );
        bar.set_message(what);
        Self {
            bar,
            counted: false,
        }
    }

    /// Shows the progress.
    pub(crate) fn show(&mut self, progress: Progress) {
        if progress.total.is_some() && !self.counted {
            self.bar.set_style(
                ProgressStyle::with_template(KNOWN_TOTAL).expect("the template is well-formed"),
            );
            self.counted = true;
        }
        // A single update avoids drawing a new total with the position of the previous phase.
        self.bar.update(|state| {
            if let Some(total) = progress.total {
                state.set_len(total);
            }
            state.set_pos(progress.done);
        });
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal that records its output.
    #[derive(Debug, Clone, Default)]
    struct Screen(Arc<Mutex<String>>);

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            80
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().expect("no thread panics").push_str(text);
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_bar_never_shows_more_than_there_is() {
        let screen = Screen::default();
        let mut bar = ProgressDisplay::with_target(
            "tidying",
            ProgressDrawTarget::term_like(Box::new(screen.clone())),
        );
        bar.show(Progress {
            done: 3,
            total: Some(3),
        });
        bar.show(Progress {
            done: 1,
            total: Some(1),
        });
        let shown = screen.0.lock().expect("no thread panics").clone();
        assert!(shown.contains("3/3") && !shown.contains("3/1"), "{shown}");
    }
}
