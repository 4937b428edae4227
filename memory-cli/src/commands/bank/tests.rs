//! Generates `examples/memory-banks.kdl`, a definition of `memory-cli` for programs that read KDL.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, Command, Subcommand};

use super::BankCommand;

/// A flag of the definition, merged from all commands that have the flag.
#[derive(Debug, Default)]
struct KdlFlag {
    short: Option<char>,
    description: String,
    kind: &'static str,
    values: Vec<String>,
}

/// The defaults of the definition. The command line itself selects the scope and the format by command.
const DEFAULTS: [(&str, &str); 2] = [("format", "json"), ("scope", "project")];

/// Returns the definition as KDL.
fn kdl_definition() -> String {
    let commands = BankCommand::augment_subcommands(Command::new("memory-cli"));
    let names: Vec<_> = commands
        .get_subcommands()
        .map(|command| format!("{:?}", command.get_name()))
        .collect();
    let mut flags: BTreeMap<String, KdlFlag> = BTreeMap::new();
    for argument in commands
        .get_subcommands()
        .flat_map(Command::get_arguments)
        .filter(|argument| !argument.is_positional())
    {
        let Some(long) = argument.get_long() else {
            continue;
        };
        let flag = flags.entry(long.to_owned()).or_default();
        flag.short = flag.short.or(argument.get_short());
        if flag.description.is_empty() {
            flag.description = argument
                .get_help()
                .map(ToString::to_string)
                .unwrap_or_default();
        }
        flag.kind = flag_type(argument);
        for value in argument
            .get_possible_values()
            .iter()
            .filter(|_| flag.kind == "string")
        {
            if !flag.values.iter().any(|known| known == value.get_name()) {
                flag.values.push(value.get_name().to_owned());
            }
        }
    }
    let mut text = String::from(
        "// Generated from the definition of the command line; a test checks it.\ncli \"memory\" {\n    description \"Structured \
         file-based memory banks for agent sessions\"\n    command \"memory-cli\"\n",
    );
    let mut put = |lines: &str| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{lines}");
    };
    put(&format!(
        "\n    arg \"command\" {{\n        description \"Subcommand\"\n        required true\n        position 0\n        enum {}\n    }}\n",
        names.join(" ")
    ));
    for (position, (name, description)) in [
        ("bank", "Memory bank name"),
        ("key", "Key within bank"),
        (
            "value",
            "Value to write (JSON) or jq filter for query and update",
        ),
    ]
    .iter()
    .enumerate()
    {
        put(&format!(
            "\n    arg \"{name}\" {{\n        description \"{description}\"\n        required false\n        position {}\n    }}\n",
            position + 1
        ));
    }
    for (long, flag) in &flags {
        let default = DEFAULTS.iter().find(|(own, _)| own == long);
        put(&format!("\n    flag \"{long}\" {{\n"));
        if let Some(short) = flag.short {
            put(&format!("        short \"-{short}\"\n"));
        }
        put(&format!("        long \"--{long}\"\n"));
        if !flag.kind.is_empty() {
            put(&format!("        type \"{}\"\n", flag.kind));
        }
        // The default of the command line depends on the command.
        let description = match default {
            Some(_) => flag
                .description
                .split(" [default")
                .next()
                .unwrap_or_default(),
            None => &flag.description,
        };
        put(&format!("        description {description:?}\n"));
        if !flag.values.is_empty() {
            let values: Vec<_> = flag
                .values
                .iter()
                .map(|value| format!("{value:?}"))
                .collect();
            put(&format!("        enum {}\n", values.join(" ")));
        }
        if let Some((_, value)) = default {
            put(&format!("        default {value:?}\n"));
        }
        put("    }\n");
    }
    put(
        "\n    stdin {\n        description \"Value to write (when --stdin is used)\"\n        format \"json\"\n    }\n\n    stdout {\n        \
         format \"json\"\n    }\n\n    timeout 30000\n}\n",
    );
    text
}

fn flag_type(argument: &Arg) -> &'static str {
    let is_number = argument.get_value_parser().type_id()
        == ValueParser::from(clap::value_parser!(u64)).type_id();
    match argument.get_action() {
        ArgAction::Set | ArgAction::Append if is_number => "number",
        ArgAction::Set | ArgAction::Append => "string",
        _ => "",
    }
}

#[test]
fn the_definition_in_the_examples_is_that_of_the_command_line() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/memory-banks.kdl");
    let definition = kdl_definition();
    if std::env::var_os("MEMORY_README_UPDATE").is_some() {
        std::fs::write(file, &definition).expect("a file");
    }
    let written = std::fs::read_to_string(file).expect("a file");
    assert!(
        written == definition,
        "run this test with MEMORY_README_UPDATE=1 and look at what changed in {file}"
    );
}
