//! Asking a hook that may break down or never answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use memory_core::{Code, ToolError};

use super::{Answer, Hook, Occasion};

/// Asks `hook`, and waits as long as `patience` says. What takes longer goes on in a thread that nobody waits for.
pub(crate) fn ask(hook: &Arc<dyn Hook>, occasion: Occasion, patience: Duration) -> Result<Answer, ToolError> {
    let (sender, answers) = sync_channel(1);
    let asked = Arc::clone(hook);
    let work = move || {
        let answer = catch_unwind(AssertUnwindSafe(|| asked.answer(&occasion)));
        // Nobody may be waiting any more.
        let _ = sender.send(answer.unwrap_or_else(|_| Err("it panicked".into())));
    };
    let failed = |why: &str| senseless(&hook.name(), why);
    let spawned = thread::Builder::new().name("hook".into()).spawn(work);
    spawned.map_err(|error| failed(&format!("cannot be asked: no thread can be started: {error}")))?;
    match answers.recv_timeout(patience) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(why)) => Err(failed(&format!("failed: {why}"))),
        Err(RecvTimeoutError::Timeout) => Err(failed(&format!("did not answer within {} s", patience.as_secs_f32()))),
        Err(RecvTimeoutError::Disconnected) => Err(failed("broke down")),
    }
}

/// Says that a hook refused a call.
pub(super) fn blocked(hook: &str, reason: &str) -> ToolError {
    ToolError::new(Code::CallBlocked, format!("the hook {hook} blocked the call: {reason}"), None)
}

/// Says that a hook did not do its part.
pub(super) fn senseless(hook: &str, why: &str) -> ToolError {
    let hint = Some("mend it, or take it out of `hooks` in config.yaml".into());
    ToolError::new(Code::HookFailed, format!("the hook {hook} {why}"), hint)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, channel};

    use super::*;
    use crate::event::{Event, EventKind};

    #[derive(Debug)]
    struct Panics;

    impl Hook for Panics {
        fn name(&self) -> String {
            "panics".into()
        }

        fn answer(&self, _: &Occasion) -> Result<Answer, String> {
            panic!("as it says");
        }
    }

    /// Answers once something comes.
    #[derive(Debug)]
    struct Hangs(Mutex<Receiver<()>>);

    impl Hook for Hangs {
        fn name(&self) -> String {
            "hangs".into()
        }

        fn answer(&self, _: &Occasion) -> Result<Answer, String> {
            let _ = self.0.lock().expect("nobody panics here").recv();
            Ok(Answer::Go)
        }
    }

    fn ask_once(hook: impl Hook + 'static, patience: Duration) -> ToolError {
        let hook: Arc<dyn Hook> = Arc::new(hook);
        let event = Event { agent: String::new(), kind: EventKind::AgentStart };
        ask(&hook, Occasion::Event(event), patience).expect_err("it gives no answer")
    }

    #[test]
    fn a_hook_that_panics_or_hangs_is_a_failure_and_no_more() {
        assert_eq!(ask_once(Panics, Duration::MAX).message, "the hook panics failed: it panicked");
        let (end, waits) = channel();
        let error = ask_once(Hangs(Mutex::new(waits)), Duration::from_millis(20));
        assert_eq!((error.code, error.message.as_str()), (Code::HookFailed, "the hook hangs did not answer within 0.02 s"));
        drop(end);
    }
}
