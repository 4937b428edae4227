mod unigram;
mod wordpiece;
