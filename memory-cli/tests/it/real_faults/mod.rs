//! Tests of real faults: killed processes, full or read-only disks, damaged files, moved folders.

mod full;
mod index;
mod killed;
mod mounted;
mod moved;
mod read_only;
mod shapes;
