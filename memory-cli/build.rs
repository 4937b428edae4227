//! Creates the short forms `memo` and `memory-cli` beside the program in the target folder, as links to it.
//!
//! `cargo install` copies programs only; docs/src/installing.md shows the links for it. On systems other than Unix, the
//! packages contain hard links.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(unix)]
    {
        use std::path::Path;

        let folder = std::env::var_os("OUT_DIR").expect("Cargo sets it");
        // The folder is build/PACKAGE/out below that of the programs.
        let programs = Path::new(&folder).ancestors().nth(3).expect("a profile");
        for name in ["memo", "memory-cli"] {
            // It may be the program of an earlier version. The program itself works without links.
            let _ = std::fs::remove_file(programs.join(name));
            let _ = std::os::unix::fs::symlink("memory", programs.join(name));
        }
    }
}
