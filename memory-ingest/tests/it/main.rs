//! Tests of the adapters with real files and with unusual ones.

mod agent_sessions;
mod basic_memory;
mod chatgpt;
mod claude;
mod claude_ai;
mod claude_mem;
mod codex_memories;
mod damaged_records;
mod evernote;
mod export;
mod front_matter;
mod inputs;
mod keep;
mod letta;
mod logseq;
mod markdown;
mod mcp_memory_service;
mod mem0;
mod notion;
mod obsidian;
mod okf;
mod project_rules;
mod sandbox;
mod server_memory;
mod source_names;
mod tables;
