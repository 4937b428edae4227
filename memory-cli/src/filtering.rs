//! jq filters, each in a process of its own.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use memory_core::bank::{FilterTrouble, JsonFilter};
use memory_core::json::JsonText;
use memory_store::jq::{self, Answer, Bounds, Form, Helper, JqError, On, Question};

use crate::config::{Environment, Settings};

/// Arguments that make this program run a filter for its parent process.
///
/// They are checked before anything else is read, to keep the start of the child fast.
const CHILD: [&str; 3] = ["bank", "filter", "--child"];

/// Returns whether the arguments request to run a filter for a parent process.
pub(crate) fn is_child(arguments: &[OsString]) -> bool {
    arguments.len() == CHILD.len() + 1 && arguments.iter().skip(1).zip(CHILD).all(|(argument, word)| argument == word)
}

/// Runs a filter for the parent process, with requests and results on the standard streams.
pub(crate) fn serve() -> io::Result<()> {
    jq::serve_child(io::stdin().lock(), io::stdout())
}

/// A runner for jq filters in child processes, with the limits of the settings.
#[derive(Debug)]
pub(crate) struct Filters {
    program: Option<PathBuf>,
    bounds: Bounds,
}

impl Filters {
    /// Creates a runner with the limits in `settings`.
    pub(crate) fn of(settings: &Settings, environment: &Environment) -> Self {
        let memory = (settings.banks.filter_memory.value as u64).saturating_mul(1024 * 1024);
        let bounds = Bounds { time: settings.banks.filter_timeout.value, memory };
        Self { program: environment.program.clone(), bounds }
    }

    /// Runs a filter on JSON and returns its output for each value.
    pub(crate) fn ask(&self, filter: &str, input: &str, on: On, form: Form) -> Result<Vec<Answer>, JqError> {
        self.ask_within(&Question { filter, input, on, form }, self.bounds)
    }

    fn ask_within(&self, question: &Question<'_>, bounds: Bounds) -> Result<Vec<Answer>, JqError> {
        let Some(program) = self.program.clone() else {
            return Err(JqError::Process { message: "the path of this program is unknown".into() });
        };
        let helper = Helper { program, arguments: CHILD.map(OsString::from).into() };
        jq::bounded(&helper, question, &bounds)
    }

    fn trouble(&self, error: &JqError) -> FilterTrouble {
        match error {
            JqError::Timeout { .. } => FilterTrouble::Timeout { seconds: self.bounds.time.as_secs() },
            JqError::TooLarge { .. } => FilterTrouble::TooLarge { megabytes: self.bounds.memory / (1024 * 1024) },
            JqError::Process { message } => FilterTrouble::NotRun { why: message.clone() },
            failed => FilterTrouble::Failed { message: failed.to_string() },
        }
    }
}

impl JsonFilter for Filters {
    fn run(&self, filter: &str, input: &str) -> Result<Vec<JsonText>, FilterTrouble> {
        self.run_within(filter, input, self.bounds.time)
    }

    fn run_within(&self, filter: &str, input: &str, time: Duration) -> Result<Vec<JsonText>, FilterTrouble> {
        let question = Question { filter, input, on: On::Each, form: Form::Compact };
        let bounds = Bounds { time: time.min(self.bounds.time), ..self.bounds };
        let answers = self.ask_within(&question, bounds).map_err(|error| self.trouble(&error))?;
        let value = |answer: Answer| {
            let text = answer.map_err(|error| self.trouble(&error))?;
            text.parse().map_err(|why| FilterTrouble::Failed { message: format!("cannot store the output of the filter: {why}") })
        };
        answers.into_iter().map(value).collect()
    }
}
