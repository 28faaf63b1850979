//! Messages of a start in development. On an empty store: a merchant, a key, a user, and a command to paste. Later: the
//! addresses of everything.

use std::io::{self, Write};
use std::net::SocketAddr;

use quita_domain::identity::{MerchantId, Mode};
use quita_domain::method::Method;
use quita_domain::people::{Login, Role};
use quita_domain::secret::Secret;

use crate::sample_request;
use quita_config::acquirer::{AcquirerConfig, AdapterConfig, SandboxConfig};
use quita_config::operator_password::DEVELOPMENT_PASSWORD;
use quita_config::store_url::StoreUrl;
use quita_config::{Config, Environment};
use quita_services::access::{Access, DEMO_MERCHANT};
use quita_services::people::{People, PeopleError};

/// Login of the first user of merchant `demo`.
const DEMO_LOGIN: &str = "demo@example.com";
/// Address at which `quita listen` receives webhooks.
const RECEIVER: &str = "http://127.0.0.1:8090/";

/// Objects created for a newcomer, only on the first run.
pub(crate) struct Welcome {
    key: Option<String>,
    /// Login and password of the first user.
    user: Option<(Login, String)>,
}

/// In development, creates merchant `demo` with a test key if there is no key, and its first user if there are no
/// users.
pub(crate) async fn prepare(config: &Config, access: &Access, people: &People) -> anyhow::Result<Welcome> {
    match config.environment {
        Environment::Development => {
            let key = access.create_demo_if_empty().await?.map(|key| key.reveal());
            Ok(Welcome { key, user: create_demo_user_if_nobody(people).await? })
        }
        Environment::Production => Ok(Welcome { key: None, user: None }),
    }
}

async fn create_demo_user_if_nobody(people: &People) -> anyhow::Result<Option<(Login, String)>> {
    let Some(login) = Login::parse(DEMO_LOGIN) else { return Ok(None) };
    if people.has_users().await? {
        return Ok(None);
    }
    let merchant = MerchantId::new(DEMO_MERCHANT);
    match people.create_own(merchant, login.clone(), Role::Owner).await {
        Ok(password) => Ok(Some((login, password.expose().clone()))),
        // Another process on the same store was faster, and has printed the password.
        Err(PeopleError::Taken(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Welcome {
    /// Prints once what was created, and how to try it. If nothing was created, prints the addresses of everything.
    pub(crate) fn print(&self, config: &Config, api: SocketAddr, ops: SocketAddr) {
        let made = [self.of_key(config, api), self.of_user(config, api, ops)].concat();
        let is_first = !made.is_empty();
        let text = match config.environment {
            Environment::Development if !is_first => places(config, api, ops),
            Environment::Development | Environment::Production => made,
        };
        if text.is_empty() {
            return;
        }
        // Both can be created again; a closed stdout is no reason not to serve.
        if let Err(error) = writeln!(io::stdout(), "{text}")
            && is_first
        {
            tracing::warn!(%error, "the first key could not be printed; create one with `quita keys create`");
        }
    }

    fn of_key(&self, config: &Config, api: SocketAddr) -> String {
        let Some(key) = &self.key else { return String::new() };
        let quita = program();
        let store = store_flag(config);
        format!(
            "\nThis store is new. Merchant \"{DEMO_MERCHANT}\" has a test key, shown only this once:\n\n  {key}\n\n\
             Create a PIX payment of R$ 100,00{}:\n\n  {}\n\n\
             Then read it, with its transactionId:\n\n  \
             curl -s http://{api}/pay/payments/TRANSACTION_ID -H 'Authorization: Bearer {key}'\n\n\
             See its webhooks in a second terminal (start it before you create the payment):\n\n  \
             QUITA_SECRET=$({quita} secrets show --merchant {DEMO_MERCHANT}{store}) && export QUITA_SECRET && {quita} listen\n\n\
             API documentation: http://{api}/docs\n",
            payer(config),
            sample_request::curl(&format!("http://{api}"), key, Some(RECEIVER)),
        )
    }

    fn of_user(&self, config: &Config, api: SocketAddr, ops: SocketAddr) -> String {
        let Some((login, password)) = &self.user else { return String::new() };
        let operator = match config.operator_password.as_ref().map(Secret::expose) {
            Some(known) if known == DEVELOPMENT_PASSWORD => {
                format!("create the first operator there, with the password {DEVELOPMENT_PASSWORD}")
            }
            Some(_) => "create the first operator there, with the password that you configured".into(),
            None => "create the first operator with `quita users operators create --email YOU`".into(),
        };
        format!(
            "\nMerchants\u{2019} console: http://{api}/console/\n  sign in as {login}, password {password} (shown only this \
             once)\nOperators\u{2019} console: http://{ops}/\n  {operator}\n"
        )
    }
}

/// Returns the clause about the sandbox that pays PIX payments of a test key, if one is configured.
fn payer(config: &Config) -> String {
    let takes_pix = |acquirer: &&AcquirerConfig| {
        acquirer.spec.mode == Mode::Test && acquirer.spec.methods.contains(&Method::Pix)
    };
    let sandbox = config.acquirers.iter().filter(takes_pix).find_map(|acquirer| match &acquirer.adapter {
        AdapterConfig::Sandbox(sandbox) => Some(sandbox),
        AdapterConfig::ApiPix(_)
        | AdapterConfig::Cielo(_)
        | AdapterConfig::Pagarme(_)
        | AdapterConfig::Sicoob(_) => None,
    });
    let clause =
        |sandbox: &SandboxConfig| format!("; the sandbox pays it after {} s", sandbox.settle_after.as_secs());
    sandbox.map(clause).unwrap_or_default()
}

/// Returns the addresses of everything, for later starts.
fn places(config: &Config, api: SocketAddr, ops: SocketAddr) -> String {
    let quita = program();
    let store = store_flag(config);
    format!(
        "\nMerchants\u{2019} console: http://{api}/console/\nOperators\u{2019} console: http://{ops}/\n\
         API documentation: http://{api}/docs\nAnother key: {quita} keys create --merchant {DEMO_MERCHANT}{store}\n"
    )
}

/// Returns the name with which the program was called.
fn program() -> String {
    std::env::args().next().unwrap_or_else(|| "quita".into())
}

/// Returns the flag with which a command finds this store, if one is needed.
fn store_flag(config: &Config) -> String {
    if config.store == StoreUrl::default() { String::new() } else { format!(" --store '{}'", config.store) }
}
