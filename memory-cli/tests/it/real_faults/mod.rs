//! What really goes wrong on a machine: processes that are killed, file systems that are full or read-only, damaged files, folders that move.

mod full;
mod index;
mod killed;
mod mounted;
mod moved;
mod read_only;
mod shapes;
