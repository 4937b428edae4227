//! Tests of the help texts.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn help_lists_the_commands() {
    assert_snapshot!(Sandbox::new().run(&["--help"]), @"
    The memory of all your AI agents, as plain files on your own disk.

    Memories are Markdown files below ~/.memory (or --root, or MEMORY_ROOT). Wherever a command wants an
    ID, the first 4 or more digits of one do, and so does the name of the file. Nothing is destroyed:
    `memory undo` takes the last change back.

    At a terminal, answers are tables; in a pipe, lines with tabs between the fields; with --json, JSON.
    Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 damaged data.

    Usage: memory [OPTIONS] <COMMAND>

    Commands:
      write          Write a memory
      add            Add facts to a conversation
      conversations  List conversations, most recently used first, or show one
      read           Read a memory
      list           List memories, newest first
      search         Search memories, best match first
      delete         Delete a memory; it moves to the trash
      tag            Add or remove tags of a memory
      edit           Edit a memory in an editor or by fields
      link           Link two memories in both directions
      unlink         Remove the link between two memories, in both directions
      resolve-links  Resolve the wikilinks of all memories, and store them as links in both directions
      backlinks      List the memories that link to a memory, directly or by wikilink
      remind         Create a reminder
      reminders      List reminders, due ones first
      notify         Show due reminders, each once
      done           Mark a reminder as done
      snooze         Snooze a reminder until a later time
      when           Parse the date or time in a text
      upgrade        File a memory from the inbox under a category
      dream          Tidy the memories: file what waits in the inbox, make one of what says the same,
                     follow wikilinks
      decay          Move memories that are no longer read to the trash
      consolidate    Do what the daemon does regularly, once: expire, decay, upgrade, and make one of
                     what says the same
      pin            Pin a memory, so that it is never removed because of its age
      unpin          Unpin a memory, so that it can be removed because of its age
      ingest         Ingest notes from other programs
      export         Export memories as JSON, one per line, oldest first
      import         Import exported memories, one per line
      undo           Undo the last operation, or a specific one
      restore        Restore a file from the trash
      trash          List or purge the trash
      log            Show the operation log, newest first, or the changes of one operation
      diff           Show the history of a memory, newest change first
      bank           Store JSON values under keys in named banks, and query them with jq
      topic          Keep topics, one Markdown file each, and an index of them short enough for every
                     prompt
      instance       Manage instances: stores for session messages and for values under keys
      embed          Compute vectors for the memories, so that searches find them by meaning
      model          List, select and test embedding models for searches by meaning
      agent          Call tools as an agent
      mcp            Serve an MCP client on the standard input and output
      hook           Print memories for an agent, as a hook of its client
      install        Configure a coding assistant to use the memories
      uninstall      Remove the entries of `memory install` from a coding assistant's settings
      proxy          Add memory to any application that uses the OpenAI API
      serve          Run the daemon, which maintains the memories in the background
      status         Show the state of the daemon, its last chores, and what is due
      reindex        Rebuild the index from the files
      doctor         Check the files against the index and the journal
      stats          Show statistics of the home
      usage          Show the usage of the language model, and the rest of today's budget
      config         Show or change the settings
      tour           Demonstrate the commands on about seventy notes in a temporary home
      completions    Print a shell completion script
      man            Print the manual page, or write the pages of all commands to a folder

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Everywhere:
          --root <DIR>
              Use this home folder for the memories [default: MEMORY_ROOT, else ~/.memory]

          --json
              Print output as JSON

          --fresh
              Check every file for changes by other programs first

          --color <WHEN>
              Color the output: auto, always or never
              
              [default: auto]

      -q, --quiet
              Print only the result and errors
    ");
}

#[test]
fn help_of_a_command_tells_its_flags_and_its_json() {
    assert_snapshot!(Sandbox::new().run(&["search", "--help"]), @r#"
    Search memories, best match first

    Words are looked for, any of them; a question does as well. "a phrase" must stand there if any
    memory has it, -word must not, begin* stands for all words that begin so. tag:, scope:, category:,
    source:, from: and to: (2026, [day] or [day]) narrow it. A word of three letters or more is
    found inside other words too, as `sql` in PostgreSQL, behind all that have it whole; one of two
    letters only if it is the only word of the query, and a single letter or digit is not.

    In a text of 15 or more words outside quotation marks, a "phrase" is plain text.

    The topics of the project are looked through as well; they come behind the memories, and no filter
    lets them pass.

    JSON: {hits: [{memory: MEMORY, score, snippet, explain?}], total, degraded?, topics?: {hits:
    [{topic: TOPIC, score, snippet}], total}}

    In a pipe: id (or topic:FILE), score, title or first line, and the text around the match.

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
              Select this scope: global, agent:NAME, project:NAME or conversation:ID

          --source <SOURCE>
              Select memories from this source program

          --tags <TAGS>
              Select memories with all these comma-separated tags; tag a/b also matches a

          --from <YYYY-MM-DD>
              Select memories created on or after this day

          --to <YYYY-MM-DD>
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
              How much the worth of a hit counts against how little it repeats better ones, from 0 to 1;
              1 lets them repeat
              
              [default: 1]

          --threshold <RELEVANCE>
              Leave out what is less relevant, from 0 to 1; if not given, 0, or reranking.threshold with
              a reranking model

          --explain
              Explain each score

          --kind <KIND>
              What to search

              Possible values:
              - all:   Memories and topics
              - note:  Memories
              - topic: Topics
              
              [default: all]

          --dir <DIR>
              Folder of the topics [default: .memory of the project]

    Everywhere:
          --root <DIR>
              Use this home folder for the memories [default: MEMORY_ROOT, else ~/.memory]

          --json
              Print output as JSON

          --fresh
              Check every file for changes by other programs first

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
    assert!(shown.starts_with("--- stderr\nThe memory of all your AI agents"), "{shown}");
    assert!(shown.ends_with("--- exit 2\n"), "{shown}");
}

#[test]
fn every_command_that_answers_in_json_says_how() {
    let sandbox = Sandbox::new();
    let help = sandbox.run(&["--help"]);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for command in commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|word| !word.is_empty())) {
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
    let script = Sandbox::new().run(&["completions", "bash"]);
    assert!(script.contains("resolve-links") && script.contains("preferences"), "{script}");
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["man", "--output", "pages", "--json"]), @r#"{"output":"pages"}"#);
    assert!(sandbox.text("pages/memory-search.1").contains("best match first"));
    assert!(sandbox.run(&["man"]).contains(".TH memory 1"));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["completions", "zsh"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}
