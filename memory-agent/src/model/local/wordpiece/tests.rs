//! Cases of the tokenizer.
