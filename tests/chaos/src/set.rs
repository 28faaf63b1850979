//! The replica set that `scripts/mongod run` started: its members are killed, stopped, stepped down and started again.

use std::cell::RefCell;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use anyhow::Context;
use mongodb::Client;
use mongodb::bson::{Document, doc};
use mongodb::options::ClientOptions;
use tokio::time::{Instant, sleep, timeout};

use crate::bridge::Bridge;
use crate::link::{Link, Rewrite};
use crate::node::tied;

/// Time-out of a command to a member.
const PATIENCE: Duration = Duration::from_secs(2);

/// One mongod.
struct Member {
    address: SocketAddr,
    directory: PathBuf,
    /// Command line that started it.
    arguments: Vec<String>,
    client: Client,
    child: RefCell<Option<Child>>,
}

/// All members.
pub(crate) struct Set {
    members: Vec<Member>,
    /// The links between the members.
    pub(crate) bridge: Bridge,
}

impl Set {
    /// Returns the set in the directory that `scripts/mongod run` names.
    pub(crate) async fn of_surroundings() -> anyhow::Result<Rc<Self>> {
        let directory = std::env::var("QUITA_TEST_MONGOD_DIR").context("run it below scripts/mongod run")?;
        let directory = Path::new(&directory);
        let mut members = Vec::new();
        for (place, port) in fs::read_to_string(directory.join("ports"))?.lines().enumerate() {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse()?));
            let directory = directory.join(format!("node{place}"));
            let pid = fs::read_to_string(directory.join("pid"))?;
            let line = fs::read_to_string(format!("/proc/{}/cmdline", pid.trim()))?;
            let arguments = line.split_terminator('\0').map(str::to_owned).collect();
            let mut options =
                ClientOptions::parse(format!("mongodb://{address}/?directConnection=true")).await?;
            options.server_selection_timeout = Some(PATIENCE);
            options.connect_timeout = Some(PATIENCE);
            let client = Client::with_options(options)?;
            members.push(Member { address, directory, arguments, client, child: RefCell::default() });
        }
        anyhow::ensure!(members.len() == 3, "three members are needed");
        let addresses: Vec<_> = members.iter().map(|member| member.address).collect();
        let set = Rc::new(Self { members, bridge: Bridge::between(&addresses).await? });
        set.talk_over_the_bridge().await?;
        Ok(set)
    }

    /// Makes the members reach each other only through the tester.
    async fn talk_over_the_bridge(&self) -> anyhow::Result<()> {
        let primary = self.wait_primary().await?;
        let answer = self.ask(primary, doc! {"replSetGetConfig": 1}).await.context("a configuration")?;
        let mut config = answer.get_document("config")?.clone();
        let version = config.get_i32("version")?;
        config.insert("version", version + 1);
        for (place, member) in config.get_array_mut("members")?.iter_mut().enumerate() {
            let member = member.as_document_mut().context("a member")?;
            member.insert("host", self.bridge.addresses[place].to_string());
        }
        let command = doc! {"replSetReconfig": config, "force": true};
        self.members[primary].client.database("admin").run_command(command).await?;
        sleep(Duration::from_secs(3)).await;
        self.wait_primary().await?;
        anyhow::ensure!(
            self.bridge.recognised.get() > 0,
            "the members do not name themselves: start them with --setParameter enableTestCommands=1"
        );
        Ok(())
    }

    /// Returns a connection string that bypasses all proxies.
    pub(crate) fn uri(&self, database: &str) -> String {
        let hosts: Vec<_> = self.members.iter().map(|member| member.address.to_string()).collect();
        uri(&hosts, database)
    }

    /// Opens links from one node to every member, and returns them with a connection string.
    ///
    /// The members name each other in their answers; these are rewritten, so that the node finds its own links.
    pub(crate) async fn lines(&self, database: &str) -> anyhow::Result<(Vec<Rc<Link>>, String)> {
        let mut listeners = Vec::new();
        for _ in &self.members {
            listeners.push(crate::ports::listen().await?);
        }
        let names: Vec<String> = listeners
            .iter()
            .map(|line| line.local_addr().map(|at| at.to_string()))
            .collect::<Result<_, _>>()?;
        let pairs: Vec<(String, String)> =
            self.bridge.addresses.iter().map(ToString::to_string).zip(names.clone()).collect();
        let rewrite: Rewrite = Rc::new(move |message: &[u8]| {
            let mut message = message.to_vec();
            for (from, to) in &pairs {
                replace(&mut message, from.as_bytes(), to.as_bytes());
            }
            message
        });
        let links = listeners
            .into_iter()
            .zip(&self.members)
            .map(|(listener, member)| Link::on(listener, member.address, Some(Rc::clone(&rewrite))))
            .collect::<Result<_, _>>()?;
        Ok((links, uri(&names, database)))
    }

    async fn ask(&self, place: usize, command: Document) -> Option<Document> {
        let database = self.members[place].client.database("admin");
        timeout(PATIENCE, database.run_command(command)).await.ok()?.ok()
    }

    /// Returns the position of the member that reports that it is the primary.
    pub(crate) async fn primary(&self) -> Option<usize> {
        for place in 0..self.members.len() {
            let hello = self.ask(place, doc! {"hello": 1}).await;
            if hello.is_some_and(|hello| hello.get_bool("isWritablePrimary").unwrap_or(false)) {
                return Some(place);
            }
        }
        None
    }

    pub(crate) async fn wait_primary(&self) -> anyhow::Result<usize> {
        let deadline = Instant::now() + Duration::from_secs(40);
        loop {
            if let Some(place) = self.primary().await {
                return Ok(place);
            }
            anyhow::ensure!(Instant::now() < deadline, "the replica set has no primary");
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Returns the number of elections so far, which is the highest term that a member knows.
    pub(crate) async fn term(&self) -> Option<i64> {
        let mut terms = Vec::new();
        for place in 0..self.members.len() {
            let status = self.ask(place, doc! {"replSetGetStatus": 1}).await;
            terms.extend(status.and_then(|status| status.get_i64("term").ok()));
        }
        terms.into_iter().max()
    }

    /// Requests the primary to step down, which it may refuse.
    pub(crate) async fn step_down(&self, place: usize) {
        let command = doc! {"replSetStepDown": 5, "secondaryCatchUpPeriodSecs": 2, "force": true};
        drop(self.ask(place, command).await);
    }

    /// Sends a signal, `KILL`, `STOP` or `CONT`.
    pub(crate) fn signal(&self, place: usize, name: &str) {
        let member = &self.members[place];
        let pid = fs::read_to_string(member.directory.join("pid")).unwrap_or_default();
        drop(Command::new("kill").args(["-s", name, pid.trim()]).status());
        if name == "KILL"
            && let Some(mut child) = member.child.borrow_mut().take()
        {
            drop(child.wait());
        }
    }

    /// Starts a killed member again, and waits until it answers.
    pub(crate) async fn start(&self, place: usize) -> anyhow::Result<()> {
        let member = &self.members[place];
        let (program, arguments) = member.arguments.split_first().context("a command line")?;
        for _ in 0..20 {
            let mut command = tied(Path::new(program));
            command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let child = command.spawn()?;
            fs::write(member.directory.join("pid"), format!("{}\n", child.id()))?;
            *member.child.borrow_mut() = Some(child);
            if self.answers(place).await {
                return Ok(());
            }
        }
        anyhow::bail!("mongod {place} does not start; see its log")
    }

    fn runs(&self, place: usize) -> bool {
        let mut child = self.members[place].child.borrow_mut();
        matches!(child.as_mut().map(Child::try_wait), Some(Ok(None)))
    }

    /// Waits for an answer. Returns false if the process exited.
    async fn answers(&self, place: usize) -> bool {
        loop {
            if self.ask(place, doc! {"ping": 1}).await.is_some() {
                return true;
            }
            if !self.runs(place) {
                return false;
            }
            sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        for place in 0..self.members.len() {
            if self.members[place].child.borrow().is_some() {
                self.signal(place, "KILL");
            }
        }
    }
}

fn uri(hosts: &[String], database: &str) -> String {
    format!("mongodb://{}/{database}?replicaSet=quita0", hosts.join(","))
}

/// Replaces bytes with others of the same length.
fn replace(message: &mut [u8], from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len(), "ports of five digits");
    let mut at = 0;
    while let Some(found) = message[at..].windows(from.len()).position(|window| window == from) {
        let start = at + found;
        message[start..start + to.len()].copy_from_slice(to);
        at = start + to.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_in_a_message_is_replaced() {
        let mut message = b"127.0.0.1:11111,127.0.0.1:22222,127.0.0.1:11111".to_vec();
        replace(&mut message, b"127.0.0.1:11111", b"127.0.0.1:33333");
        assert_eq!(message, b"127.0.0.1:33333,127.0.0.1:22222,127.0.0.1:33333");
    }
}
