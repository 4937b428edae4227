//! Instances and their credentials: a sealed value opens only with its key, and no fault loses it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use memory_core::instance::{InstanceError, InstanceName};
use memory_core::testing::{CountingIds, FakeClock};
use memory_core::{Code, Operation, Verb};
use memory_store::disk::RealDisk;
use memory_store::sealed::{
    FieldValue, InstanceFolder, MasterKey, NewFieldValue, TrashedDefinition,
};
use tempfile::TempDir;

use crate::faulty_disk::{DiskFault, FaultyDisk, run_fault_table};

const DSN: &str = "postgres://user:pass@host/db";

fn name(text: &str) -> InstanceName {
    text.parse().unwrap()
}

fn operation() -> Operation {
    Operation::new(
        Verb::Set,
        "cli",
        &FakeClock::default(),
        &CountingIds::default(),
    )
}

fn open(home: &Path, given: Option<MasterKey>) -> InstanceFolder {
    InstanceFolder::new(home.join("instances"), home.join("keys"), given)
}

fn fields(dsn: &str) -> Vec<(String, NewFieldValue)> {
    vec![
        ("driver".into(), NewFieldValue::Plain("postgres".into())),
        ("dsn".into(), NewFieldValue::secret(dsn)),
    ]
}

fn connect(
    instances: &InstanceFolder,
    at: &str,
    dsn: &str,
) -> Result<Option<TrashedDefinition>, InstanceError> {
    instances.write(&name("history"), &name(at), &fields(dsn), &operation())
}

fn dsn(instances: &InstanceFolder, at: &str) -> Result<String, InstanceError> {
    let definition = instances
        .read(&name("history"), &name(at))?
        .expect("it is defined");
    match definition.field("dsn").expect("it has one") {
        FieldValue::Sealed(sealed) => instances
            .open(&definition, "dsn", sealed)
            .map(|secret| secret.as_str().to_owned()),
        FieldValue::Plain(text) => panic!("{text} is not sealed"),
    }
}

#[test]
fn what_is_sealed_stands_in_no_file_and_opens_for_who_has_the_key() {
    let home = tempfile::tempdir().unwrap();
    let instances = open(home.path(), None);
    assert_eq!(connect(&instances, "team", DSN).unwrap(), None);
    let first = std::fs::read(instances.root().join("history/team.yaml")).unwrap();
    let former = connect(&instances, "team", "postgres://other")
        .unwrap()
        .unwrap();
    assert_eq!(
        std::fs::read(&former.trash).unwrap(),
        first,
        "the former definition is in the trash"
    );
    assert_eq!(former.place, instances.root().join("history/team.yaml"));
    assert!(connect(&instances, "team", DSN).unwrap().is_some());
    assert_eq!(dsn(&open(home.path(), None), "team").unwrap(), DSN);
    let text = std::fs::read_to_string(home.path().join("instances/history/team.yaml")).unwrap();
    assert!(
        text.starts_with("driver: postgres\ndsn: secretbox:") && !text.contains("pass"),
        "{text}"
    );
    for path in ["keys/master.key", "instances/history/team.yaml"] {
        assert_eq!(
            std::fs::metadata(home.path().join(path))
                .unwrap()
                .permissions()
                .mode()
                & 0o777,
            0o600
        );
    }
    // A value sealed for one field of one instance cannot be opened in another.
    std::fs::copy(
        home.path().join("instances/history/team.yaml"),
        home.path().join("instances/history/copy.yaml"),
    )
    .unwrap();
    assert_eq!(
        dsn(&instances, "copy").unwrap_err().code(),
        Code::SealBroken
    );
    let listed: Vec<_> = instances
        .list()
        .unwrap()
        .into_iter()
        .map(|one| one.unwrap().name.to_string())
        .collect();
    assert_eq!(listed, ["copy", "team"]);
    let former = instances
        .remove(&name("history"), &name("copy"), &operation())
        .unwrap()
        .unwrap();
    assert!(former.trash.is_file() && !former.place.exists());
    assert_eq!(
        instances
            .remove(&name("history"), &name("copy"), &operation())
            .unwrap(),
        None
    );
    assert_eq!(
        instances.read(&name("history"), &name("copy")).unwrap(),
        None
    );
}

#[test]
fn a_wrong_key_or_a_tampered_file_is_told_and_nothing_is_destroyed() {
    let home = tempfile::tempdir().unwrap();
    let instances = open(home.path(), None);
    connect(&instances, "team", DSN).unwrap();
    let file = home.path().join("instances/history/team.yaml");
    let key = home.path().join("keys/master.key");
    let (text, known) = (std::fs::read(&file).unwrap(), std::fs::read(&key).unwrap());
    let other = open(home.path(), Some(MasterKey::random().unwrap()));
    assert_eq!(dsn(&other, "team").unwrap_err().code(), Code::SealBroken);
    assert_eq!(
        other
            .rekey(Some(&MasterKey::random().unwrap()))
            .unwrap_err()
            .code(),
        Code::SealBroken
    );
    let mut tampered = text.clone();
    let last = tampered
        .iter()
        .rposition(u8::is_ascii_alphanumeric)
        .unwrap()
        - 5;
    tampered[last] = if tampered[last] == b'A' { b'B' } else { b'A' };
    std::fs::write(&file, &tampered).unwrap();
    let error = dsn(&instances, "team").unwrap_err();
    assert!(
        error.code() == Code::SealBroken && !error.to_string().contains("secretbox:"),
        "{error}"
    );
    assert_eq!(instances.rekey(None).unwrap_err().code(), Code::SealBroken);
    assert_eq!(
        (std::fs::read(&file).unwrap(), std::fs::read(&key).unwrap()),
        (tampered, known)
    );
    assert!(!home.path().join("keys/master.key.next").exists());
    std::fs::write(&file, text).unwrap();
    assert_eq!(dsn(&instances, "team").unwrap(), DSN);
    std::fs::remove_file(&key).unwrap();
    assert_eq!(
        dsn(&instances, "team").unwrap_err().code(),
        Code::SealBroken
    );
    std::fs::write(&key, "nonsense").unwrap();
    assert!(matches!(
        dsn(&instances, "team").unwrap_err(),
        InstanceError::Invalid { .. } | InstanceError::Damaged { .. }
    ));
    assert!(
        connect(&instances, "new", DSN).is_err(),
        "a key that cannot be read is not written over"
    );
    assert_eq!(std::fs::read(&key).unwrap(), b"nonsense");
}

#[test]
fn a_key_that_others_may_read_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let instances = open(home.path(), None);
    connect(&instances, "team", DSN).unwrap();
    std::fs::set_permissions(
        home.path().join("keys/master.key"),
        PermissionsExt::from_mode(0o644),
    )
    .unwrap();
    let error = dsn(&instances, "team").unwrap_err();
    assert!(error.hint().unwrap().contains("chmod 600"), "{error}");
}

#[test]
fn a_given_key_overrides_that_on_the_disk_and_is_changed_for_another_given_one() {
    let home = tempfile::tempdir().unwrap();
    let (first, second) = (MasterKey::random().unwrap(), MasterKey::random().unwrap());
    let instances = open(home.path(), Some(first.clone()));
    connect(&instances, "team", DSN).unwrap();
    assert!(!home.path().join("keys/master.key").exists());
    assert_eq!(instances.rekey(Some(&second)).unwrap(), 1);
    assert_eq!(
        dsn(&open(home.path(), Some(second.clone())), "team").unwrap(),
        DSN
    );
    assert_eq!(
        dsn(&open(home.path(), Some(first.clone())), "team")
            .unwrap_err()
            .code(),
        Code::SealBroken
    );
    assert_eq!(
        instances.rekey(Some(&second)).unwrap(),
        1,
        "what was interrupted can be asked for again"
    );
}

#[test]
fn rekey_changes_the_seals_and_nothing_else_of_the_files() {
    let home = tempfile::tempdir().unwrap();
    let instances = open(home.path(), None);
    connect(&instances, "team", DSN).unwrap();
    let file = home.path().join("instances/history/team.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("# ours\n{text}\n# end")).unwrap();
    let key = std::fs::read(home.path().join("keys/master.key")).unwrap();
    assert_eq!(instances.rekey(None).unwrap(), 1);
    assert_ne!(
        std::fs::read(home.path().join("keys/master.key")).unwrap(),
        key
    );
    let after = std::fs::read_to_string(&file).unwrap();
    assert!(
        after.starts_with("# ours\ndriver: postgres\ndsn: secretbox:")
            && after.ends_with("\n# end"),
        "{after}"
    );
    assert_eq!(dsn(&instances, "team").unwrap(), DSN);
}

#[test]
fn a_value_that_cannot_be_replaced_keeps_its_key() {
    let home = tempfile::tempdir().unwrap();
    let instances = open(home.path(), None);
    connect(&instances, "team", DSN).unwrap();
    connect(&instances, "other", DSN).unwrap();
    let (team, other) = (
        home.path().join("instances/history/team.yaml"),
        home.path().join("instances/history/other.yaml"),
    );
    let key = home.path().join("keys/master.key");
    let text = std::fs::read_to_string(&team).unwrap();
    let (driver, value) = text.trim_end().split_once("dsn: ").unwrap();
    let (start, end) = value.split_at(30);
    // YAML joins the two lines to the same value.
    let folded = format!("{driver}dsn: \"{start}\\\n  {end}\"\n");
    std::fs::write(&team, &folded).unwrap();
    assert_eq!(dsn(&instances, "team").unwrap(), DSN);
    let before = [&team, &other, &key].map(|path| std::fs::read(path).unwrap());
    let error = instances.rekey(None).unwrap_err();
    assert!(
        error.to_string().contains("the field dsn in") && error.to_string().contains("team.yaml"),
        "{error}"
    );
    assert_eq!(
        [&team, &other, &key].map(|path| std::fs::read(path).unwrap()),
        before,
        "nothing has changed"
    );
    assert_eq!(dsn(&instances, "team").unwrap(), DSN);
    std::fs::write(&team, text).unwrap();
    assert_eq!(instances.rekey(None).unwrap(), 2);
    assert_eq!(
        [
            dsn(&instances, "team").unwrap(),
            dsn(&instances, "other").unwrap()
        ],
        [DSN, DSN]
    );
}

type InstanceChangeFn = fn(&InstanceFolder) -> Result<(), InstanceError>;

const ACTS: [(&str, InstanceChangeFn); 4] = [
    ("connect", |instances| {
        connect(instances, "new", DSN).map(drop)
    }),
    ("connect again", |instances| {
        connect(instances, "team", "postgres://other").map(drop)
    }),
    ("remove", |instances| {
        instances
            .remove(&name("history"), &name("team"), &operation())
            .map(drop)
    }),
    ("rekey", |instances| instances.rekey(None).map(drop)),
];

/// Runs `act` on two disks, each with `fault` at its own step of `at`.
///
/// The first disk contains the definitions, and the second one the keys.
fn run(act: InstanceChangeFn, fault: DiskFault, at: [u64; 2]) -> (TempDir, bool, [u64; 2]) {
    let home = tempfile::tempdir().unwrap();
    let places = ["instances", "keys"].map(|folder| home.path().join(folder));
    for at in ["team", "other"] {
        connect(&open(home.path(), None), at, DSN).unwrap();
    }
    let disk = |number: usize| {
        FaultyDisk::new(RealDisk::open(&places[number]).unwrap(), fault, at[number])
    };
    let ((first, steps), (second, more)) = (disk(0), disk(1));
    let [definitions, keys] = places.clone();
    let acknowledged = act(&InstanceFolder::with_disks(
        definitions,
        keys,
        [Arc::new(first), Arc::new(second)],
    ))
    .is_ok();
    (
        home,
        acknowledged,
        [steps.load(Ordering::Relaxed), more.load(Ordering::Relaxed)],
    )
}

/// Returns the instances with their decrypted fields, as a later process reads them.
fn instance_state(home: &Path) -> Vec<String> {
    let instances = open(home, None);
    let names: Vec<_> = instances
        .list()
        .unwrap()
        .into_iter()
        .map(|one| one.unwrap().name)
        .collect();
    names
        .iter()
        .map(|name| format!("{name}={}", dsn(&instances, name.as_str()).unwrap()))
        .collect()
}

fn check(what: &str, act: InstanceChangeFn, fault: DiskFault) -> u64 {
    let (untouched, ..) = run(|_| Ok(()), DiskFault::Dies, [u64::MAX; 2]);
    let before = instance_state(untouched.path());
    let (whole, acknowledged, _) = run(act, DiskFault::Dies, [u64::MAX; 2]);
    assert!(acknowledged, "{what} works on disks that work");
    let after = instance_state(whole.path());
    let (.., steps) = run(act, fault, [u64::MAX; 2]);
    let first = fault.steps(what, steps[0]).map(|at| [at, u64::MAX]);
    let cuts = first.chain(fault.steps(what, steps[1]).map(|at| [u64::MAX, at]));
    for at in cuts {
        let (home, acknowledged, _) = run(act, fault, at);
        let now = instance_state(home.path());
        assert!(
            now == before || now == after,
            "{what}, {fault:?} at step {at:?} is half done: {now:#?}"
        );
        assert!(
            now == after || !acknowledged,
            "{what}, {fault:?} at step {at:?} was acknowledged and is lost"
        );
        // The next operation completes an interrupted one.
        connect(&open(home.path(), None), "next", DSN).unwrap();
        open(home.path(), None).rekey(None).unwrap();
        assert_eq!(
            instance_state(home.path()).len(),
            now.len() + 1,
            "{what}, {fault:?} at step {at:?}: then all opens"
        );
        assert!(!home.path().join("keys/master.key.next").exists());
    }
    steps[0] + steps[1]
}

#[test]
fn a_fault_at_any_step_leaves_every_instance_whole_and_every_secret_open() {
    run_fault_table(&ACTS, DiskFault::disk_faults(), check);
}

#[test]
fn no_second_key_is_created_while_instances_are_sealed_under_a_missing_one() {
    let home = tempfile::tempdir().unwrap();
    let instances = open(home.path(), None);
    connect(&instances, "team", DSN).unwrap();
    let key = home.path().join("keys/master.key");
    let aside = home.path().join("aside");
    std::fs::rename(&key, &aside).unwrap();
    for refused in [
        instances.check_key().unwrap_err(),
        connect(&instances, "other", DSN).unwrap_err(),
        connect(&instances, "team", DSN).unwrap_err(),
        instances.rekey(None).unwrap_err(),
        dsn(&instances, "team").unwrap_err(),
    ] {
        assert_eq!(refused.code(), Code::SealBroken);
        assert!(
            refused
                .to_string()
                .contains("history/team is sealed with one"),
            "{refused}"
        );
        assert!(
            refused
                .hint()
                .is_some_and(|hint| hint.contains("MEMO_MASTER_KEY"))
        );
    }
    let left: Vec<_> = std::fs::read_dir(home.path().join("keys"))
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .collect();
    assert!(
        left.iter()
            .all(|name| !name.to_string_lossy().contains("master")),
        "{left:?}"
    );
    let plain = [("driver".to_owned(), NewFieldValue::Plain("file".into()))];
    instances
        .write(&name("kv"), &name("plain"), &plain, &operation())
        .unwrap();
    // A definition that cannot be parsed may contain a sealed value too.
    std::fs::write(
        home.path().join("instances/history/team.yaml"),
        "dsn: [secretbox:AAAA",
    )
    .unwrap();
    assert_eq!(instances.check_key().unwrap_err().code(), Code::SealBroken);
    std::fs::rename(&aside, &key).unwrap();
    connect(&instances, "other", DSN).unwrap();
    std::fs::remove_file(&key).unwrap();
    for sealed in ["team", "other"] {
        instances
            .remove(&name("history"), &name(sealed), &operation())
            .unwrap();
    }
    connect(&instances, "new", DSN).unwrap();
    assert_eq!(dsn(&instances, "new").unwrap(), DSN);
}
