//! Node processes with several writers each, which are killed at random, on a server that is killed once.
//!
//! A benchmark includes this file, so it uses no other file of the tests than the one of the server.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use memory_core::{Code, Draft, Filter, Memories, Patch, Scope, SecretPolicy, StoreError, update};
use memory_store::postgres::{Database, DatabaseLimits};
use memory_store::{FileStore, FileStoreOptions};

use super::server::PostgresServer;

/// Number of node processes, and of writers in each.
pub(crate) const NODES: usize = 4;
const WRITERS: usize = 4;

/// The text of a memory that all writers increase begins with this.
const COUNTER: &str = "count ";

/// A node with its replica in `folder`, which writes until its input ends. `name` is unique.
///
/// It prints a line for each acknowledged change, and one before each change that may happen without being acknowledged.
pub(crate) fn run_node(address: &str, folder: &Path, name: &str, counter: &str) {
    let memories = open(address, folder);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (memories, is_over) = (&memories, &is_over);
            scope.spawn(move || {
                for round in 0.. {
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    write_round(
                        memories,
                        &format!("{name}-{writer}-{round}"),
                        round,
                        counter,
                    );
                }
            });
        }
        let mut line = String::new();
        while std::io::stdin()
            .read_line(&mut line)
            .is_ok_and(|read| 0 < read)
        {}
        is_over.store(true, Ordering::Relaxed);
    });
}

/// Writes a memory, increases the counter, and deletes the memory in every fourth round.
fn write_round(memories: &Memories, name: &str, round: usize, counter: &str) {
    let text = format!("note {name} of the team");
    let scope = if round.is_multiple_of(3) {
        Scope::Agent("coder".into())
    } else {
        Scope::Global
    };
    let id = until_done(|| {
        memories.write(Draft {
            scope: scope.clone(),
            ..Draft::new(&text)
        })
    })
    .id
    .to_string();
    println!("\nack write {id} {text} .");
    loop {
        let stored = until_done(|| memories.read(counter));
        let count: u64 = stored.memory.content[COUNTER.len()..].parse().unwrap();
        let patch = Patch {
            content: Some(format!("{COUNTER}{}", count + 1)),
            ..Patch::default()
        };
        println!("\nack try .");
        match update(
            memories.services(),
            counter,
            &patch,
            Some(stored.stamp),
            SecretPolicy::Refuse,
        ) {
            Ok(_) => break println!("\nack count ."),
            Err(error) => assert!(
                error.code() == Code::Conflict || is_temporary(&error),
                "{error}"
            ),
        }
    }
    if round % 4 == 3 {
        println!("\nack deleting {id} .");
        loop {
            match memories.delete(&id) {
                // An attempt before an error may have deleted it.
                Ok(_) | Err(StoreError::NotFound { .. }) => break println!("\nack delete {id} ."),
                Err(error) => assert!(is_temporary(&error), "{error}"),
            }
        }
    }
}

/// Repeats `work` while the database cannot be reached.
fn until_done<T>(mut work: impl FnMut() -> Result<T, StoreError>) -> T {
    loop {
        match work() {
            Ok(done) => return done,
            Err(error) => assert!(is_temporary(&error), "{error}"),
        }
    }
}

fn is_temporary(error: &StoreError) -> bool {
    [
        Code::DatabaseUnreachable,
        Code::DatabaseTimeout,
        Code::Locked,
    ]
    .contains(&error.code())
}

fn open(address: &str, folder: &Path) -> Memories {
    let limits = DatabaseLimits {
        restart: Duration::from_secs(20),
        ..DatabaseLimits::default()
    };
    let database = Arc::new(Database::new(address, limits).unwrap());
    // A queued change of the counter may become a proposal, so the number of changes would be unknown.
    let options = FileStoreOptions {
        queues_writes: false,
        ..FileStoreOptions::default()
    };
    Memories::builder(FileStore::open_replica(folder, options, database, Duration::ZERO).unwrap())
        .build()
}

/// The processes of a cluster, and the changes that they acknowledged.
pub(crate) struct Cluster<'a> {
    server: &'a PostgresServer,
    address: String,
    folder: &'a Path,
    /// Returns the command of a node with these arguments for [`run_node`]: the address, the folder, the name and the counter.
    command: &'a dyn Fn([&str; 4]) -> Command,
    counter: String,
    nodes: Vec<Process>,
    lines: Receiver<String>,
    sender: Sender<String>,
    seen: Acknowledged,
}

struct Process {
    child: Child,
    reader: JoinHandle<()>,
}

#[derive(Default)]
struct Acknowledged {
    /// The texts by the ids of the memories.
    written: HashMap<String, String>,
    /// Memories whose deletion has begun.
    deleting: HashSet<String>,
    deleted: HashSet<String>,
    /// Numbers of attempts to increase the counter, and of acknowledged increases.
    tries: u64,
    counts: u64,
}

impl Acknowledged {
    /// Records a line, and returns whether it is an acknowledged write.
    fn record(&mut self, line: &str) -> bool {
        // A line cut off by a kill is not an acknowledgement.
        let Some(said) = line
            .strip_prefix("ack ")
            .and_then(|said| said.strip_suffix(" ."))
        else {
            return false;
        };
        match said
            .split_once(' ')
            .map_or((said, ""), |(verb, rest)| (verb, rest))
        {
            ("write", rest) => {
                let (id, text) = rest.split_once(' ').unwrap();
                self.written.insert(id.into(), text.into());
            }
            ("try", _) => self.tries += 1,
            ("count", _) => self.counts += 1,
            ("deleting", id) => drop(self.deleting.insert(id.into())),
            ("delete", id) => drop(self.deleted.insert(id.into())),
            _ => panic!("{line}"),
        }
        !matches!(said.split(' ').next(), Some("try" | "deleting"))
    }
}

/// The figures of a run.
#[derive(Debug, Default)]
pub(crate) struct ClusterFigures {
    pub acknowledged: usize,
    pub kills: usize,
    /// Time from the kill of the server to the next acknowledged write.
    pub outage: Duration,
    pub elapsed: Duration,
    pub operations: usize,
    pub unconfirmed: u64,
}

impl<'a> Cluster<'a> {
    /// Starts the nodes on a new database.
    pub(crate) fn start(
        server: &'a PostgresServer,
        folder: &'a Path,
        command: &'a dyn Fn([&str; 4]) -> Command,
    ) -> Self {
        let address = server.address(&server.database());
        let memories = open(&address, &folder.join("first"));
        let counter = memories
            .write(&*format!("{COUNTER}0"))
            .unwrap()
            .id
            .to_string();
        let (sender, lines) = channel();
        let mut new = Self {
            server,
            address,
            folder,
            command,
            counter,
            nodes: Vec::new(),
            lines,
            sender,
            seen: Acknowledged::default(),
        };
        new.nodes = (0..NODES).map(|number| new.spawn(number, 0)).collect();
        new
    }

    /// Starts the process of a node for the time with this number.
    fn spawn(&self, node: usize, time: usize) -> Process {
        let folder = self.replica(node);
        let mut command = (self.command)([
            &self.address,
            folder.to_str().unwrap(),
            &format!("{node}-{time}"),
            &self.counter,
        ]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (output, sender) = (
            BufReader::new(child.stdout.take().unwrap()),
            self.sender.clone(),
        );
        let reader = thread::spawn(move || {
            // The receiver ends after all readers.
            output
                .lines()
                .map_while(Result::ok)
                .for_each(|line| sender.send(line).unwrap());
        });
        Process { child, reader }
    }

    fn replica(&self, node: usize) -> PathBuf {
        self.folder.join(format!("node-{node}"))
    }

    /// Kills a node after each `interval` acknowledged writes, and the server once when `is_half` returns true, until `is_over` does.
    ///
    /// Both are called with the number of acknowledged writes and the elapsed time.
    pub(crate) fn run(
        &mut self,
        interval: usize,
        is_half: impl Fn(usize, Duration) -> bool,
        is_over: impl Fn(usize, Duration) -> bool,
    ) -> ClusterFigures {
        let (begun, mut figures, mut random) = (Instant::now(), ClusterFigures::default(), 7_u64);
        let mut server_killed: Option<Instant> = None;
        while !is_over(figures.acknowledged, begun.elapsed()) {
            let line = self
                .lines
                .recv_timeout(Duration::from_mins(1))
                .expect("the nodes write");
            if !self.seen.record(&line) {
                continue;
            }
            figures.acknowledged += 1;
            if let Some(killed) = server_killed.filter(|_| figures.outage.is_zero()) {
                figures.outage = killed.elapsed();
            }
            if figures.acknowledged % interval == 0 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let node = usize::try_from(random >> 33).unwrap() % NODES;
                figures.kills += 1;
                self.nodes[node].child.kill().unwrap();
                let new = self.spawn(node, figures.kills);
                let mut killed = std::mem::replace(&mut self.nodes[node], new);
                killed.child.wait().unwrap();
                killed.reader.join().unwrap();
            }
            if server_killed.is_none() && is_half(figures.acknowledged, begun.elapsed()) {
                self.server.kill();
                // The lines so far are from before the kill.
                while let Ok(line) = self.lines.try_recv() {
                    figures.acknowledged += usize::from(self.seen.record(&line));
                }
                server_killed = Some(Instant::now());
                self.server.start_again();
            }
        }
        figures.elapsed = begun.elapsed();
        for mut node in self.nodes.drain(..) {
            drop(node.child.stdin.take());
            assert!(node.child.wait().unwrap().success(), "a node failed");
            node.reader.join().unwrap();
        }
        while let Ok(line) = self.lines.try_recv() {
            figures.acknowledged += usize::from(self.seen.record(&line));
        }
        figures
    }

    /// Checks that no acknowledged write is lost, and that the replicas of all nodes equal a new one.
    pub(crate) fn check(&self, figures: &mut ClusterFigures) {
        let folders: Vec<_> = (0..NODES)
            .map(|node| self.replica(node))
            .chain([self.folder.join("new")])
            .collect();
        let replicas: Vec<_> = folders
            .iter()
            .map(|folder| open(&self.address, folder))
            .collect();
        // A write rolls back the last interrupted operation.
        for memories in &replicas {
            memories.write("The nodes are at rest").unwrap();
        }
        let contents: Vec<_> = replicas.iter().map(texts).collect();
        let new = contents.last().unwrap();
        for (id, text) in &self.seen.written {
            match new.get(id) {
                Some(stored) => assert!(
                    stored == text && !self.seen.deleted.contains(id),
                    "{id}: {text}"
                ),
                None => assert!(self.seen.deleting.contains(id), "{id} is lost"),
            }
        }
        assert_eq!(
            new.values().collect::<HashSet<_>>().len(),
            new.len(),
            "no write was applied twice"
        );
        let count: u64 = new[&self.counter][COUNTER.len()..].parse().unwrap();
        assert!(
            (self.seen.counts..=self.seen.tries).contains(&count),
            "{} <= {count}",
            self.seen.counts
        );
        figures.unconfirmed = count - self.seen.counts;
        let files = sorted_files(folders.last().unwrap());
        for (folder, content) in folders.iter().zip(&contents) {
            assert_eq!(content, new);
            let own = sorted_files(folder);
            assert_eq!(
                own.keys().collect::<Vec<_>>(),
                files.keys().collect::<Vec<_>>()
            );
            for (path, lines) in &own {
                let differing: Vec<_> = lines
                    .iter()
                    .filter(|line| !files[path].contains(line))
                    .collect();
                assert!(
                    *lines == files[path],
                    "{} of {} differs: {differing:?}",
                    path.display(),
                    folder.display()
                );
            }
        }
        let journals = files.iter().filter(|(path, _)| path.starts_with("journal"));
        figures.operations = journals.map(|(_, lines)| lines.len()).sum();
    }
}

fn texts(memories: &Memories) -> BTreeMap<String, String> {
    let services = memories.services();
    services.store.refresh().unwrap();
    let stored = services
        .store
        .memories(&Filter::all(), services.clock.now())
        .map(Result::unwrap);
    stored
        .map(|stored| (stored.memory.id.to_string(), stored.memory.content))
        .collect()
}

/// Returns the lines of each file of a replica in their alphabetical order. Operations without a common scope have no order.
fn sorted_files(folder: &Path) -> BTreeMap<PathBuf, Vec<String>> {
    let mut folders: Vec<_> = ["categories", "journal", "trash"].map(PathBuf::from).into();
    let mut files = BTreeMap::new();
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(folder.join(&next)).into_iter().flatten() {
            let path = next.join(entry.unwrap().file_name());
            if folder.join(&path).is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(folder.join(&path)).unwrap();
            let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
            lines.sort();
            // A killed node has rolled back an operation, and has performed it again.
            while let Some(aborted) = lines
                .iter()
                .position(|line| line.ends_with(r#","aborted":true}"#))
            {
                let line = lines.remove(aborted);
                let operation = line
                    .split_once(r#","at""#)
                    .map_or(line.as_str(), |(operation, _)| operation)
                    .to_owned();
                lines.remove(
                    lines
                        .iter()
                        .position(|line| line.starts_with(&operation))
                        .expect("an aborted operation has a line"),
                );
            }
            files.insert(path, lines);
        }
    }
    files
}
