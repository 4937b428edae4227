//! The process that holds a lock of a file.

#[cfg(target_os = "linux")]
use std::fs;
use std::fs::Metadata;
#[cfg(target_os = "linux")]
use std::os::unix::fs::MetadataExt;

use memory_core::LockHolder;

/// Returns a process that holds a lock of the file with this metadata; `None` if the system does not report it.
///
/// The file is not opened: closing it would release locks that this process holds.
#[cfg(target_os = "linux")]
pub fn lock_holder(found: &Metadata) -> Option<LockHolder> {
    let table = fs::read_to_string("/proc/locks").ok()?;
    let volume = (
        rustix::fs::major(found.dev()),
        rustix::fs::minor(found.dev()),
    );
    let pid = find_holder(&table, volume, found.ino(), std::process::id())?;
    // A process that has ended left the lock to a process that it started.
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(LockHolder::new(pid, &name))
}

/// Returns `None`: the system does not report it.
#[cfg(not(target_os = "linux"))]
pub fn lock_holder(_: &Metadata) -> Option<LockHolder> {
    None
}

/// Returns the holder of a lock of a file in a table in the format of `proc_locks(5)`.
///
/// A writer counts before readers, and another process before this one, whose id is `own`. Some file systems report another device, so
/// the number of the file counts alone if it finds one process.
#[cfg(target_os = "linux")]
fn find_holder(table: &str, volume: (u32, u32), inode: u64, own: u32) -> Option<u32> {
    let holder = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        // A line with an arrow is a process that waits.
        let [_, "FLOCK" | "POSIX", _, access, pid, file, ..] = fields.as_slice() else {
            return None;
        };
        let (device, number) = file.rsplit_once(':')?;
        let (major, minor) = device.split_once(':')?;
        let parse = |text| u32::from_str_radix(text, 16).ok();
        let is_volume = (parse(major)?, parse(minor)?) == volume;
        let pid: u32 = pid.parse().ok().filter(|pid| 0 < *pid)?;
        (number.parse() == Ok(inode)).then_some((is_volume, *access != "WRITE", pid == own, pid))
    };
    let mut holders: Vec<_> = table.lines().filter_map(holder).collect();
    if holders.iter().any(|(is_volume, ..)| *is_volume) {
        holders.retain(|(is_volume, ..)| *is_volume);
    } else if holders.iter().any(|(.., pid)| *pid != holders[0].3) {
        return None;
    }
    holders.into_iter().min().map(|(.., pid)| pid)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn the_holder_of_a_lock_is_the_one_of_its_file_and_not_who_waits() {
        let table = "1: FLOCK  ADVISORY  WRITE 100 08:01:77 0 EOF\n\
                     1: -> FLOCK  ADVISORY  WRITE 101 08:01:77 0 EOF\n\
                     2: POSIX  ADVISORY  READ  102 08:01:78 128 128\n\
                     3: POSIX  ADVISORY  WRITE 103 08:01:78 120 120\n\
                     4: FLOCK  ADVISORY  READ  104 103:0a:77 0 EOF\n\
                     5: FLOCK  ADVISORY  READ  105 103:0a:77 0 EOF\n\
                     6: OFDLCK ADVISORY  READ  -1 08:01:79 0 EOF\n\
                     7: FLOCK  ADVISORY  WRITE 0 08:01:80 0 EOF\n\
                     8: LEASE  ACTIVE    READ  106 08:01:81 0 EOF\n";
        let holder = |volume, inode, own| find_holder(table, volume, inode, own);
        assert_eq!(holder((8, 1), 77, 1), Some(100));
        assert_eq!(holder((8, 1), 78, 1), Some(103), "who writes");
        assert_eq!(holder((0x103, 10), 77, 104), Some(105), "not this process");
        assert_eq!(holder((0x103, 10), 77, 1), Some(104));
        assert_eq!(holder((0, 44), 78, 102), None, "two processes");
        assert_eq!(
            find_holder("1: FLOCK ADVISORY WRITE 7 08:01:9 0 EOF", (0, 44), 9, 1),
            Some(7),
            "a file system with another device"
        );
        for inode in [76, 79, 80, 81] {
            assert_eq!(holder((8, 1), inode, 1), None, "{inode}");
        }
        assert_eq!(find_holder("1: FLOCK\n\n?", (8, 1), 77, 1), None);
    }

    #[test]
    fn the_system_names_this_process_for_a_lock_of_its_own() {
        let file = tempfile::tempfile().unwrap();
        let holder = |file: &File| lock_holder(&file.metadata().unwrap());
        assert_eq!(holder(&file), None);
        file.lock().unwrap();
        let found = holder(&file).unwrap();
        assert_eq!(found.pid, std::process::id());
        assert!(found.program.is_some());
    }
}
