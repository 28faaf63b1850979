//! The first run on an empty development store: a merchant, a key, and a line to paste.

use std::io::{self, Write};
use std::net::SocketAddr;

use crate::access::Access;
use crate::config::store_url::StoreUrl;
use crate::config::{Config, Environment};

/// What a newcomer is told. Empty on every run but the first.
pub(crate) struct Welcome(Option<String>);

/// Makes merchant `demo` with a test key if the store is empty and this is development.
pub(crate) async fn prepare(config: &Config, access: &Access) -> anyhow::Result<Welcome> {
    match config.environment {
        Environment::Development => Ok(Welcome(access.create_demo_if_empty().await?.map(|key| key.reveal()))),
        Environment::Production => Ok(Welcome(None)),
    }
}

impl Welcome {
    /// Prints the key, once, and how to try it.
    pub(crate) fn print(&self, config: &Config, api: SocketAddr, ops: SocketAddr) {
        let Some(key) = &self.0 else { return };
        let quita = std::env::args().next().unwrap_or_else(|| "quita".into());
        let store = if config.store == StoreUrl::default() {
            String::new()
        } else {
            format!(" --store '{}'", config.store)
        };
        let text = format!(
            "\nThis store is new. Merchant \"demo\" has a test key, shown only this once:\n\n  {key}\n\n\
             Create a PIX payment of R$ 100,00; the sandbox pays it after {} s:\n\n{}\n\n\
             Then read it, with its transactionId:\n\n  \
             curl -s http://{api}/pay/payments/TRANSACTION_ID -H 'Authorization: Bearer {key}'\n\n\
             See its webhooks in a second terminal (start it before you create the payment):\n\n  \
             QUITA_SECRET=$({quita} secrets show --merchant demo{store}) {quita} listen\n\n\
             API documentation: http://{api}/docs\nConsole for operators: http://{ops}/\n",
            config.sandbox_settle_after.as_secs(),
            curl(api, key),
        );
        // The key can be made anew; a closed stdout is no reason not to serve.
        if let Err(error) = writeln!(io::stdout(), "{text}") {
            tracing::warn!(%error, "the first key could not be printed; make one with `quita keys create`");
        }
    }
}

/// A line that creates a payment as pasted.
fn curl(api: SocketAddr, key: &str) -> String {
    format!(
        "  curl -s http://{api}/pay/payments -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \
         -d '{{\"paymentMethod\":\"pix\",\"amount\":10000,\"currency\":\"BRL\",\"paymentDetails\":{{\
         \"firstName\":\"Maria\",\"lastName\":\"Silva\",\"document\":\"52998224725\",\"documentType\":\"CPF\",\
         \"email\":\"maria@example.com\",\"phoneNumber\":\"11987654321\",\"address\":{{\"street\":\"Rua Augusta\",\
         \"number\":\"100\",\"neighborhood\":\"Consolação\",\"city\":\"São Paulo\",\"state\":\"SP\",\
         \"zipCode\":\"01304000\"}}}},\"postbackUrl\":\"http://127.0.0.1:8090/\"}}'"
    )
}
