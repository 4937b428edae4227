//! Tests of real faults: killed processes, full or read-only disks, damaged files, moved folders.

mod drives;
mod full;
mod index;
mod killed_import;
mod killed_writers;
mod moved_home;
mod read_only;
mod shapes;
mod small_disk;
