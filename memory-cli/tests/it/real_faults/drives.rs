//! Tests of homes on drives that lack calls: locks, shared memory maps, or syncs of folders.

use std::time::{Duration, Instant};

use crate::clock::build_library;
use crate::sandbox::Sandbox;

/// Lets the calls in `MEMORY_TEST_LACKS` fail for files below `MEMORY_TEST_DRIVE`, as on such a drive.
const LACKS: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
static int lacks(const char *what, int file) {
    char link[64], path[4096];
    const char *drive = getenv("MEMORY_TEST_DRIVE"), *missing = getenv("MEMORY_TEST_LACKS");
    if (file < 0 || !drive || !missing || !strstr(missing, what)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strncmp(path, drive, strlen(drive)) == 0;
}
#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))
int flock(int file, int operation) {
    if (lacks("locks", file)) { errno = ENOLCK; return -1; }
    return NEXT(int (*)(int, int), "flock")(file, operation);
}
static int control(const char *name, int file, int command, void *argument) {
    int is_lock = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
    if (is_lock && lacks("locks", file)) { errno = ENOLCK; return -1; }
    return NEXT(int (*)(int, int, void *), name)(file, command, argument);
}
int fcntl(int file, int command, ...) {
    va_list list; va_start(list, command); void *argument = va_arg(list, void *); va_end(list);
    return control("fcntl", file, command, argument);
}
int fcntl64(int file, int command, ...) {
    va_list list; va_start(list, command); void *argument = va_arg(list, void *); va_end(list);
    return control("fcntl64", file, command, argument);
}
int fsync(int file) {
    struct stat found;
    if (lacks("syncs", file) && fstat(file, &found) == 0 && S_ISDIR(found.st_mode)) { errno = EINVAL; return -1; }
    return NEXT(int (*)(int), "fsync")(file);
}
void *mmap(void *at, size_t length, int access, int flags, int file, off_t offset) {
    if ((flags & MAP_SHARED) && lacks("maps", file)) { errno = ENODEV; return MAP_FAILED; }
    return NEXT(void *(*)(void *, size_t, int, int, int, off_t), "mmap")(at, length, access, flags, file, offset);
}
void *mmap64(void *at, size_t length, int access, int flags, int file, off_t offset) {
    return mmap(at, length, access, flags, file, offset);
}
"#;

/// SQLite would wait for a lock for two minutes.
const LIMIT: Duration = Duration::from_mins(1);

/// Runs commands on a home whose drive lacks calls.
struct LackingDrive {
    sandbox: Sandbox,
    library: String,
    _folder: tempfile::TempDir,
}

impl LackingDrive {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let library = build_library(folder.path(), LACKS);
        Self {
            sandbox: Sandbox::new(),
            library,
            _folder: folder,
        }
    }

    fn run(&self, lacks: &str, arguments: &[&str]) -> String {
        let drive = self.sandbox.path(".memory").display().to_string();
        let begun = Instant::now();
        let output = self.sandbox.run_with_all(
            &[
                ("LD_PRELOAD", self.library.as_str()),
                ("MEMORY_TEST_DRIVE", drive.as_str()),
                ("MEMORY_TEST_LACKS", lacks),
            ],
            arguments,
        );
        assert!(begun.elapsed() < LIMIT, "{lacks} {arguments:?}: {output}");
        output
    }
}

#[test]
fn a_home_on_a_drive_that_lacks_calls_is_searched_and_a_write_is_refused_with_the_next_step() {
    let drive = LackingDrive::new();
    drive.sandbox.write("The user prefers tea", &[]);
    for (lacks, what) in [("locks", "locks"), ("syncs", "syncs of folders")] {
        // The index must be built.
        std::fs::remove_dir_all(drive.sandbox.path(".memory/index")).expect("a folder");
        let found = drive.run(lacks, &["search", "tea"]);
        assert!(found.contains("prefers tea"), "{lacks}: {found}");
        let refused = drive.run(lacks, &["write", "The user prefers coffee"]);
        assert!(
            refused.contains(&format!("the drive of this folder does not support {what}"))
                && refused.contains("MEMORY_ROOT")
                && !refused.contains("--- exit 0"),
            "{lacks}: {refused}"
        );
        drive.run("", &["search", "tea"]);
        let found = drive.run(lacks, &["search", "tea"]);
        assert!(found.contains("prefers tea"), "{lacks}: {found}");
    }
}

#[test]
fn a_home_on_a_drive_without_shared_memory_maps_has_a_temporary_index() {
    let drive = LackingDrive::new();
    drive.run("maps", &["write", "The user prefers tea"]);
    let found = drive.run("maps", &["search", "tea"]);
    assert!(
        found.contains("prefers tea") && found.contains("a temporary index was used"),
        "{found}"
    );
}
