//! Everything that a command started, so that all of it can be ended.
//!
//! The command leads a session of its own. A job of an interactive shell has a process group of its
//! own in that session, and a daemon leaves it; so where the system shows its processes, those of
//! the session and the children of children are looked for, besides the group.

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How often it is looked for what is left, when there is no time to wait.
#[cfg(unix)]
const ROUNDS: usize = 5;

/// A command and what it started. Killed when it is dropped, unless it was let go.
pub(super) struct Family {
    #[cfg(unix)]
    leader: Option<Pid>,
}

/// Processes, as the system knew them at one moment.
#[cfg(unix)]
pub(super) type Members = Vec<Pid>;
#[cfg(not(unix))]
pub(super) type Members = Vec<u32>;

#[cfg(unix)]
impl Family {
    pub(super) fn of(leader: Option<u32>) -> Family {
        let leader = leader.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Family { leader }
    }

    pub(super) fn let_go(&mut self) {
        self.leader = None;
    }

    /// Who belongs to it now and is alive.
    pub(super) fn members(&self) -> Members {
        self.leader.map(living::family_of).unwrap_or_default()
    }

    /// Who of `before` still lives, and who has joined.
    pub(super) fn still(&self, before: Members) -> Members {
        let mut now = self.members();
        // One whose parent died is no child of the family's any more.
        now.extend(before.into_iter().filter(|&pid| living::is_alive(pid)));
        now.sort_by_key(|pid| pid.as_raw_nonzero());
        now.dedup();
        now
    }

    pub(super) fn ask_to_end(&self, members: &Members) {
        self.signal(members, Signal::TERM);
        // A stopped process hears nothing until it goes on.
        self.signal(members, Signal::CONT);
    }

    pub(super) fn kill(&self, members: &Members) {
        self.signal(members, Signal::KILL);
    }

    fn signal(&self, members: &Members, signal: Signal) {
        // Whoever is gone already cannot be told, and need not.
        if let Some(leader) = self.leader {
            let _ = kill_process_group(leader, signal);
        }
        for &member in members.iter().filter(|&&member| Some(member) != self.leader) {
            let _ = kill_process(member, signal);
        }
    }
}

#[cfg(unix)]
impl Drop for Family {
    fn drop(&mut self) {
        if self.leader.is_none() {
            return;
        }
        // Again for what was started while it was looked for.
        for _ in 0..ROUNDS {
            let members = self.members();
            self.kill(&members);
            if members.is_empty() {
                break;
            }
        }
    }
}

#[cfg(not(unix))]
impl Family {
    pub(super) fn of(_leader: Option<u32>) -> Family {
        Family {}
    }
    pub(super) fn let_go(&mut self) {}
    pub(super) fn members(&self) -> Members {
        Vec::new()
    }
    pub(super) fn still(&self, before: Members) -> Members {
        before
    }
    pub(super) fn ask_to_end(&self, _members: &Members) {}
    pub(super) fn kill(&self, _members: &Members) {}
}

#[cfg(target_os = "linux")]
mod living {
    use std::collections::HashSet;

    use rustix::process::Pid;

    struct Process {
        id: i32,
        parent: i32,
        group: i32,
        session: i32,
        dead: bool,
    }

    /// Reads what the system says of a process. Its name stands in parentheses, and may have such itself.
    fn read(id: &str) -> Option<Process> {
        let text = std::fs::read(format!("/proc/{id}/stat")).ok()?;
        let text = String::from_utf8_lossy(&text);
        let (_, rest) = text.rsplit_once(')')?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        let mut number = || fields.next()?.parse::<i32>().ok();
        let (parent, group, session) = (number()?, number()?, number()?);
        let dead = matches!(state, "Z" | "X" | "x");
        Some(Process { id: id.parse().ok()?, parent, group, session, dead })
    }

    pub(super) fn is_alive(pid: Pid) -> bool {
        read(&pid.as_raw_nonzero().to_string()).is_some_and(|process| !process.dead)
    }

    pub(super) fn family_of(leader: Pid) -> Vec<Pid> {
        let leader = leader.as_raw_nonzero().get();
        let Ok(folder) = std::fs::read_dir("/proc") else { return Vec::new() };
        let mut others: Vec<Process> =
            folder.filter_map(|entry| read(entry.ok()?.file_name().to_str()?)).collect();
        let mut family = HashSet::from([leader]);
        // Each round finds the children of those found before; chains of them are short.
        loop {
            let before = family.len();
            others.retain(|process| {
                let belongs = [process.group, process.session].contains(&leader)
                    || family.contains(&process.parent)
                    || process.id == leader;
                if belongs && !process.dead {
                    family.insert(process.id);
                }
                !belongs
            });
            if family.len() == before {
                break;
            }
        }
        let alive = |&id: &i32| id != leader || Pid::from_raw(id).is_some_and(is_alive);
        family.into_iter().filter(alive).filter_map(Pid::from_raw).collect()
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
mod living {
    use rustix::process::{Pid, test_kill_process, test_kill_process_group};

    pub(super) fn is_alive(pid: Pid) -> bool {
        test_kill_process(pid).is_ok()
    }

    /// Only the group can be asked for; its leader stands for all.
    pub(super) fn family_of(leader: Pid) -> Vec<Pid> {
        if test_kill_process_group(leader).is_ok() { vec![leader] } else { Vec::new() }
    }
}
