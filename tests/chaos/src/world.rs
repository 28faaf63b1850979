//! Everything in one round: nodes, banks, receiver, links, ledgers.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use anyhow::Context;
use quita_domain::webhook::signature::WebhookSecret;
use tokio::sync::Mutex;
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::{Instant, sleep};

use crate::bank::Bank;
use crate::bank_kind::BankKind;
use crate::dice::Dice;
use crate::link::Link;
use crate::node::{Node, NodePlan, Plant, tied};
use crate::receiver::Receiver;
use crate::server::serve;
use crate::set::Set;
use crate::told::Told;
use crate::upgrade::Version;

/// Writes the configuration: two banks over HTTP that share the payments, and the secrets that sign their notices. The
/// configured adapter is not the one that is used.
fn configure(directory: &Path) -> anyhow::Result<PathBuf> {
    let mut text = String::new();
    for (place, kind) in (1..).zip(BankKind::ALL) {
        let name = kind.name();
        let secret = WebhookSecret::from_bytes(vec![place; WebhookSecret::BYTES]);
        std::fs::write(directory.join(format!("{name}.secret")), secret.reveal())?;
        text.push_str(&format!(
            "[[acquirer]]\nname = {name:?}\nadapter = \"sandbox\"\ntime-out = \"2s\"\n\
             notification-secret-file = \"{name}.secret\"\n\n"
        ));
    }
    let path = directory.join("chaos.toml");
    std::fs::write(&path, text)?;
    Ok(path)
}

/// Counts of the actions in a round, for the report.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) member_kills: Cell<u64>,
    pub(crate) member_stops: Cell<u64>,
    pub(crate) step_downs: Cell<u64>,
    pub(crate) elections: Cell<u64>,
    pub(crate) partitions: Cell<u64>,
    pub(crate) cuts: Cell<u64>,
    pub(crate) latencies: Cell<u64>,
    /// Starts of a node with another version than before.
    pub(crate) changes: Cell<u64>,
    /// Kills of the upgrade of the store.
    pub(crate) upgrade_kills: Cell<u64>,
    /// Creations that needed a form that the store did not have yet.
    pub(crate) without_form: Cell<u64>,
    /// Starts of a node while its store was unreachable.
    pub(crate) starts_in_vain: Cell<u64>,
}

/// One round.
pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) round: u64,
    /// Longest pause of a client between two payments.
    pub(crate) pause_ms: u64,
    pub(crate) key: String,
    pub(crate) nodes: Vec<Rc<Node>>,
    pub(crate) bank: Rc<Bank>,
    pub(crate) receiver: Rc<Receiver>,
    /// Links to the receiver, on different ports.
    pub(crate) hooks: Vec<Rc<Link>>,
    pub(crate) told: Told,
    pub(crate) set: Option<Rc<Set>>,
    pub(crate) counts: Counts,
    /// Held by the task that stops and starts nodes.
    pub(crate) restarts: Mutex<()>,
    /// Upgrade of the store, if there is one in this round.
    pub(crate) upgrade: Option<Upgrade>,
    servers: Vec<AbortHandle>,
}

/// Parameters of a round.
pub(crate) struct Setting<'a> {
    pub(crate) seed: u64,
    pub(crate) round: u64,
    pub(crate) directory: &'a Path,
    pub(crate) set: Option<Rc<Set>>,
    pub(crate) plant: Option<Plant>,
    pub(crate) upgrade_kills: Option<u64>,
}

/// Upgrade of the store of a round.
pub(crate) struct Upgrade {
    pub(crate) program: PathBuf,
    pub(crate) store: String,
    pub(crate) directory: PathBuf,
    /// Number of times that the command is killed before it may finish.
    pub(crate) kills: u64,
    /// True once no node of the older version may be started.
    pub(crate) is_begun: Cell<bool>,
    /// Time at which it ended.
    pub(crate) ended: Cell<Option<Instant>>,
}

impl World {
    /// Starts everything and waits until all nodes are ready.
    pub(crate) async fn start(setting: Setting<'_>) -> anyhow::Result<Rc<Self>> {
        let Setting { seed, round, directory, set, plant, upgrade_kills } = setting;
        let program = node_program()?;
        let config = configure(directory)?;
        let database = format!("chaos_{round}");
        let (direct, count) = match &set {
            Some(set) => (set.uri(&database), 3),
            None => (format!("sqlite:{}", directory.join(format!("{database}.db")).display()), 1),
        };
        let ask = async |arguments: &[&str]| output(&program, directory, arguments).await;
        let bank = Bank::new(seed);
        let receiver = Receiver::new(seed);
        for kind in BankKind::ALL {
            let path = config.display().to_string();
            let secret = ask(&["secrets", "notification", kind.name(), "--config", &path]).await?;
            bank.secrets.borrow_mut().insert(kind, WebhookSecret::parse(&secret).context("a secret")?);
        }
        let bank_listener = crate::ports::listen().await?;
        let hook_listener = crate::ports::listen().await?;
        let bank_address = bank_listener.local_addr()?;
        let hook_address = hook_listener.local_addr()?;
        let serving_bank = Rc::clone(&bank);
        let serving_receiver = Rc::clone(&receiver);
        let servers = vec![
            spawn_local(serve(bank_listener, move |request| Rc::clone(&serving_bank).answer(request)))
                .abort_handle(),
            spawn_local(serve(hook_listener, move |request| Rc::clone(&serving_receiver).answer(request)))
                .abort_handle(),
        ];
        let hooks = vec![Link::open(hook_address).await?, Link::open(hook_address).await?];
        let mut nodes = Vec::new();
        for place in 0..count {
            let (store, uri) = match &set {
                Some(set) => set.lines(&database).await?,
                None => (Vec::new(), direct.clone()),
            };
            let plan = NodePlan {
                name: format!("node{place}-round{round}"),
                program: program.clone(),
                directory: directory.to_owned(),
                config: config.clone(),
                store: uri,
                public_url: "http://quita.example".into(),
                plant,
                version: Version::Older,
            };
            nodes.push(Node::new(plan, Link::open(bank_address).await?, store).await?);
        }
        *bank.nodes.borrow_mut() = nodes.iter().map(|node| node.front.address).collect();
        for node in &nodes {
            node.start_and_measure().await?;
        }
        // Only a service creates a store, so the key is created afterwards.
        let key = ask(&["keys", "create", "--merchant", "chaos", "--store", &direct]).await?;
        *receiver.secret.borrow_mut() = WebhookSecret::parse(
            &ask(&["secrets", "show", "--merchant", "chaos", "--store", &direct]).await?,
        );
        let upgrade = upgrade_kills.map(|kills| Upgrade {
            program: program.clone(),
            kills,
            store: direct.clone(),
            directory: directory.to_owned(),
            is_begun: Cell::new(false),
            ended: Cell::new(None),
        });
        let told = Told::default();
        let counts = Counts::default();
        let pause_ms = if set.is_some() { 400 } else { 250 };
        Ok(Rc::new(Self {
            seed,
            round,
            pause_ms,
            key,
            nodes,
            bank,
            receiver,
            hooks,
            told,
            set,
            counts,
            restarts: Mutex::new(()),
            upgrade,
            servers,
        }))
    }

    pub(crate) fn postback_url(&self, dice: &Dice) -> String {
        format!("http://{}/hook", self.hooks[dice.index(self.hooks.len())].address)
    }

    /// Ends all faults, and restarts everything that was down.
    pub(crate) async fn heal(&self) -> anyhow::Result<()> {
        self.bank.is_calm.set(true);
        self.receiver.is_calm.set(true);
        for link in self.links() {
            link.heal(true).await;
        }
        for link in self.set.iter().flat_map(|set| set.bridge.lines()) {
            link.heal(true).await;
        }
        if let Some(set) = &self.set {
            set.wait_primary().await?;
        }
        for node in &self.nodes {
            node.wait_ready().await?;
        }
        Ok(())
    }

    /// Returns true if clients or the receiver saw something impossible, which can't resolve itself.
    pub(crate) fn is_violated(&self) -> bool {
        !self.told.violations.borrow().is_empty() || !self.receiver.violations.borrow().is_empty()
    }

    fn links(&self) -> impl Iterator<Item = &Rc<Link>> {
        let of_nodes = self.nodes.iter().flat_map(|node| node.store.iter().chain([&node.front, &node.bank]));
        of_nodes.chain(&self.hooks)
    }

    /// Restarts all nodes with this clock offset, so that nobody has to wait for scheduled work.
    pub(crate) async fn restart_ahead(&self, ahead_ms: u64) -> anyhow::Result<()> {
        self.bank.ahead_ms.set(ahead_ms);
        for node in &self.nodes {
            node.end();
            node.set_ahead_ms(ahead_ms);
        }
        for node in &self.nodes {
            node.start()?;
        }
        for node in &self.nodes {
            node.wait_ready().await?;
        }
        // Time for answers that the banks still owed to the killed nodes.
        sleep(Duration::from_millis(200)).await;
        Ok(())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for server in &self.servers {
            server.abort();
        }
    }
}

/// Returns the program of the nodes, which is beside this one.
fn node_program() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("quita-chaos-node");
    anyhow::ensure!(program.exists(), "{} was not built: cargo build -p quita-chaos", program.display());
    Ok(program)
}

/// Returns the output of a command of the service. The command runs on a thread of its own, because its connections
/// pass through this one.
async fn output(program: &Path, directory: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let mut command = tied(program);
    command.args(arguments).current_dir(directory);
    let output = tokio::task::spawn_blocking(move || command.output()).await??;
    anyhow::ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
