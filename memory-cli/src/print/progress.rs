//! How far long work has come.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use memory_core::Progress;

/// A bar that shows how far long work has come; it vanishes with its owner.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    counted: bool,
}

/// What the bar shows while nobody knows how much there is.
const UNKNOWN: &str = "{spinner} {msg} {human_pos}";
/// What it shows from then on.
const KNOWN: &str = "{msg} {bar:30} {human_pos}/{human_len} {eta}";

impl Bar {
    pub(super) fn new(what: &'static str, visible: bool) -> Self {
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(ProgressStyle::with_template(UNKNOWN).expect("the template is well-formed"));
        bar.set_message(what);
        Self { bar, counted: false }
    }

    /// Shows how far the work has come.
    pub(crate) fn show(&mut self, progress: Progress) {
        if let Some(total) = progress.total {
            if !self.counted {
                self.bar.set_style(ProgressStyle::with_template(KNOWN).expect("the template is well-formed"));
                self.counted = true;
            }
            self.bar.set_length(total);
        }
        self.bar.set_position(progress.done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
