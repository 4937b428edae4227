//! jq filters, each in a process of its own.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use memory_core::bank::{JsonFilter, JsonFilterError};
use memory_core::json::JsonText;
use memory_store::jq::{
    self, JqChildCommand, JqError, JqInputMode, JqLimits, JqOutputFormat, JqRequest, JqResult,
    JqSlots,
};
use memory_store::system::private_folder_builder;

use crate::config::Settings;

/// Arguments that make this program run a filter for its parent process.
///
/// They are checked before anything else is read, to keep the start of the child fast.
const CHILD_ARGUMENTS: [&str; 3] = ["bank", "filter", "--child"];

/// The allocator of static programs reserves memory in advance, which must not count as used by the filter.
const CHILD_VARIABLES: [(&str, &str); 1] = [("MIMALLOC_ARENA_EAGER_COMMIT", "0")];

/// Returns whether the arguments request to run a filter for a parent process.
pub(crate) fn is_child(arguments: &[OsString]) -> bool {
    arguments.len() == CHILD_ARGUMENTS.len() + 1
        && arguments
            .iter()
            .skip(1)
            .zip(CHILD_ARGUMENTS)
            .all(|(argument, word)| argument == word)
}

/// Runs a filter for the parent process, with requests and results on the standard streams.
pub(crate) fn serve_child() -> io::Result<()> {
    jq::serve_child(io::stdin().lock(), io::stdout())
}

/// The folder for files of this program in the folder of the runtime.
const RUNTIME_FOLDER: &str = "memory";

/// A runner for jq filters in child processes, with the limits of the settings.
#[derive(Debug)]
pub(crate) struct JqRunner {
    program: Option<PathBuf>,
    bounds: JqLimits,
    slots: JqSlots,
    /// The folder for the locks of the user in the folder of the runtime, created if necessary.
    runtime: Option<PathBuf>,
}

impl JqRunner {
    /// Creates a runner with the limits in `settings`.
    pub(crate) fn of(settings: &Settings) -> Self {
        let bytes = |megabytes: usize| (megabytes as u64).saturating_mul(1024 * 1024);
        let memory = bytes(settings.banks.filter_memory.value);
        let total = bytes(settings.banks.filter_total_memory.value);
        let bounds = JqLimits {
            time: settings.banks.filter_timeout.value,
            memory,
        };
        let runtime = settings.environment.private_runtime();
        let runtime = runtime.map(|runtime| runtime.join(RUNTIME_FOLDER));
        let folders = runtime
            .iter()
            .chain([&settings.root.value])
            .cloned()
            .collect();
        Self {
            program: settings.environment.program.clone(),
            bounds,
            slots: JqSlots::new(memory, total, folders),
            runtime,
        }
    }

    /// Runs a filter on JSON and returns its output for each value.
    pub(crate) fn evaluate(
        &self,
        filter: &str,
        input: &str,
        on: JqInputMode,
        form: JqOutputFormat,
    ) -> Result<Vec<JqResult>, JqError> {
        self.evaluate_within(
            &JqRequest {
                filter,
                input,
                on,
                form,
            },
            self.bounds,
            &self.slots,
        )
    }

    fn evaluate_within(
        &self,
        question: &JqRequest<'_>,
        bounds: JqLimits,
        slots: &JqSlots,
    ) -> Result<Vec<JqResult>, JqError> {
        let Some(program) = self.program.clone() else {
            return Err(JqError::Process {
                message:
                    "the path of the program `memory`, which runs filters, is unknown; set it with `Environment::with_program`"
                        .into(),
            });
        };
        let variables = CHILD_VARIABLES
            .map(|(name, value)| (name.into(), value.into()))
            .into();
        let helper = JqChildCommand {
            program,
            arguments: CHILD_ARGUMENTS.map(OsString::from).into(),
            variables,
        };
        if let Some(runtime) = &self.runtime {
            // It may exist. If it cannot be created, the locks are in the home.
            let _ = private_folder_builder().create(runtime);
        }
        jq::run_bounded(&helper, question, &bounds, slots)
    }

    fn filter_error(&self, error: &JqError) -> JsonFilterError {
        match error {
            JqError::Timeout { .. } => JsonFilterError::Timeout {
                seconds: self.bounds.time.as_secs(),
            },
            JqError::TooLarge { .. } => JsonFilterError::TooLarge {
                megabytes: self.bounds.memory / (1024 * 1024),
            },
            JqError::Busy { running, waited } => JsonFilterError::Busy {
                running: *running,
                seconds: waited.as_secs(),
            },
            JqError::Process { message } => JsonFilterError::NotRun {
                why: message.clone(),
            },
            failed => JsonFilterError::Failed {
                message: failed.to_string(),
            },
        }
    }
}

impl JsonFilter for JqRunner {
    fn run(&self, filter: &str, input: &str) -> Result<Vec<JsonText>, JsonFilterError> {
        self.run_with(filter, input, self.bounds, &self.slots)
    }

    fn run_with_timeout(
        &self,
        filter: &str,
        input: &str,
        time: Duration,
    ) -> Result<Vec<JsonText>, JsonFilterError> {
        let bounds = JqLimits {
            time: time.min(self.bounds.time),
            ..self.bounds
        };
        self.run_with(
            filter,
            input,
            bounds,
            &self.slots.clone().with_patience(time),
        )
    }
}

impl JqRunner {
    fn run_with(
        &self,
        filter: &str,
        input: &str,
        bounds: JqLimits,
        slots: &JqSlots,
    ) -> Result<Vec<JsonText>, JsonFilterError> {
        let question = JqRequest {
            filter,
            input,
            on: JqInputMode::Each,
            form: JqOutputFormat::Compact,
        };
        let answers = self
            .evaluate_within(&question, bounds, slots)
            .map_err(|error| self.filter_error(&error))?;
        let value = |answer: JqResult| {
            let text = answer.map_err(|error| self.filter_error(&error))?;
            text.parse().map_err(|why| JsonFilterError::Failed {
                message: format!("cannot store the output of the filter: {why}"),
            })
        };
        answers.into_iter().map(value).collect()
    }
}
