//! One process of the service.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use clap::ValueEnum;
use tokio::time::{Instant, sleep, timeout};

use crate::link::Link;
use crate::upgrade::Version;
use crate::wire::{Answer, Call, CallError};

/// Longest time until a process is ready.
const PATIENCE: Duration = Duration::from_secs(60);

/// A mistake that is made on purpose, to see that the tester finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Plant {
    /// A charge whose outcome is unknown counts as not delivered: the next bank gets it.
    UnknownIsRefused,
    /// An operation whose outcome is unknown counts as done.
    UnknownIsDone,
    /// An operation whose outcome is unknown counts as not sent: it is sent again and never asked for.
    UnknownIsSentAgain,
    /// Loss of the embedded store's last writes in a kill.
    LostWrites,
}

impl Plant {
    const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownIsRefused => "unknown-is-refused",
            Self::UnknownIsDone => "unknown-is-done",
            Self::UnknownIsSentAgain => "unknown-is-sent-again",
            Self::LostWrites => "lost-writes",
        }
    }
}

/// Settings for starting a node.
pub(crate) struct NodePlan {
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    pub(crate) directory: PathBuf,
    pub(crate) config: PathBuf,
    pub(crate) store: String,
    pub(crate) public_url: String,
    pub(crate) plant: Option<Plant>,
    pub(crate) version: Version,
}

/// A node, and the links to and from it.
pub(crate) struct Node {
    plan: NodePlan,
    version: Cell<Version>,
    is_suspended: Cell<bool>,
    api: SocketAddr,
    ops: SocketAddr,
    /// Link from clients and banks.
    pub(crate) front: Rc<Link>,
    /// Link to the banks.
    pub(crate) bank: Rc<Link>,
    /// Links to the members of the replica set.
    pub(crate) store: Vec<Rc<Link>>,
    child: RefCell<Option<Child>>,
    pub(crate) ready_after: RefCell<Vec<Duration>>,
    pub(crate) kills: Cell<u64>,
    ahead_ms: Cell<u64>,
}

impl Node {
    pub(crate) async fn new(
        plan: NodePlan,
        bank: Rc<Link>,
        store: Vec<Rc<Link>>,
    ) -> anyhow::Result<Rc<Self>> {
        let api = crate::ports::free().await?;
        let ops = crate::ports::free().await?;
        let front = Link::open(api).await?;
        Ok(Rc::new(Self {
            version: Cell::new(plan.version),
            is_suspended: Cell::new(false),
            plan,
            api,
            ops,
            front,
            bank,
            store,
            child: RefCell::default(),
            ready_after: RefCell::default(),
            kills: Cell::new(0),
            ahead_ms: Cell::new(0),
        }))
    }

    pub(crate) fn name(&self) -> &str {
        &self.plan.name
    }

    /// Starts it with its clock offset, and does not wait.
    pub(crate) fn start(&self) -> anyhow::Result<()> {
        let log = File::options().create(true).append(true).open(self.log_path())?;
        let mut command = self.version.get().of(&self.plan.program);
        let api = self.api.to_string();
        let ops = self.ops.to_string();
        let config = self.plan.config.display().to_string();
        command.args(["serve", "--listen", &api, "--ops-listen", &ops, "--config", &config]);
        command.args(["--store", &self.plan.store, "--public-url", &self.plan.public_url]);
        command.args(["--log-level", "warn", "--log-format", "json"]);
        command.current_dir(&self.plan.directory);
        command.env("CHAOS_BANK", self.bank.address.to_string());
        command.env("CHAOS_AHEAD_MS", self.ahead_ms.get().to_string());
        if let Some(plant) = self.plan.plant {
            command.env("CHAOS_PLANT", plant.as_str());
        }
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        *self.child.borrow_mut() = Some(command.spawn()?);
        Ok(())
    }

    pub(crate) fn set_ahead_ms(&self, ahead_ms: u64) {
        self.ahead_ms.set(ahead_ms);
    }

    /// Starts it, and measures the time until it reports ready. If it is killed meanwhile, there is no measurement.
    pub(crate) async fn start_and_measure(&self) -> anyhow::Result<()> {
        let begun = Instant::now();
        self.start()?;
        self.wait_ready().await?;
        self.ready_after.borrow_mut().push(begun.elapsed());
        Ok(())
    }

    pub(crate) async fn wait_ready(&self) -> anyhow::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Ok(Ok(answer)) = timeout(Duration::from_secs(3), self.ops("/health/ready")).await
                && answer.status == 200
            {
                return Ok(());
            }
            let ended = self.child.borrow_mut().as_mut().map(Child::try_wait).transpose()?.flatten();
            if let Some(status) = ended {
                anyhow::bail!("{} ended by itself: {status}; see {}", self.name(), self.tail());
            }
            anyhow::ensure!(Instant::now() < deadline, "{} is not ready: {}", self.name(), self.tail());
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Uses this version at its next start. Returns true if it had another one.
    pub(crate) fn take_version(&self, version: Version) -> bool {
        self.version.replace(version) != version
    }

    pub(crate) fn runs(&self, version: Version) -> bool {
        self.version.get() == version
    }

    /// Returns true if it was stopped by a signal, and not resumed.
    pub(crate) fn is_suspended(&self) -> bool {
        self.is_suspended.get()
    }

    /// Sends SIGSTOP.
    pub(crate) fn suspend(&self) {
        self.is_suspended.set(true);
        self.signal("STOP");
    }

    /// Sends SIGCONT.
    pub(crate) fn resume(&self) {
        self.signal("CONT");
        self.is_suspended.set(false);
    }

    /// Sends SIGTERM, and returns its exit code.
    pub(crate) async fn stop(&self) -> anyhow::Result<Option<i32>> {
        self.signal("TERM");
        self.exit_code(PATIENCE).await
    }

    /// Waits until it exits by itself, and returns its exit code.
    pub(crate) async fn exit_code(&self, within: Duration) -> anyhow::Result<Option<i32>> {
        let deadline = Instant::now() + within;
        loop {
            let ended = self.child.borrow_mut().as_mut().map(Child::try_wait).transpose()?.flatten();
            if let Some(status) = ended {
                self.child.borrow_mut().take();
                return Ok(status.code());
            }
            anyhow::ensure!(Instant::now() < deadline, "{} does not end: {}", self.name(), self.tail());
            sleep(Duration::from_millis(50)).await;
        }
    }

    fn signal(&self, name: &str) {
        if let Some(child) = &*self.child.borrow() {
            drop(Command::new("kill").args(["-s", name, &child.id().to_string()]).status());
        }
    }

    /// Sends SIGKILL, as one of the faults.
    pub(crate) fn kill(&self) {
        if self.end() {
            self.kills.set(self.kills.get() + 1);
        }
    }

    /// Ends it. Returns false if it was not running.
    pub(crate) fn end(&self) -> bool {
        let Some(mut child) = self.child.borrow_mut().take() else { return false };
        drop(child.kill());
        drop(child.wait());
        if self.plan.plant == Some(Plant::LostWrites) {
            let log = format!("{}-wal", self.plan.store.trim_start_matches("sqlite:"));
            let halved = File::options().write(true).open(log).and_then(|file| {
                let length = file.metadata()?.len();
                file.set_len(length / 2)
            });
            drop(halved);
        }
        true
    }

    /// Returns a message if the process exited although nobody killed it.
    pub(crate) fn ended_by_itself(&self) -> Option<String> {
        let status = self.child.borrow_mut().as_mut().and_then(|child| child.try_wait().ok().flatten())?;
        Some(format!("{} ended by itself: {status}: {}", self.name(), self.tail()))
    }

    /// Sends a request to the operators' listener, bypassing all proxies.
    pub(crate) async fn ops(&self, path: &str) -> Result<Answer, CallError> {
        Call { method: "GET", path, headers: &[], body: b"" }.to(self.ops).await
    }

    fn log_path(&self) -> PathBuf {
        self.plan.directory.join(format!("{}.log", self.plan.name))
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read(self.log_path())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    fn tail(&self) -> String {
        let log = self.log();
        let lines: Vec<_> = log.lines().rev().take(5).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns a command that dies with this process, however that ends, and that sees no variable of the service.
pub(crate) fn tied(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("QUITA_") {
            command.env_remove(name);
        }
    }
    command
}
