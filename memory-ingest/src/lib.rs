//! Import from and export to other programs.
//!
//! An adapter reads the files of another program and yields [`memory_core::SourceItem`]s; it never writes. [`open`]
//! returns the adapter of a source, and [`memory_core::ingest`] imports its findings. The module [`export`] converts memories
//! to the formats of other programs.
//!
//! | source | reads | default path |
//! |---|---|---|
//! | [`BasicMemory`] | every note of a project of `basic-memory` | `~/basic-memory` |
//! | [`CarAgent`] | every Markdown file | `~/.car-agent` |
//! | [`Fingersaver`] | the newest messages of `chat.md` | `~/.fingersaver` |
//! | [`Logseq`] | pages and journals, Markdown and Org | `~/logseq` |
//! | [`Markdown`] | every Markdown and text file of a folder, or one file | |
//! | [`Obsidian`] | every note of the vault | `~/my-vault` |
//! | [`Okf`] | every concept of a bundle of the Open Knowledge Format | |
//! | [`ChatGpt`] | conversations of an export; a pasted list of saved memories | |
//! | [`ClaudeAi`] | conversations, memories and projects of an export | |
//! | [`ClaudeSessions`] | transcripts of Claude Code | `~/.claude` |
//! | [`Codex`] | handbook of memories, and sessions | `~/.codex` |
//! | [`Gemini`] | sessions, saved memories and instructions of Gemini CLI | `~/.gemini` |
//! | [`ProjectRules`] | the memory bank of Cline or Roo Code, or the rules of Cursor or Windsurf | `~/.codeium/windsurf` for Windsurf |
//! | [`ServerMemory`] | entities of `memory.jsonl` with their observations and relations | |
//! | [`Mem0`] | memories of the JSON of `get_all` or of `history.db` | `~/.mem0/history.db` |
//! | [`McpMemoryService`] | memories of `sqlite_vec.db` or of an export | `~/.local/share/mcp-memory/sqlite_vec.db` |
//! | [`ClaudeMem`] | observations, summaries, rules and prompts of the database or of an export | `~/.claude-mem/claude-mem.db` |
//! | [`Letta`] | blocks and messages of an agent file | |
//! | [`Jsonl`] | JSON objects of any program, by a map of their keys | |
//! | [`CsvTable`] | rows of any table, by a map of its columns | |
//! | [`Claude`] | `CLAUDE.md`, rules, sub-agents and their memory, auto memory of projects | `~/.claude` |
//! | [`Evernote`] | every note of exported notebooks (`.enex`) | |
//! | [`Keep`] | every note of an export of Google Keep, except the trash | |
//! | [`Notion`] | every page and database of an export of Notion | |

#![forbid(unsafe_code)]

mod archive;
mod basic_memory;
mod car_agent;
mod chatgpt;
mod claude;
mod claude_ai;
mod claude_mem;
mod claude_sessions;
mod codex;
mod codex_memories;
mod codex_sessions;
mod conversation_export;
mod csv_table;
mod damaged_json;
mod database;
mod distinct_names;
mod enex;
mod enml;
mod evernote;
mod field_map;
mod fingersaver;
mod folder;
mod foreign_format;
mod front_matter;
mod gemini;
mod json_elements;
mod json_records;
mod json_splitter;
mod jsonl;
mod keep;
mod lenient;
mod letta;
mod located_source;
mod logseq;
mod markdown;
mod markdown_links;
mod mcp_memory_service;
mod mem0;
mod note;
mod notion;
mod obsidian;
mod okf;
mod own_fields;
mod page_links;
mod program_folder;
mod program_records;
mod project_rules;
mod record;
mod record_file;
mod record_note;
mod related_section;
mod server_memory;
mod session_builder;
mod session_files;
mod source_name;
mod source_text;
mod text_files;
mod truncation;
mod unquoted_values;
mod yaml;

pub mod export;

pub use basic_memory::BasicMemory;
pub use car_agent::CarAgent;
pub use chatgpt::ChatGpt;
pub use claude::Claude;
pub use claude_ai::ClaudeAi;
pub use claude_mem::ClaudeMem;
pub use claude_sessions::ClaudeSessions;
pub use codex::Codex;
pub use csv_table::CsvTable;
pub use damaged_json::split_objects;
pub use evernote::Evernote;
pub use field_map::SuggestedMap;
pub use fingersaver::Fingersaver;
pub use foreign_format::ForeignFormat;
pub use gemini::Gemini;
pub use json_elements::{JsonElement, JsonElements};
pub use jsonl::Jsonl;
pub use keep::Keep;
pub use letta::Letta;
pub use logseq::Logseq;
pub use markdown::Markdown;
pub use mcp_memory_service::McpMemoryService;
pub use mem0::Mem0;
pub use notion::Notion;
pub use obsidian::Obsidian;
pub use okf::Okf;
pub use project_rules::ProjectRules;
pub use server_memory::ServerMemory;
pub use source_name::{SourceName, SourceOptions, open};
pub use source_text::utf_8_reader;
