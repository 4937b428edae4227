//! The state of a home: its daemon, its chores and its counts.

use std::net::SocketAddr;

use chrono::{DateTime, SecondsFormat, Utc};
use memory_agent::json::add_field;
use memory_core::{
    Filter, HomeSection, ListOrder, PageRequest, Phase, ProposalSummary, ReminderQuery, StoreError,
};
use memory_store::{
    ChoreState, DaemonLock, DaemonProcess, DaemonState, PublishedPage, SharedStoreStatus,
    check_writable,
};
use serde_json::{Value, json};

use crate::home::Home;
use crate::install::{Client, OutdatedPlugin, outdated_plugins};
use crate::system_check::outdated_clients;

/// The state of a home, as `memory status` and the web page show it.
pub(crate) struct StatusSnapshot {
    pub(crate) running: Option<DaemonProcess>,
    /// The address of the web page, if it is served.
    pub(crate) page: Option<SocketAddr>,
    pub(crate) state: Option<DaemonState>,
    /// The name of the principal of a shared database who uses the home, if any.
    pub(crate) principal: Option<String>,
    pub(crate) memories: u64,
    pub(crate) inbox: u64,
    /// The proposals of agents.
    pub(crate) proposals: ProposalSummary,
    /// Number of facts and turns in conversations.
    pub(crate) entries: u64,
    pub(crate) due: u64,
    pub(crate) trash: (u64, u64),
    /// The format of the home, if this version cannot change it.
    pub(crate) newer: Option<StoreError>,
    /// The state of the shared database, if the home is a replica of one.
    pub(crate) database: Option<SharedStoreStatus>,
    /// The assistants that use another program or entries of another version.
    pub(crate) outdated: Vec<&'static Client>,
    /// The plugins of another version.
    pub(crate) outdated_plugins: Vec<OutdatedPlugin>,
}

impl StatusSnapshot {
    /// Reads the state of `home`.
    pub(crate) fn of(home: &Home) -> Result<Self, StoreError> {
        let store = &home.services.store;
        store.refresh()?;
        let now = home.services.clock.now();
        let none = PageRequest {
            order: ListOrder::Created,
            offset: 0,
            limit: Some(0),
        };
        let count = |filter: &Filter| Ok::<_, StoreError>(store.list(filter, &none, now)?.total);
        let notes = Filter {
            place: Some(HomeSection::Notes),
            ..Filter::all()
        };
        let inbox = Filter {
            phase: Some(Phase::Inbox),
            ..notes.clone()
        };
        let of_conversations = Filter {
            place: Some(HomeSection::Conversations),
            ..Filter::all()
        };
        Ok(Self {
            running: DaemonLock::find_running(home.store.root())?,
            page: PublishedPage::find(home.store.root()),
            state: DaemonState::read(home.store.root()),
            principal: home
                .services
                .principal
                .as_ref()
                .map(|source| source.principal().name),
            memories: count(&notes)?,
            inbox: count(&inbox)?,
            proposals: memory_core::proposal_summary(&home.services, None)?,
            entries: count(&of_conversations)?,
            due: store
                .reminders(ReminderQuery::Due(now), None, Some(0))?
                .total,
            trash: home.store.trash_size()?,
            newer: check_writable(home.store.root()).err(),
            database: home.store.shared_store_status()?,
            outdated: outdated_clients(&home.settings.environment),
            outdated_plugins: outdated_plugins(&home.settings.environment),
        })
    }

    /// Returns the JSON of `memory status`.
    pub(crate) fn to_json(&self) -> Value {
        let mut daemon = json!({ "running": self.running.is_some() });
        let known = self.state.as_ref();
        add_field(
            &mut daemon,
            "pid",
            self.running.and_then(|process| process.pid),
        );
        add_field(&mut daemon, "version", self.daemon_version());
        add_field(
            &mut daemon,
            "started_at",
            known.map(|state| format_timestamp(state.started_at)),
        );
        let stopped_at = known.and_then(|state| state.stopped_at);
        let stopped_at = stopped_at.filter(|_| self.running.is_none());
        add_field(&mut daemon, "stopped_at", stopped_at.map(format_timestamp));
        if let Some(state) =
            known.filter(|state| self.running.is_some() && !state.watching.is_empty())
        {
            daemon["watching"] = state.watching.clone().into();
        }
        add_field(
            &mut daemon,
            "socket",
            self.socket().filter(|socket| !socket.is_empty()),
        );
        let chores: Vec<Value> = known
            .into_iter()
            .flat_map(|state| &state.chores)
            .map(|chore| self.chore_json(chore))
            .collect();
        let mut shape = json!({
            "daemon": daemon,
            "memories": self.memories,
            "inbox": self.inbox,
            "proposals": self.proposals.waiting,
            "overdue": self.proposals.overdue.iter().map(|stored| stored.memory.id.to_string()).collect::<Vec<_>>(),
            "entries": self.entries,
            "due": self.due,
            "trash_files": self.trash.0,
            "trash_bytes": self.trash.1,
            "chores": chores,
        });
        add_field(&mut shape, "page", self.page.map(page_url));
        add_field(&mut shape, "principal", self.principal.as_deref());
        if let Some(StoreError::NewerFormat {
            version, program, ..
        }) = &self.newer
        {
            let version: Value = serde_json::from_str(version).unwrap_or_default();
            shape["newer_format"] = json!({ "version": version, "program": program });
        }
        add_field(
            &mut shape,
            "database",
            self.database.as_ref().map(database_json),
        );
        if !self.outdated.is_empty() {
            shape["outdated_assistants"] = self.outdated.iter().map(|client| client.name).collect();
        }
        if !self.outdated_plugins.is_empty() {
            let plugin = |OutdatedPlugin { client, version }: &OutdatedPlugin| json!({ "client": client.name, "version": version });
            shape["outdated_plugins"] = self.outdated_plugins.iter().map(plugin).collect();
        }
        shape
    }

    fn chore_json(&self, chore: &ChoreState) -> Value {
        let ChoreState {
            name,
            began_at,
            ended_at,
            ending,
            said,
            worked_at,
            ..
        } = chore;
        let mut shape = json!({ "name": name });
        let moments = [
            ("began_at", *began_at),
            ("ended_at", *ended_at),
            ("worked_at", *worked_at),
            ("due_at", self.due_at(chore)),
        ];
        for (key, at) in moments {
            add_field(&mut shape, key, at.map(format_timestamp));
        }
        add_field(
            &mut shape,
            "ending",
            ending.as_ref().map(|ending| ending.as_str()),
        );
        add_field(&mut shape, "said", said.as_deref());
        shape
    }

    /// Returns the socket of the running daemon; empty if the daemon has no socket.
    pub(crate) fn socket(&self) -> Option<&str> {
        self.state
            .as_ref()
            .filter(|_| self.running.is_some())
            .map(|state| state.socket.as_str())
    }

    /// Returns the version of the running daemon, if it is known.
    pub(crate) fn daemon_version(&self) -> Option<&str> {
        let running = self.state.as_ref().filter(|_| self.running.is_some());
        running
            .map(|state| state.version.as_str())
            .filter(|version| !version.is_empty())
    }

    /// Returns when a chore is due; `None` if no daemon is running.
    pub(crate) fn due_at(&self, chore: &ChoreState) -> Option<DateTime<Utc>> {
        chore.due_at.filter(|_| self.running.is_some())
    }
}

/// Returns the URL of the web page at an address.
pub(crate) fn page_url(address: SocketAddr) -> String {
    format!("http://{address}/")
}

fn database_json(database: &SharedStoreStatus) -> Value {
    let mut shape = json!({ "reachable": database.trouble.is_none(), "queued": database.queued });
    for (key, at) in [
        ("last_contact", database.last_contact),
        ("queued_since", database.queued_since),
    ] {
        add_field(&mut shape, key, at.map(format_timestamp));
    }
    add_field(&mut shape, "problem", database.trouble.as_deref());
    let set_aside = Some(database.set_aside).filter(|count| 0 < *count);
    add_field(&mut shape, "set_aside", set_aside);
    shape
}

fn format_timestamp(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}
