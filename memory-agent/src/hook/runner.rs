//! Runs hooks with a timeout and isolates their panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use memory_core::{Code, ToolError};

use super::{Hook, HookEvent, HookOutcome};

/// Runs `hook` and waits at most `patience` for it.
///
/// A hook that takes longer continues on a detached thread.
pub(crate) fn run_hook(
    hook: &Arc<dyn Hook>,
    occasion: HookEvent,
    patience: Duration,
) -> Result<HookOutcome, ToolError> {
    let (sender, answers) = sync_channel(1);
    let asked = Arc::clone(hook);
    let work = move || {
        let answer = catch_unwind(AssertUnwindSafe(|| asked.run(&occasion)));
        // The receiver may have timed out.
        let _ = sender.send(answer.unwrap_or_else(|_| Err("it panicked".into())));
    };
    let failed = |why: &str| failed_error(&hook.name(), why);
    let spawned = thread::Builder::new().name("hook".into()).spawn(work);
    spawned.map_err(|error| failed(&format!("cannot be run: cannot start a thread: {error}")))?;
    match answers.recv_timeout(patience) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(why)) => Err(failed(&format!("failed: {why}"))),
        Err(RecvTimeoutError::Timeout) => Err(failed(&format!(
            "did not answer within {} s",
            patience.as_secs_f32()
        ))),
        Err(RecvTimeoutError::Disconnected) => Err(failed("ended without a result")),
    }
}

/// Returns the error for a call that a hook blocked.
pub(super) fn blocked_error(hook: &str, reason: &str) -> ToolError {
    ToolError::new(
        Code::CallBlocked,
        format!("the hook {hook} blocked the call: {reason}"),
        None,
    )
}

/// Returns the error for a hook that failed or broke its contract.
pub(super) fn failed_error(hook: &str, why: &str) -> ToolError {
    let hint = Some("fix it, or remove it from `hooks` in config.yaml".into());
    ToolError::new(Code::HookFailed, format!("the hook {hook} {why}"), hint)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, channel};

    use super::*;
    use crate::event::{Event, EventKind};

    #[derive(Debug)]
    struct PanickingHook;

    impl Hook for PanickingHook {
        fn name(&self) -> String {
            "panics".into()
        }

        fn run(&self, _: &HookEvent) -> Result<HookOutcome, String> {
            panic!("as it says");
        }
    }

    /// A hook that blocks until it receives a message.
    #[derive(Debug)]
    struct HangingHook(Mutex<Receiver<()>>);

    impl Hook for HangingHook {
        fn name(&self) -> String {
            "hangs".into()
        }

        fn run(&self, _: &HookEvent) -> Result<HookOutcome, String> {
            let _ = self.0.lock().expect("nobody panics here").recv();
            Ok(HookOutcome::Go)
        }
    }

    fn run_once(hook: impl Hook + 'static, patience: Duration) -> ToolError {
        let hook: Arc<dyn Hook> = Arc::new(hook);
        let event = Event {
            agent: String::new(),
            kind: EventKind::AgentStart,
        };
        run_hook(&hook, HookEvent::Event(event), patience).expect_err("it gives no answer")
    }

    #[test]
    fn a_hook_that_panics_or_hangs_is_a_failure_and_no_more() {
        assert_eq!(
            run_once(PanickingHook, Duration::MAX).message,
            "the hook panics failed: it panicked"
        );
        let (end, waits) = channel();
        let error = run_once(HangingHook(Mutex::new(waits)), Duration::from_millis(20));
        assert_eq!(
            (error.code, error.message.as_str()),
            (
                Code::HookFailed,
                "the hook hangs did not answer within 0.02 s"
            )
        );
        drop(end);
    }
}
