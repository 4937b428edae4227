//! Processes in groups of their own.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Makes a command start in a process group of its own, so that an interrupt of this process does not interrupt it.
pub fn own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Waits at most `patience` for a command to exit, without reaping it; returns whether it exited.
pub(crate) fn wait_for_exit(child: &mut Child, patience: Duration) -> bool {
    let Some(pid) = group_id(child) else {
        return false;
    };
    let (sender, seen) = sync_channel(1);
    let look = move || {
        let looked = waitid(
            WaitId::Pid(pid),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
        );
        // The receiver may have timed out.
        let _ = sender.send(looked.is_ok());
    };
    thread::Builder::new().spawn(look).is_ok() && seen.recv_timeout(patience).unwrap_or(false)
}

/// Kills a command that has a group of its own, and the processes that it started and that are still in the group.
///
/// It must not be reaped yet: otherwise another process could have its id.
pub(crate) fn kill_group(child: &mut Child) {
    let _ = group_id(child).map(|group| kill_process_group(group, Signal::KILL));
}

fn group_id(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}
