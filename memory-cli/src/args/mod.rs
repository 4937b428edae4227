//! Arguments that several commands share.

mod filter;
mod speaker;
mod text;
mod token;
mod values;

pub(crate) use filter::FilterArgs;
pub(crate) use speaker::SpeakerArgs;
pub(crate) use text::{join_words, or_stdin, read_content};
pub(crate) use token::TokenArgs;
pub(crate) use values::{SourceSelection, category_parser, client_parser, order_parser, share_parser, sources_parser};
