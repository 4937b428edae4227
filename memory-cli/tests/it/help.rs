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
      write          Remember a text
      add            Add facts to a conversation
      conversations  List conversations, last used first; or show one
      read           Show a memory
      list           List memories, newest first
      search         Find memories by what they say, best first
      delete         Move a memory to the trash
      tag            Add tags to a memory, or take them away
      edit           Change a memory, in an editor or field by field
      link           Link two memories, both ways
      unlink         Part two linked memories, both ways
      resolve-links  Follow the wikilinks of all memories, and record them at both ends
      backlinks      List the memories that lead to one, by link or by wikilink
      remind         Remember a text until it is due
      reminders      List reminders, what is due first before all others
      notify         Show the reminders that are due, each once
      done           Mark a reminder as done
      snooze         Put a reminder off, so that it is shown again then
      when           Show when a text means
      upgrade        File a memory of the inbox under a category
      dream          Tidy the memories: file what waits in the inbox, make one of what says the same,
                     follow wikilinks
      decay          Move what nobody reads to trash
      consolidate    Do what the daemon does regularly, once: expire, decay, upgrade, and make one of
                     what says the same
      pin            Let a memory stay, however old it is and however seldom it is read
      unpin          Let a pinned memory go the way of all others again
      ingest         Take in notes from other programs
      export         Write memories as JSON, one a line, oldest first
      import         Read memories that were exported, one a line
      undo           Take back the last operation, or the one named
      restore        Bring a file back from the trash
      trash          Show what is in the trash, or remove it for good
      log            Show what was done, newest first; or what one operation changed
      diff           Show how a memory came to be what it is, newest change first
      bank           Keep JSON under keys, in named banks, and ask it with jq
      topic          Keep topics, one Markdown file each, and an index of them short enough for every
                     prompt
      instance       Keep what is said in sessions, and values under keys
      embed          Have a model read the memories, so that they are found by what they mean
      model          List, choose and test models that find memories by what they mean
      agent          Call tools, as agents do
      mcp            Serve an MCP client on the standard streams
      hook           Print what an agent should know, for the hooks of its client
      install        Set up a coding assistant, so that it uses the memories
      uninstall      Take out of a coding assistant's settings what `memory install` put in
      proxy          Give a memory to any application that speaks the protocol of OpenAI
      serve          Look after the memories until told to stop
      status         Say whether somebody looks after the memories, what was done last and what is due
      reindex        Rebuild the index from the files
      doctor         Compare the files with the index and the journal
      stats          Count what is kept
      usage          Show what the language model has cost, and what is left of today's budget
      config         Show the settings, or write a file with all of them
      tour           Play the program on some seventy notes, in a home that is thrown away
      completions    Print a script that completes commands in a shell
      man            Print the manual page, or write the pages of all commands into a folder

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Everywhere:
          --root <DIR>
              Keep the memories in this folder [default: MEMORY_ROOT, else ~/.memory]

          --json
              Answer in JSON

          --fresh
              Look at every file for changes by others first

          --color <WHEN>
              Color the answer: auto, always or never
              
              [default: auto]

      -q, --quiet
              Say nothing but the answer and errors
    ");
}

#[test]
fn help_of_a_command_tells_its_flags_and_its_json() {
    assert_snapshot!(Sandbox::new().run(&["search", "--help"]), @r#"
    Find memories by what they say, best first

    Words are looked for, any of them; a question does as well. "a phrase" must stand there if any
    memory has it, -word must not, begin* stands for all words that begin so. tag:, scope:, category:,
    source:, from: and to: (2026, [day] or [day]) narrow it. A word of three letters or more is
    found inside other words too, as `sql` in PostgreSQL, behind all that have it whole; one of two
    letters only if it is the only word of the question, and a single letter or digit is not.

    In prose, with 15 words and more outside the quotation marks, a "phrase" is plain text.

    The topics of the project are looked through as well; they come behind the memories, and no filter
    lets them pass.

    JSON: {hits: [{memory: MEMORY, score, snippet, explain?}], total, degraded?, topics?: {hits:
    [{topic: TOPIC, score, snippet}], total}}

    In a pipe: id (or topic:FILE), score, title or first line, and the words around what was found.

    Usage: memory search [OPTIONS] <QUERY>...

    Arguments:
      <QUERY>...
              The words; every script is searchable, down to one character

    Options:
      -h, --help
              Print help (see a summary with '-h')

    Filters:
          --phase <PHASE>
              Only this phase: inbox or organized

          --category <CATEGORY>
              Only this category
              
              [possible values: soul, character, people, project, date, knowledge, feedback,
              preferences, decisions, lessons, habits, skills, inbox, reminders]

          --scope <SCOPE>
              Only this scope: global, agent:NAME, project:NAME or conversation:ID

          --source <SOURCE>
              Only what came from this program

          --tags <TAGS>
              Only what carries all of these tags, with commas between them; a/b also counts as a

          --from <YYYY-MM-DD>
              Only what was created on this day or later

          --to <YYYY-MM-DD>
              Only what was created on this day or earlier

          --all
              Also what has expired or was superseded

          --limit <N>
              How many at most; 0 means all
              
              [default: 10]

          --recency <W>
              How much newness counts, from 0 to 1
              
              [default: [n]]

          --diversity <LAMBDA>
              How much the worth of a hit counts against how little it repeats better ones, from 0 to 1;
              1 lets them repeat
              
              [default: 1]

          --threshold <RELEVANCE>
              Leave out what is less relevant, from 0 to 1; if not given, 0, or reranking.threshold with
              a reranking model

          --explain
              Say how each score came about

          --kind <KIND>
              What to look through

              Possible values:
              - all:   Memories and topics
              - note:  Memories
              - topic: Topics
              
              [default: all]

          --dir <DIR>
              The folder of the topics [default: .memory of the project]

    Everywhere:
          --root <DIR>
              Keep the memories in this folder [default: MEMORY_ROOT, else ~/.memory]

          --json
              Answer in JSON

          --fresh
              Look at every file for changes by others first

          --color <WHEN>
              Color the answer: auto, always or never
              
              [default: auto]

      -q, --quiet
              Say nothing but the answer and errors
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
    assert!(sandbox.text("pages/memory-search.1").contains("best first"));
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
