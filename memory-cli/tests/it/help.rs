//! Tests of the help texts.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;
use crate::terminal::run_with_typed_input;

#[test]
fn help_lists_the_everyday_commands() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["help"]), @r#"
    The memory of all your AI agents, as plain files on your own disk

    Usage: memory [OPTIONS] <COMMAND>

    Everyday:
      ui             Open the page to browse, correct and undo memories in a browser
      write          Write a memory
      search         Search memories, best match first
      list           List memories, newest first
      read           Read a memory
      edit           Edit a memory in an editor or by fields
      delete         Delete a memory; it moves to the trash
      undo           Undo the last operation, or a specific one
      inbox          Review what agents propose, and the notes that are not filed
      remind         Create a reminder; list, finish or snooze reminders
      why            Show what agents received lately, or why they received a memory
      import         Import notes and chats from other programs, files and folders
      install        Configure coding assistants to use the memories
      status         Show the state of the daemon, its last chores, and what is due
      doctor         Check the files against the index and the journal

    Examples:
      memory write "The user prefers dark mode" --tags ui
      memory search "which mode does the user prefer?"
      memory remind "call the dentist tomorrow at 3pm"
      memory install claude-code

    `memory` alone shows what waits and what to do next. `memory help --all` shows every command,
    `memory help COMMAND` describes one.
    `memory help GUIDE` prints a guide: assistants, moving, review, team, machines.
    "#);
    assert_eq!(sandbox.run(&["help"]), sandbox.run(&["--help"]));
}

#[test]
fn help_lists_all_commands_in_groups() {
    assert_snapshot!(Sandbox::new().run(&["help", "--all"]), @r#"
    The memory of all your AI agents, as plain files on your own disk

    Usage: memory [OPTIONS] <COMMAND>

    Everyday:
      ui             Open the page to browse, correct and undo memories in a browser
      write          Write a memory
      search         Search memories, best match first
      list           List memories, newest first
      read           Read a memory
      edit           Edit a memory in an editor or by fields
      delete         Delete a memory; it moves to the trash
      undo           Undo the last operation, or a specific one
      inbox          Review what agents propose, and the notes that are not filed
      remind         Create a reminder; list, finish or snooze reminders
      why            Show what agents received lately, or why they received a memory
      import         Import notes and chats from other programs, files and folders
      install        Configure coding assistants to use the memories
      status         Show the state of the daemon, its last chores, and what is due
      doctor         Check the files against the index and the journal

    Organise:
      tidy           Refine the memories: file the inbox, merge duplicates and resolve wikilinks
      tag            Add or remove tags of a memory
      link           Link two memories in both directions; remove, list or resolve links
      pin            Pin a memory, so that it is kept for ever
      log            Show the operation log, newest first, or the changes of one operation or memory
      trash          List or purge the trash
      restore        Restore a file from the trash
      export         Export memories: as a backup of JSON lines, or in the format of another program
      notify         Show due reminders, each once
      when           Parse the date or time in a text
      embed          Compute vectors for the memories, so that searches find them by meaning
      model          List, select and test embedding models for searches by meaning

    Agents and servers:
      uninstall      Remove the entries of `memory install` from the settings of coding assistants
      plugin         Write plugins for coding assistants, to share with a team
      mcp            Serve an MCP client on the standard input and output
      agent          Call tools as an agent
      hook           Print memories for an agent, as a hook of its client
      project        Show and choose which repositories belong to a project
      daemon         Run the daemon, which works in the background, or install it as a service
      proxy          Add memory to any application that uses the OpenAI API
      shared         Share memories with other machines and users, in a Postgres database

    Other stores:
      bank           Store JSON values under keys in named banks, and query them with jq
      topic          Manage topics: Markdown files with a short index for every prompt
      instance       Manage instances: stores for session messages and for values under keys
      conversations  List conversations, most recently used first; show one, or add facts

    Maintenance:
      stats          Show statistics of the home
      usage          Show the usage of the language model, and the rest of today's budget
      reindex        Rebuild the index from the files
      config         Show or change the settings
      tour           Demonstrate the commands on about seventy notes in a temporary home
      completions    Print a shell completion script
      man            Print the manual page, or write the pages of all commands to a folder

    Examples:
      memory write "The user prefers dark mode" --tags ui
      memory search "which mode does the user prefer?"
      memory remind "call the dentist tomorrow at 3pm"
      memory install claude-code

    Options:
          --root <DIR>    Use this home folder for the memories [default: MEMORY_ROOT, else ~/.memory]
          --json          Print output as JSON
          --fresh         Check every file for changes, and fail if a shared database is unreachable
          --color <WHEN>  Color the output: auto, always or never [default: auto]
      -q, --quiet         Print only the result and errors
      -h, --help          Print help
      -V, --version       Print version

    Memories are Markdown files below ~/.memory (or --root, or MEMORY_ROOT). Where a command takes an
    ID, the first four or more digits and the file name work too. `memory undo` reverts the last change.

    Output is a table in a terminal, tab-separated lines in a pipe, and JSON with --json.
    Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 damaged data.
    "#);
}

#[test]
fn help_of_a_command_tells_its_flags_and_its_json() {
    assert_snapshot!(Sandbox::new().run(&["search", "--help"]), @r#"
    Search memories, best match first

    Memories with any of the words match; a question works too. "a phrase" is required if any memory
    contains it, -word excludes, begin* matches words with that prefix. tag:, scope:, category:,
    source:, from: and to: (2026, [day] or [day]) filter. A word of three or more letters is also
    found within other words, like `sql` in PostgreSQL, ranked after whole words; a word of two letters
    only if it is the whole query, and a single letter or digit never.

    Without such operators, memories of a time or category in the query come first ("decisions about tea
    last week"); a query without a subject ("what did I note last week") lists them alone.

    In a text of 15 or more words outside quotation marks, a "phrase" is plain text.

    Topics of the project, and sessions of the history, are searched as well, unless a filter is set;
    they follow the memories. The best message of each of three sessions is shown; `--kind chat` shows
    more.

    JSON: {hits: [{memory: MEMORY, score, snippet, explain?}], total, degraded?, corrected?: {query,
    words, searched}, understood?: {query, category?, from?, until?}, topics?: {hits: [{topic: TOPIC,
    score, snippet}], total}, chats?: {hits: [{chat, id?, ts?, role, score, snippet}], total}}

    In a pipe: id (or topic:FILE, session:NAME), score, title or first line (or role), and the text
    around the match.

    Usage: memory search [OPTIONS] <QUERY>...

    Arguments:
      <QUERY>...
              Query; every script is searchable, down to a single character

    Options:
      -h, --help
              Print help (see a summary with '-h')

    Filters:
          --phase <PHASE>
              Select this phase: inbox or organized

          --category <CATEGORY>
              Select this category
              
              [possible values: soul, character, people, project, date, knowledge, feedback,
              preferences, decisions, lessons, habits, skills, inbox, reminders]

          --scope <SCOPE>
              Select this scope: global, agent:NAME, project:NAME, private:NAME, team:NAME or
              conversation:ID

          --source <SOURCE>
              Select memories from this source program

          --tags <TAGS>
              Select memories with all these comma-separated tags; tag a/b also matches a

          --from <WHEN>
              Select memories created on or after this day: YYYY-MM-DD, a time, or words such as "last
              monday"

          --to <WHEN>
              Select memories created on or before this day

          --all
              Include expired and superseded memories

          --limit <N>
              Maximum number of hits; 0 means all
              
              [default: 10]

          --recency <W>
              Weight of recency, from 0 to 1
              
              [default: [n]]

          --diversity <LAMBDA>
              Weight of relevance against diversity, from 0 to 1; 1 allows repetition
              
              [default: 1]

          --threshold <RELEVANCE>
              Minimum relevance, from 0 to 1 [default: 0; reranking.threshold with a reranking model]

          --explain
              Explain each score

          --words
              Search by words only, not by meaning

          --kind <KIND>
              What to search

              Possible values:
              - all:   Memories, topics and sessions
              - note:  Memories
              - topic: Topics
              - chat:  Messages and facts of conversations, and messages of sessions
              
              [default: all]

          --dir <DIR>
              Folder of the topics [default: .memory of the project]

    Everywhere:
          --root <DIR>
              Use this home folder for the memories [default: MEMORY_ROOT, else ~/.memory]

          --json
              Print output as JSON

          --fresh
              Check every file for changes, and fail if a shared database is unreachable

          --color <WHEN>
              Color the output: auto, always or never
              
              [default: auto]

      -q, --quiet
              Print only the result and errors
    "#);
}

#[test]
fn nothing_typed_shows_the_commands_and_is_wrong() {
    let shown = Sandbox::new().run(&[]);
    assert!(
        shown.starts_with("--- stderr\nThe memory of all your AI agents"),
        "{shown}"
    );
    assert!(shown.ends_with("--- exit 2\n"), "{shown}");
}

#[test]
fn every_command_that_answers_in_json_says_how() {
    let sandbox = Sandbox::new();
    let help = sandbox.run(&["--help"]);
    let commands = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    for command in commands.filter_map(|line| {
        line.strip_prefix("  ")?
            .split(' ')
            .next()
            .filter(|word| !word.is_empty())
    }) {
        if ["trash", "config"].contains(&command) {
            continue;
        }
        let help = sandbox.run(&[command, "--help"]);
        assert!(help.contains("JSON"), "{command}: {help}");
    }
}

#[test]
fn the_version_is_one_line() {
    assert_snapshot!(Sandbox::new().run(&["-V"]), @"memory 0.1.0");
}

#[test]
fn completions_name_the_commands() {
    let sandbox = Sandbox::new();
    let script = sandbox.run(&["completions", "elvish"]);
    assert!(script.contains("cand unset"), "no command of a command");
    let candidates = sandbox.run(&["complete", "fish", "80", "memory res"]);
    assert!(
        candidates.contains("restore\tRestore a file"),
        "{candidates}"
    );
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["man", "--output", "pages", "--json"]), @r#"{"output":"pages"}"#);
    assert!(
        sandbox
            .read_file("pages/memory-search.1")
            .contains("best match first")
    );
    assert!(sandbox.run(&["man"]).contains(".TH memory 1"));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["completions", "zsh"]);
    command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).as_ref()
        ),
        (Some(0), "")
    );
}

#[test]
fn former_names_do_the_same_as_the_new_commands() {
    let lines = [
        ("reminders", "remind list"),
        ("snooze CALL 2030-01-05", "remind snooze CALL 2030-01-05"),
        ("done CALL --json", "remind done CALL --json"),
        ("link TEA CAKE", "link TEA CAKE"),
        ("backlinks TEA", "link list TEA"),
        ("unlink TEA CAKE", "link remove TEA CAKE"),
        ("unpin TEA", "pin TEA --remove"),
        ("upgrade TEA", "tidy upgrade TEA"),
        ("dream --json", "tidy --json"),
        ("diff TEA", "log TEA"),
        ("add -c work tea", "conversations add -c work tea"),
        ("remember buy milk", "write buy milk"),
        ("show TEA", "read TEA"),
        ("forget TEA", "delete TEA"),
        ("ls", "list"),
        ("recalls", "why"),
    ];
    let run_all = |lines: Vec<&str>| {
        let sandbox = Sandbox::new();
        let (tea, cake) = (sandbox.write("Tea.", &[]), sandbox.write("Cake.", &[]));
        let call = sandbox.run_json(&["remind", "call", "--at", "2030-01-04"])["id"].clone();
        let call = call.as_str().expect("an id");
        let run = |line: &str| {
            let line = line.replace("TEA", &tea).replace("CAKE", &cake);
            let line = line.replace("CALL", call);
            sandbox.run(&line.split(' ').collect::<Vec<_>>())
        };
        lines.into_iter().map(run).collect::<Vec<_>>()
    };
    let former = run_all(lines.iter().map(|line| line.0).collect());
    let new = run_all(lines.iter().map(|line| line.1).collect());
    for (line, (former, new)) in lines.iter().zip(former.iter().zip(&new)) {
        assert!(!new.contains("error["), "{line:?}: {new}");
        assert_eq!(former, new, "{line:?}");
    }
}

#[test]
fn a_former_name_is_explained_once_and_only_at_a_terminal() {
    let sandbox = Sandbox::new();
    let hint = "`memory reminders` is now `memory remind list`";
    sandbox.write("tea", &[]);
    assert!(!sandbox.run(&["reminders"]).contains(hint));
    let Some(first) = run_with_typed_input(&sandbox, "reminders", "") else {
        return;
    };
    let shown = |arguments: &str| {
        let shown = run_with_typed_input(&sandbox, arguments, "").unwrap_or_default();
        shown.contains("is now")
    };
    assert!(first.contains(hint), "{first}");
    assert!(!shown("reminders") && shown("recalls") && !shown("remind list"));
    assert!(!shown("dream --json") && !shown("-q dream") && shown("dream"));
}

#[test]
fn an_unknown_command_leads_to_the_nearest_one() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["serach", "tea"]), @r"
    --- stderr
    error[usage]: unrecognized subcommand 'serach'

      tip: a similar subcommand exists: 'search'

    Usage: memory [OPTIONS] <COMMAND>

    For more information, try '--help'.
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["topics"]), @r"
    --- stderr
    error[usage]: unrecognized subcommand 'topics'

      tip: a similar subcommand exists: 'topic'

    Usage: memory [OPTIONS] <COMMAND>

    For more information, try '--help'.
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["--json", "reminder"]), @r#"
    {"error":{"code":"USAGE","message":"unrecognized subcommand 'reminder'","hint":"some similar subcommands exist: 'remind list', 'remind', 'reindex'; Usage: memory [OPTIONS] <COMMAND>"}}
    --- exit 2
    "#);
}
