//! Serves a counterparty on loopback until it is told to end; prints one line of JSON that says where.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use quita_banks::Counterparty;
use quita_banks::api_pix::{Config, PixBank};
use quita_banks::cielo::{self, Cielo};
use quita_banks::faults;
use quita_banks::pagarme::{self, Pagarme};
use quita_banks::server::{Options, Served, Tls};
use quita_banks::sicoob::{self, SicoobBank};
use serde_json::{Value, json};

/// A provider for tests, with books of its own: on loopback, with no money in it.
///
/// Prints one line: {"url", "control", "certificates"}. The control path takes POST /pay/{txid} and the like.
#[derive(Parser)]
struct Arguments {
    /// Provider to be served.
    #[arg(value_enum)]
    kind: Kind,
    /// Its ways, as a JSON object of what differs from the default.
    #[arg(long, default_value = "{}")]
    config: String,
    /// Way in which it is reached.
    #[arg(long, value_enum, default_value_t = Reached::Plain)]
    tls: Reached,
    /// Directory in which certificates are made: ca.pem, client.pem, client.key, foreign.pem, …
    #[arg(long, required_if_eq_any([("tls", "server"), ("tls", "mutual")]))]
    certificates: Option<PathBuf>,
    /// The port, in place of any that is free.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Delay of every answer, in milliseconds.
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
    /// Scheme, host and port that notices go to in place of those they are addressed to.
    #[arg(long)]
    forward: Option<String>,
    /// The whole address for notices of a provider that was told none.
    #[arg(long)]
    notices_to: Option<String>,
    /// Number of notices that go out at once.
    #[arg(long, default_value_t = Options::default().senders)]
    senders: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// A bank that speaks API Pix.
    ApiPix,
    /// A Cielo.
    Cielo,
    /// A bank that registers boletos as Sicoob does.
    Sicoob,
    /// A Pagar.me.
    Pagarme,
}

#[derive(Clone, Copy, ValueEnum)]
enum Reached {
    Plain,
    Server,
    Mutual,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let config: Value = serde_json::from_str(&arguments.config)?;
    match arguments.kind {
        Kind::ApiPix => serve(PixBank::new(Config::default().changed(&config)?), arguments),
        Kind::Cielo => {
            serve(Cielo::new(cielo::Config::default().changed(&config)?, faults::none()), arguments)
        }
        Kind::Sicoob => serve(SicoobBank::new(sicoob::Config::default().changed(&config)?), arguments),
        Kind::Pagarme => {
            serve(Pagarme::new(pagarme::Config::default().changed(&config)?, faults::none()), arguments)
        }
    }
}

fn serve(
    counterparty: impl Counterparty + 'static,
    arguments: Arguments,
) -> Result<(), Box<dyn std::error::Error>> {
    let directory = arguments.certificates.unwrap_or_default();
    let tls = match arguments.tls {
        Reached::Plain => Tls::Plain,
        Reached::Server => Tls::Server(directory),
        Reached::Mutual => Tls::Mutual(directory),
    };
    let port = arguments.port;
    let delay_ms = arguments.delay_ms;
    let forward = arguments.forward;
    let notices_to = arguments.notices_to;
    let senders = arguments.senders;
    let options = Options { tls, port, delay_ms, forward, notices_to, senders };
    let served = Served::start_with(counterparty, options)?;
    let line = json!({
        "url": served.url(), "control": served.control_url(),
        "certificates": served.certificates().map(|made| made.directory().to_owned()),
    });
    let mut out = std::io::stdout();
    writeln!(out, "{line}")?;
    out.flush()?;
    loop {
        std::thread::park();
    }
}
