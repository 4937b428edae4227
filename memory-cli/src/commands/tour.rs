//! The `memory tour` command.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Args;
use include_dir::{Dir, include_dir};
use memory_store::system::private_temp_folder;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::app::App;
use crate::config::Environment;
use crate::failure::Failure;
use crate::print::{OutputForm, Palette, Streams, escape_text};
use crate::report::ExitCode;
use crate::topics::shell_quoted;

/// Demonstrate the commands on about seventy notes in a temporary home
///
/// Each command is printed before its output. Your own memories are not changed.
///
/// JSON: {steps: [{command, output}], home}; `home` is null unless --keep is set
#[derive(Debug, Args)]
pub(crate) struct TourArgs {
    /// Keep the home in this empty or new folder, to try commands on it
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// The memory that an agent writes in the middle of the tour.
const AGENT_MEMORY: &str = "Mei reviews every change to the timetable cache, see [[Harbour]].";

impl TourArgs {
    pub(crate) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let mut stage = TourSandbox::create(self.keep.as_deref(), app)?;
        stage.explain("About seventy notes are in ~/vault, an Obsidian vault. `import` turns each into a memory.", app)?;
        stage.run_step(
            &["import", "--source", "obsidian", "--path", "~/vault"],
            app,
        )?;

        stage.explain("An agent stores what it learned.", app)?;
        stage.run_step(
            &[
                "write",
                AGENT_MEMORY,
                "--category",
                "people",
                "--tags",
                "harbour,review",
                "--source",
                "claude",
            ],
            app,
        )?;

        let remark = stage.find_id(&["--source", "claude"], app, |_| true)?;
        let harbour = stage.find_id(&["--source", "obsidian"], app, |memory| {
            memory["title"] == "Harbour"
        })?;
        stage.explain(
            "It belongs to the note about the project, so the two are linked in both directions.",
            app,
        )?;
        stage.run_step(&["link", &remark, &harbour], app)?;

        stage.explain(
            "Any agent can search for it: by words, best match first,",
            app,
        )?;
        stage.run_step(&["search", "timetable cache", "--limit", "3"], app)?;
        stage.explain("in Chinese,", app)?;
        stage.run_step(&["search", "备份", "--limit", "3"], app)?;
        stage.explain("and by a single character.", app)?;
        stage.run_step(&["search", "茶", "--limit", "3"], app)?;

        stage.explain(
            "Relevant memories for an agent come as one block, fenced as data.",
            app,
        )?;
        stage.run_step(
            &[
                "agent",
                "--agent",
                "claude",
                "--prompt",
                "who reviews the timetable cache?",
                "--budget",
                "250",
            ],
            app,
        )?;

        stage.explain(
            "Reminders take times in English or Chinese. `memory notify` shows due reminders.",
            app,
        )?;
        stage.run_step(&["remind", "ask Mei for her review tomorrow at 3pm"], app)?;
        stage.run_step(&["remind", "list"], app)?;

        stage.explain(
            "Keys and values are stored as JSON in banks, and queried with jq.",
            app,
        )?;
        stage.run_step(
            &[
                "bank",
                "write",
                "session",
                "context",
                r#"{"topic": "timetables", "open": ["cache", "tests"]}"#,
            ],
            app,
        )?;
        stage.run_step(
            &[
                "bank",
                "update",
                "session",
                "context",
                r#".open -= ["tests"]"#,
            ],
            app,
        )?;
        stage.run_step(&["bank", "query", "session", "context", ".open[]"], app)?;

        stage.explain(
            "In the background, the daemon files the inbox and merges duplicates.",
            app,
        )?;
        stage.run_step(&["tidy", "--level", "2"], app)?;

        stage.explain("A memory is a Markdown file. Edit it with any editor.", app)?;
        stage.show_file(&remark, app)?;

        stage.explain(
            "Nothing is destroyed. A deleted memory can be restored,",
            app,
        )?;
        stage.run_step(&["delete", &remark], app)?;
        stage.run_step(&["undo"], app)?;
        stage.explain("and the journal lists all operations.", app)?;
        stage.run_step(&["log"], app)?;

        stage.close(app)
    }
}

/// The notes that the tour starts with.
static VAULT: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/commands/tour/vault");

/// Maximum width of the output in columns, and its width without a terminal.
const WIDTH: u16 = 100;

/// A home for the tour, deleted when this is dropped unless `--keep` is set.
struct TourSandbox {
    folder: PathBuf,
    thrown_away: Option<TempDir>,
    environment: Environment,
    width: u16,
    steps: Vec<Value>,
}

impl TourSandbox {
    /// Creates the home, and the vault of notes next to it.
    fn create(keep: Option<&Path>, app: &App) -> Result<Self, Failure> {
        let (folder, thrown_away) = if let Some(folder) = keep {
            (create_empty_folder(folder)?, None)
        } else {
            let made = private_temp_folder(&std::env::temp_dir(), "memory-tour-");
            let made = made.map_err(Failure::file("create a folder for the tour"))?;
            (made.path().to_owned(), Some(made))
        };
        let vault = folder.join("vault");
        std::fs::create_dir_all(&vault)
            .and_then(|()| VAULT.extract(&vault))
            .map_err(Failure::file("write the notes of the tour"))?;
        let width = match app.output.form() {
            OutputForm::Drawn(width) => width.min(WIDTH),
            OutputForm::Json | OutputForm::Tabbed => WIDTH,
        };
        let colors = app.output.is_colored();
        let (home, program) = (Some(folder.clone()), app.environment.program.clone());
        let environment = Environment {
            folder: home.clone(),
            home,
            program,
            colors,
            ..Environment::default()
        };
        Ok(Self {
            folder,
            thrown_away,
            environment,
            width,
            steps: Vec::new(),
        })
    }

    /// Prints an explanation before the next step.
    fn explain(&self, text: &str, app: &mut App) -> Result<(), Failure> {
        if app.output.is_json() {
            return Ok(());
        }
        if !self.steps.is_empty() {
            app.output.line("")?;
        }
        let text = Palette::paint(app.output.palette().dim, format!("# {text}"));
        app.output.line(&text)
    }

    /// Prints a command, runs it like any other, and prints its output.
    fn run_step(&mut self, arguments: &[&str], app: &mut App) -> Result<(), Failure> {
        let command = format!(
            "memory {}",
            arguments
                .iter()
                .map(|argument| shell_quoted(argument))
                .collect::<Vec<_>>()
                .join(" ")
        );
        print_command(&command, app)?;
        let (answer, code) = self.run(arguments, app.output.is_json(), app);
        let output = if app.output.is_json() {
            parse_json(&answer)
        } else {
            Value::from(answer.as_str())
        };
        self.steps
            .push(json!({ "command": command, "output": output }));
        if !app.output.is_json() {
            write!(app.output.stream(), "{answer}")?;
        }
        match code {
            ExitCode::Done => Ok(()),
            ExitCode::Failed
            | ExitCode::Usage
            | ExitCode::NotFound
            | ExitCode::Conflict
            | ExitCode::Damaged
            | ExitCode::Asked(_) => Err(Failure::Tour { command }),
        }
    }

    /// Prints the file of a memory as it is on disk.
    fn show_file(&mut self, id: &str, app: &mut App) -> Result<(), Failure> {
        let (answer, _) = self.run(&["read", id], true, app);
        let path = parse_json(&answer)["path"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let command = format!("cat ~/.memory/{path}");
        print_command(&command, app)?;
        let file = self.folder.join(".memory").join(&path);
        let text = std::fs::read_to_string(&file)
            .map_err(Failure::file(format!("read {}", file.display())))?;
        if !app.output.is_json() {
            app.output.line(escape_text(&text).trim_end())?;
        }
        self.steps
            .push(json!({ "command": command, "output": text }));
        Ok(())
    }

    /// Returns the first 8 digits of the id of the first memory that `list` returns and `wanted` accepts.
    fn find_id(
        &self,
        filter: &[&str],
        app: &App,
        wanted: impl Fn(&Value) -> bool,
    ) -> Result<String, Failure> {
        let arguments = [&["list", "--limit", "0"], filter].concat();
        let (answer, _) = self.run(&arguments, true, app);
        let answer = parse_json(&answer);
        let found = answer["memories"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|memory| wanted(memory));
        let id = found
            .and_then(|memory| memory["id"].as_str())
            .and_then(|id| id.get(..8))
            .map(str::to_owned);
        id.ok_or_else(|| Failure::Tour {
            command: format!("memory {}", arguments.join(" ")),
        })
    }

    /// Prints where the home is, or that it is deleted.
    fn close(self, app: &mut App) -> Result<(), Failure> {
        let kept = self.thrown_away.is_none().then_some(&self.folder);
        if app.output.is_json() {
            return app.output.json(
                &json!({ "steps": self.steps, "home": kept.map(|folder| folder.join(".memory")) }),
            );
        }
        let farewell = match kept {
            Some(folder) => {
                let home = folder.join(".memory");
                format!("The home is kept for you to try: memory --root {} list", shell_quoted(&home.display().to_string()))
            }
            None => "The temporary home is deleted. `memory write \"…\"` creates your own in ~/.memory; `memory --help` lists all commands."
                .into(),
        };
        self.explain(&farewell, app)
    }

    /// Runs a command in the home; returns its output, in which `~` replaces the path of the home.
    fn run(&self, arguments: &[&str], json: bool, app: &App) -> (String, ExitCode) {
        let printed = CapturedOutput::default();
        let streams = Streams {
            input: Box::new(io::empty()),
            input_is_terminal: false,
            has_waiting_input: || false,
            out: Box::new(printed.clone()),
            out_width: Some(self.width),
            err: Box::new(printed.clone()),
            err_is_terminal: false,
        };
        let flags = if json {
            &["--json", "--quiet"][..]
        } else {
            &[]
        };
        let words = ["memory"]
            .iter()
            .chain(arguments)
            .chain(flags)
            .map(OsString::from)
            .collect();
        let code = (app.run)(words, &self.environment, streams);
        let answer = String::from_utf8_lossy(&printed.0.borrow())
            .replace(&self.folder.display().to_string(), "~");
        (answer, code)
    }
}

/// Prints a command as typed in a shell.
fn print_command(command: &str, app: &mut App) -> Result<(), Failure> {
    if app.output.is_json() {
        return Ok(());
    }
    let prompt = Palette::paint(app.output.palette().dim, "$");
    let command = Palette::paint(app.output.palette().bold, command);
    app.output.line(&format!("{prompt} {command}"))
}

/// The output of a command: both streams in the order of the writes.
#[derive(Debug, Clone, Default)]
struct CapturedOutput(Rc<RefCell<Vec<u8>>>);

impl Write for CapturedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the folder as an absolute path; creates it if needed, and fails if it is not empty.
fn create_empty_folder(folder: &Path) -> Result<PathBuf, Failure> {
    let failed = |source| Failure::File {
        action: format!("use {} for the tour", folder.display()),
        source,
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    if std::fs::read_dir(folder).map_err(failed)?.next().is_some() {
        return Err(Failure::usage(
            format!("{} is not empty", folder.display()),
            "specify an empty or new folder",
        ));
    }
    folder.canonicalize().map_err(failed)
}

fn parse_json(answer: &str) -> Value {
    serde_json::from_str(answer).unwrap_or_default()
}
