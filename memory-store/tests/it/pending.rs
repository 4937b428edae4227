//! Tests that `pending.md` is always complete.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use memory_store::disk::RealDisk;
use memory_store::{FileStore, FileStoreOptions};

use crate::faulty_disk::{DiskFault, FaultyDisk};
use crate::home::TestHome;

const FORMER: &str = "# Due reminders\n\n1";
const NEW: &str = "# Due reminders\n\n2";

#[test]
fn a_file_of_the_user_is_neither_replaced_nor_deleted() {
    let home = TestHome::new();
    let place = home.path().join("pending.md");
    std::fs::write(&place, "my tasks\n").unwrap();
    let store = FileStore::open(home.path(), FileStoreOptions::default()).unwrap();
    for page in [Some(NEW), None] {
        let page = || Ok(page.map(str::to_owned));
        assert!(!store.update_pending_page(page).unwrap());
        assert_eq!(std::fs::read_to_string(&place).unwrap(), "my tasks\n");
    }
}

#[test]
fn the_page_is_the_former_one_or_the_new_one_at_any_step() {
    for fault in [DiskFault::Dies, DiskFault::FULL] {
        for at in 1.. {
            let home = TestHome::new();
            let page = || std::fs::read_to_string(home.path().join("pending.md")).ok();
            let store = FileStore::open(home.path(), FileStoreOptions::default()).unwrap();
            assert!(
                store
                    .update_pending_page(|| Ok(Some(FORMER.into())))
                    .unwrap()
            );
            let (disk, steps) = FaultyDisk::new(RealDisk::open(home.path()).unwrap(), fault, at);
            let faulty =
                FileStore::on_disk(Arc::new(disk), home.path(), FileStoreOptions::default());
            let is_kept = faulty.update_pending_page(|| Ok(Some(NEW.into()))).is_ok();
            let wanted = if is_kept { NEW } else { FORMER };
            assert_eq!(page().as_deref(), Some(wanted), "{fault:?} at step {at}");
            assert!(!store.update_pending_page(|| Ok(None)).unwrap());
            assert_eq!(page(), None);
            if steps.load(Ordering::Relaxed) < at {
                break;
            }
        }
    }
}
