//! `quita serve` with acquirers over HTTP, and a clock that may be ahead.
//!
//! Any other command is passed to `quita`. Four environment variables configure it: `CHAOS_BANK`, the address of the
//! bank; `CHAOS_AHEAD_MS`, the offset of its clock; `CHAOS_PLANT`, a mistake to make on purpose; and, for any command,
//! `CHAOS_MADE_UP_FORM`: if it is set, this is the next version of the program, with a second stored form.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a tester may stop with a message"
)]

mod adapter;
#[path = "../../bank_kind.rs"]
mod bank_kind;
mod issue;
mod notices;
#[path = "../../wire.rs"]
mod wire;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Command, FromArgMatches};
use quita::cli::flags::ServiceFlags;
use quita::serve::Outside;
use quita_config::Config;
use quita_config::acquirer::{AcquirerConfig, AdapterConfig};
use quita_domain::time::Timestamp;
use quita_machine::SystemClock;
use quita_ports::{AcquirerFactory, Clock};

use adapter::BankFactory;

fn main() -> ExitCode {
    if take("CHAOS_MADE_UP_FORM").is_some() {
        quita::store::learn_made_up_form();
    }
    let mut arguments = std::env::args();
    if arguments.nth(1).as_deref() != Some("serve") {
        return quita::cli::main();
    }
    let command = ServiceFlags::augment_args(Command::new("quita-chaos-node serve"));
    let flags = ServiceFlags::from_arg_matches(&command.get_matches_from(std::env::args().skip(1)));
    match actix_web::rt::System::new().block_on(serve(flags.expect("the flags are known"))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(flags: ServiceFlags) -> anyhow::Result<()> {
    let ahead_ms = take("CHAOS_AHEAD_MS").map_or(Ok(0), |text| text.parse())?;
    let bank: SocketAddr =
        take("CHAOS_BANK").ok_or_else(|| anyhow::anyhow!("CHAOS_BANK is not set"))?.parse()?;
    let config = Config::from_settings(flags.settings())?;
    quita::telemetry::start(config.log).map_err(|error| anyhow::anyhow!("{error}"))?;
    let plant = take("CHAOS_PLANT");
    let factory = |acquirer: &AcquirerConfig| -> anyhow::Result<Arc<dyn AcquirerFactory>> {
        // The configured adapter is not used, but its secret is.
        let secret = match &acquirer.adapter {
            AdapterConfig::Sandbox(sandbox) => sandbox.notification_secret.clone(),
            AdapterConfig::ApiPix(_)
            | AdapterConfig::Cielo(_)
            | AdapterConfig::Pagarme(_)
            | AdapterConfig::Sicoob(_) => None,
        };
        let secret = secret.ok_or_else(|| anyhow::anyhow!("{} has no secret", acquirer.spec.name))?;
        Ok(Arc::new(BankFactory::new(acquirer.spec.clone(), secret, bank, plant.as_deref())?))
    };
    let acquirers = config.acquirers.iter().map(factory).collect::<Result<_, _>>()?;
    quita::serve::run_with(config, Outside::new(acquirers, Arc::new(AheadClock { ahead_ms }))).await
}

/// Reads a variable of the tester.
fn take(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The machine's clock with an offset.
struct AheadClock {
    ahead_ms: u64,
}

impl Clock for AheadClock {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus_ms(self.ahead_ms)
    }
}
