//! A progress bar.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use memory_core::Progress;

/// A progress bar that is removed when dropped.
///
/// A step that takes long moves a sign and counts the time, also while nothing reports progress.
#[derive(Debug)]
pub(crate) struct ProgressDisplay {
    bar: ProgressBar,
    counted: bool,
    /// Ends the thread of the sign when dropped.
    _sign: Option<Sender<()>>,
}

/// Template without progress.
const UNCOUNTED: &str = "{spinner} {msg} {elapsed}";
/// Template for an unknown total.
const UNKNOWN_TOTAL: &str = "{spinner} {msg} {human_pos} {elapsed}";
/// Template for a known total.
const KNOWN_TOTAL: &str = "{spinner} {msg} {bar:30} {human_pos}/{human_len} {eta}";

/// The time after which a step is shown although it reports no progress. Most commands end before.
const LONG_STEP: Duration = Duration::from_millis(700);

/// The time between two moves of the sign.
const MOVE: Duration = Duration::from_millis(200);

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
        let is_hidden = target.is_hidden();
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(template(UNCOUNTED));
        bar.set_message(what);
        let sign = (!is_hidden).then(|| {
            let (sign, ended) = mpsc::channel();
            let shown = bar.clone();
            thread::spawn(move || {
                if ended.recv_timeout(LONG_STEP) == Err(RecvTimeoutError::Timeout) {
                    shown.enable_steady_tick(MOVE);
                }
            });
            sign
        });
        Self {
            bar,
            counted: false,
            _sign: sign,
        }
    }

    /// Shows the progress.
    pub(crate) fn show(&mut self, progress: Progress) {
        if !self.counted {
            self.counted = progress.total.is_some();
            self.bar.set_style(template(if self.counted {
                KNOWN_TOTAL
            } else {
                UNKNOWN_TOTAL
            }));
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

fn template(text: &str) -> ProgressStyle {
    ProgressStyle::with_template(text).expect("the template is well-formed")
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
    use memory_core::testing::wait_until;

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
    fn a_step_without_progress_names_itself() {
        let screen = Screen::default();
        let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
        let _bar = ProgressDisplay::with_target("tidying", target);
        let is_shown = || screen.0.lock().is_ok_and(|shown| shown.contains("tidying"));
        wait_until("the step is shown", is_shown);
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
