//! The program without arguments at a terminal: a menu on a new machine, else what waits and what to do next.

use std::ffi::OsString;
use std::path::Path;
use std::{fs, io};

use dialoguer::console::{Key, Term};

use crate::app::App;
use crate::config::{Environment, default_root_folder};
use crate::failure::Failure;
use crate::print::{Output, Streams, Table, TableColumn, counted};
use crate::service::ServiceManager;
use crate::status::{StatusSnapshot, page_url};
use crate::system_check::{ClientState, client_states};

use super::status::SOON;

/// The choices, with the arguments of their commands.
const CHOICES: [(char, &str, &[&str]); 4] = [
    (
        'o',
        "Open the page: read, write and correct memories in a browser",
        &["ui"],
    ),
    (
        't',
        "Take the tour: two minutes, in a temporary home",
        &["tour"],
    ),
    (
        'i',
        "Import what is on this machine: notes and chats of other programs",
        &["import"],
    ),
    (
        's',
        "Set up your assistants, so that they remember",
        &["install"],
    ),
];

/// Returns whether a person can be asked.
pub(crate) fn can_ask(streams: &Streams) -> bool {
    streams.input_is_terminal && streams.out_width.is_some() && streams.err_is_terminal
}

/// Returns whether nothing was stored and no assistant was set up yet.
pub(crate) fn is_first_run(environment: &Environment) -> bool {
    let root = environment
        .root
        .clone()
        .or_else(|| default_root_folder(environment));
    // Commands that only read make an index.
    let is_content = |name: OsString| name != "index" && !name.as_encoded_bytes().starts_with(b".");
    let has_content = |root: &Path| match fs::read_dir(root) {
        Ok(entries) => entries.flatten().any(|entry| is_content(entry.file_name())),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    !root.is_some_and(|root| has_content(&root))
        && client_states(environment).all(|(_, state)| state == ClientState::Absent)
}

/// Shows what waits, and the next steps.
pub(crate) fn show_overview(app: &mut App) -> Result<(), Failure> {
    let home = app.open()?;
    let state = StatusSnapshot::of(&home)?;
    let expiring = home.expiring(SOON)?.len() as u64;
    let place = app.output.display_path(home.store.root());
    let output = &mut app.output;
    let memories = counted(state.memories, "memory");
    output.line(&format!(
        "memory {}: {memories} in {place}",
        env!("CARGO_PKG_VERSION")
    ))?;
    output.line("")?;
    let waiting = waiting(&state, expiring);
    if waiting.is_empty() {
        output.line("Nothing waits for you.")?;
    } else {
        print_steps("waiting", &waiting, output)?;
    }
    output.line("")?;
    print_steps("next steps", &next_steps(&state, app.environment), output)?;
    output.line("")?;
    let page = match state.page {
        Some(address) => format!(
            "The page is served at {}; `memory ui` opens it.",
            page_url(address)
        ),
        None => "`memory ui` opens the page in the browser.".to_owned(),
    };
    output.line(&format!("{page} `memory help` lists the commands."))
}

/// What waits or can be done, and the command for it.
type SuggestedStep = (String, String);

fn print_steps(
    title: &'static str,
    steps: &[SuggestedStep],
    output: &mut Output,
) -> Result<(), Failure> {
    let mut table = Table::new([TableColumn::Text(title), TableColumn::Whole("command")]);
    for (what, command) in steps {
        table.push([what.as_str(), command]);
    }
    output.table(&table)
}

/// Returns what waits for the person.
fn waiting(state: &StatusSnapshot, expiring: u64) -> Vec<SuggestedStep> {
    let counts = [
        (
            state.proposals.waiting,
            "proposal",
            "to review",
            "memory inbox".to_owned(),
        ),
        (
            state.due,
            "reminder",
            "due",
            "memory remind list --due".to_owned(),
        ),
        (
            expiring,
            "memory",
            "will soon move to the trash",
            format!("memory list --expiring {}d", SOON.num_days()),
        ),
    ];
    let counted = counts
        .into_iter()
        .filter(|(count, ..)| 0 < *count)
        .map(|(count, noun, what, command)| (format!("{} {what}", counted(count, noun)), command));
    let update = |title: &str| format!("{title} uses another version of this program");
    let clients = state.outdated.iter().map(|client| {
        (
            update(client.title),
            format!("memory install {}", client.name),
        )
    });
    let plugins = state
        .outdated_plugins
        .iter()
        .map(|plugin| (plugin.describe(), "memory help plugin".to_owned()));
    let daemon = state
        .daemon_version()
        .filter(|version| *version != env!("CARGO_PKG_VERSION"))
        .map(|_| (update("the daemon"), "memory daemon status".to_owned()));
    let newer = state
        .newer
        .iter()
        .map(|newer| (newer.to_string(), "memory doctor --system".to_owned()));
    counted
        .chain(clients)
        .chain(plugins)
        .chain(daemon)
        .chain(newer)
        .collect()
}

/// The number of next steps.
const NEXT_STEPS: usize = 3;

/// Returns the next steps for a home in this state.
fn next_steps(state: &StatusSnapshot, environment: &Environment) -> Vec<SuggestedStep> {
    let clients: Vec<_> = client_states(environment).collect();
    let is_connected = clients
        .iter()
        .any(|(_, state)| *state != ClientState::Absent);
    let background = if ServiceManager::is_available() {
        "memory daemon install"
    } else {
        "memory daemon run"
    };
    if state.newer.is_some() {
        return vec![
            step("update this program", "memory doctor --system"),
            step("find a memory", "memory search WORDS"),
            step("list the memories", "memory list"),
        ];
    }
    let candidates = [
        clients
            .first()
            .filter(|_| !is_connected)
            .map(|(client, _)| {
                let what = format!("connect {}, so that it remembers", client.title);
                (what, format!("memory install {}", client.name))
            }),
        (state.memories == 0).then(|| step("write the first memory", "memory write \"TEXT\"")),
        (state.memories == 0)
            .then(|| step("import notes and chats that you have", "memory import")),
        (0 < state.inbox).then(|| {
            let what = format!("look at {} not yet filed", counted(state.inbox, "note"));
            (what, "memory inbox".to_owned())
        }),
        is_connected.then(|| step("see what your assistants received", "memory why")),
        (0 < state.memories).then(|| step("find a memory", "memory search WORDS")),
        state
            .running
            .is_none()
            .then(|| step("let it remind you and tidy on its own", background)),
        Some(step("write a memory", "memory write \"TEXT\"")),
    ];
    candidates.into_iter().flatten().take(NEXT_STEPS).collect()
}

fn step(what: &str, command: &str) -> SuggestedStep {
    (what.to_owned(), command.to_owned())
}

/// Offers the choices, and returns the arguments of the selected command; those of the help after any other key.
pub(crate) fn ask(output: &mut Output) -> Result<Vec<OsString>, Failure> {
    output.line("memory: one memory for all your AI agents, as plain files on your own disk")?;
    output.line("")?;
    for (key, text, command) in CHOICES {
        let choice = format!("  {key}  {text} (`memory {}`)", command.join(" "));
        output.hanging_line(&choice, 3)?;
    }
    output.line("")?;
    output.flush()?;
    let terminal = Term::stderr();
    terminal.write_str("o, t, i or s; any other key lists the commands > ")?;
    // Without a key, the commands are listed.
    let key = terminal.read_key().ok();
    terminal.write_line("")?;
    let is_key =
        |own: char| matches!(key, Some(Key::Char(pressed)) if pressed.eq_ignore_ascii_case(&own));
    let chosen = CHOICES.iter().find(|(own, ..)| is_key(*own));
    let command = chosen.map_or(&["--help"][..], |(.., command)| command);
    Ok(["memory"]
        .iter()
        .chain(command)
        .map(OsString::from)
        .collect())
}
