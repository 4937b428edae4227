//! The `memory tour` command.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Args;
use dialoguer::console::Term;
use include_dir::{Dir, include_dir};
use memory_store::system::private_temp_folder;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::app::App;
use crate::config::Environment;
use crate::failure::Failure;
use crate::print::{Output, OutputForm, Palette, Streams, escape_text, is_leaving, prompt};
use crate::report::ExitCode;
use crate::signals::DeleteOnSignal;
use crate::topics::shell_quoted;

/// Demonstrate the commands on about seventy notes in a temporary home
///
/// Each command is printed before its output. Your own memories are not changed. At a terminal it takes two minutes: any key
/// continues, and q leaves.
///
/// JSON: {steps: [{command, output}], home}; `home` is null unless --keep is set
#[derive(Debug, Args)]
pub(crate) struct TourArgs {
    /// Keep the home in this empty or new folder, to try commands on it
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Do not wait for a key at a terminal
    #[arg(long)]
    fast: bool,
}

/// The memory that an agent writes, in the arguments of a command.
const REMARK: &str = "{remark}";

/// The note about the project, in the arguments of a command.
const HARBOUR: &str = "{harbour}";

/// The parts of the tour: what a person reads first, and the commands.
const PARTS: [(&str, &[&[&str]]); 13] = [
    (
        "About seventy notes are in ~/vault, an Obsidian vault. `import` turns each into a memory.",
        &[&["import", "--source", "obsidian", "--path", "~/vault"]],
    ),
    (
        "An agent stores what it learned.",
        &[&[
            "write",
            "Mei reviews every change to the timetable cache, see [[Harbour]].",
            "--category",
            "people",
            "--tags",
            "harbour,review",
            "--source",
            "claude",
        ]],
    ),
    (
        "It belongs to the note about the project, so the two are linked in both directions.",
        &[&["link", REMARK, HARBOUR]],
    ),
    (
        "Any agent can search for it: by words, best match first.",
        &[&["search", "timetable cache", "--limit", "3"]],
    ),
    (
        "Every language is searched, down to a single character.",
        &[
            &["search", "备份", "--limit", "1"],
            &["search", "茶", "--limit", "2"],
        ],
    ),
    (
        "What helps with a prompt reaches an agent on its own, as one block that is fenced as data.",
        &[&[
            "agent",
            "--agent",
            "claude",
            "--prompt",
            "who reviews the timetable cache?",
            "--budget",
            "250",
        ]],
    ),
    (
        "`why` shows who received a memory, for which prompt, and what it was found by.",
        &[&["why", REMARK]],
    ),
    (
        "Reminders take times in English or Chinese. `memory notify` shows due reminders.",
        &[
            &["remind", "ask Mei for her review tomorrow at 3pm"],
            &["remind", "list"],
        ],
    ),
    (
        "Keys and values are stored as JSON in banks, and queried with jq.",
        &[
            &[
                "bank",
                "write",
                "session",
                "context",
                r#"{"topic": "timetables", "open": ["cache", "tests"]}"#,
            ],
            &[
                "bank",
                "update",
                "session",
                "context",
                r#".open -= ["tests"]"#,
            ],
            &["bank", "query", "session", "context", ".open[]"],
        ],
    ),
    (
        "In the background, the daemon files the notes whose category is certain, and merges duplicates.",
        &[&["tidy", "--level", "2"]],
    ),
    (
        "The others wait for you in the inbox, and so do proposals of agents if you want to review them.",
        &[&["inbox", "--limit", "2"]],
    ),
    (
        "A memory is a Markdown file. Edit it with any editor.",
        &[&["cat", REMARK]],
    ),
    (
        "Nothing is destroyed. A deleted memory can be restored, and the journal lists all operations.",
        &[&["delete", REMARK], &["undo"], &["log"]],
    ),
];

/// The commands for a home of one's own, at the end of the tour.
const NEXT: [(&str, &str); 4] = [
    (
        "memory install",
        "connects your assistants, so that they remember",
    ),
    (
        "memory ui",
        "opens the page: read, correct and undo in the browser",
    ),
    (
        "memory inbox",
        "shows what agents propose and what is not filed",
    ),
    ("memory why", "shows what your assistants received, and why"),
];

impl TourArgs {
    pub(crate) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let mut stage = TourSandbox::create(self.keep.as_deref(), app)?;
        let waits = !self.fast && app.output.is_drawn() && app.output.can_ask();
        for (index, (text, commands)) in PARTS.into_iter().enumerate() {
            if waits && 0 < index && !wait_for_key(&mut app.output)? {
                break;
            }
            stage.explain(text, app)?;
            for command in commands {
                stage.run_part(command, app)?;
            }
        }
        stage.close(app)
    }
}

/// Waits for a key; returns whether the tour goes on.
fn wait_for_key(output: &mut Output) -> Result<bool, Failure> {
    output.flush()?;
    let terminal = Term::stderr();
    terminal.write_str("\n(any key continues, q leaves) ")?;
    let key = prompt(|| Ok(terminal.read_key()?));
    terminal.clear_line()?;
    // The blank line before the next part is that of the question.
    terminal.clear_last_lines(1)?;
    // Ctrl-C and the end of the input leave too.
    Ok(key.is_ok_and(|key| !is_leaving(&key)))
}

/// The notes that the tour starts with.
static VAULT: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/commands/tour/vault");

/// Maximum width of the output in columns, and its width without a terminal.
const WIDTH: u16 = 100;

/// A home for the tour, deleted when this is dropped unless `--keep` is set.
struct TourSandbox {
    folder: PathBuf,
    thrown_away: Option<(DeleteOnSignal, TempDir)>,
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
            let folder = made.path().to_owned();
            let guard = DeleteOnSignal::new(folder.clone());
            let guard = guard.map_err(Failure::file("listen for signals"))?;
            (folder, Some((guard, made)))
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

    /// Runs a command of a part, with the ids of the memories that it names.
    fn run_part(&mut self, command: &[&str], app: &mut App) -> Result<(), Failure> {
        let mut arguments = Vec::new();
        for argument in command {
            arguments.push(match *argument {
                REMARK => self.find_id(&["--source", "claude"], app, |_| true)?,
                HARBOUR => self.find_id(&["--source", "obsidian"], app, |memory| {
                    memory["title"] == "Harbour"
                })?,
                other => other.to_owned(),
            });
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match arguments[..] {
            ["cat", id] => self.show_file(id, app),
            _ => self.run_step(&arguments, app),
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
                let home = shell_quoted(&home.display().to_string());
                format!("The home is kept for you to try: memory --root {home} list")
            }
            None => "The temporary home is deleted. What is next, in your own:".into(),
        };
        self.explain(&farewell, app)?;
        for (command, what) in NEXT {
            let command = Palette::paint(app.output.palette().bold, format!("{command:<16}"));
            app.output.hanging_line(&format!("{command}{what}"), 16)?;
        }
        Ok(())
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
            err_width: Some(self.width),
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
