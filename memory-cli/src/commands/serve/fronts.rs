//! How agents reach the daemon: all fronts run on one small runtime.

use std::sync::Arc;

use memory_agent::Agent;
use memory_agent::socket::{self, Limits, Socket};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use crate::agent::agent;
use crate::app::Home;
use crate::config::Settings;
use crate::daemon::{Bell, Diary};

/// What is open for agents.
pub(super) struct Fronts {
    agent: Arc<Agent>,
    socket: Option<Socket>,
}

/// More threads than this never work at once for agents, whatever the fronts do.
const THREADS: usize = 16;

impl Fronts {
    /// Opens what can be opened, and says what cannot.
    pub(super) fn open(home: &Home, settings: &Settings, diary: &Diary) -> Self {
        let socket = Socket::bind(home.store.root());
        match &socket {
            Ok(socket) => diary.listens(socket.path()),
            Err(error) => diary.warning(&format!("socket: there is none: {}", with_causes(error))),
        }
        Self { agent: agent(home, settings), socket: socket.ok() }
    }

    /// Serves agents until `end` is rung.
    pub(super) fn serve(self, end: &Arc<Bell>, diary: &Diary) {
        let runtime = match Builder::new_current_thread().enable_all().max_blocking_threads(THREADS).build() {
            Ok(runtime) => runtime,
            Err(error) => return diary.warning(&format!("agents are not served: {error}")),
        };
        self.serve_on(&runtime, end, diary);
        // What does not end by itself is left where it is.
        runtime.shutdown_background();
    }

    fn serve_on(self, runtime: &Runtime, end: &Arc<Bell>, diary: &Diary) {
        let (asked, ending) = watch::channel(());
        let bell = Arc::clone(end);
        runtime.spawn_blocking(move || {
            bell.wait(None);
            drop(asked);
        });
        let until_asked = |mut ending: watch::Receiver<()>| async move { while ending.changed().await.is_ok() {} };
        runtime.block_on(async {
            let over_socket = async {
                let Some(socket) = self.socket else { return };
                let served = socket::serve(socket, Arc::clone(&self.agent), Limits::default(), until_asked(ending.clone()));
                match served.await {
                    Ok(()) => diary.info("socket: closed"),
                    Err(error) => diary.warning(&format!("socket: closed: {error}")),
                }
            };
            // Another front is served beside it: `tokio::join!`.
            over_socket.await;
        });
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
