//! Check of the acquirers that open payments need.

use std::collections::{BTreeMap, BTreeSet};

use actix_web::rt::time::timeout;
use quita_domain::identity::AcquirerName;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_ports::{PaymentStore, StoreError};

use super::STORE_TIME_OUT;
use super::finding::Finding;
use quita_config::Config;

const SUBJECT: &str = "acquirer";
/// Maximum number of open payments that are read, in the order in which they are due.
const MOST: usize = 20_000;
/// Number of payments per read.
const READ_AT_ONCE: usize = 500;

/// Methods of open payments, as labels, by the acquirer that the configuration is missing.
type MissingAcquirers = BTreeMap<AcquirerName, BTreeSet<&'static str>>;

/// Reports each acquirer that open payments need but the configuration does not have.
pub(super) async fn missing_acquirers(store: &dyn PaymentStore, config: &Config) -> Vec<Finding> {
    let read = timeout(STORE_TIME_OUT, missing(store, config, MOST)).await;
    let (missing, is_all) = match read {
        Ok(Ok(read)) => read,
        Ok(Err(error)) => {
            let text = format!("open payments can't be read: {error}");
            return vec![Finding::fail(SUBJECT, text, "fix the store first")];
        }
        Err(_) => {
            let seconds = STORE_TIME_OUT.as_secs();
            let text = format!("open payments could not be read within {seconds} s");
            let mend = "run this again before you remove an acquirer from the configuration";
            return vec![Finding::warn(SUBJECT, text, mend)];
        }
    };
    let mut findings: Vec<_> = missing
        .into_iter()
        .map(|(name, methods)| {
            let methods: Vec<_> = methods.into_iter().collect();
            let text = format!(
                "{name}: open payments need it ({}), but the configuration does not provide it",
                methods.join(", ")
            );
            let mend = "keep it configured with these methods until the payments have ended";
            Finding::fail(SUBJECT, text, mend)
        })
        .collect();
    if !is_all {
        let text = format!("only the {MOST} open payments that are due first were checked");
        findings.push(Finding::ok(SUBJECT, text));
    }
    findings
}

/// Returns the acquirers that open payments are missing, and true if at most `most` payments are open.
async fn missing(
    store: &dyn PaymentStore,
    config: &Config,
    most: usize,
) -> Result<(MissingAcquirers, bool), StoreError> {
    let configured = |name: &AcquirerName, payment: &Payment| {
        let specs = config.acquirers.iter().map(|acquirer| &acquirer.spec);
        specs.filter(|spec| spec.name == *name).any(|spec| spec.methods.contains(&payment.method()))
    };
    let mut missing = MissingAcquirers::new();
    // Every payment with a next step has a time for it, however distant.
    let open = store.due(Timestamp::from_millis(i64::MAX), most).await?;
    for ids in open.chunks(READ_AT_ONCE) {
        for payment in store.load(ids).await? {
            for name in payment.acquirers_of_next_steps().filter(|name| !configured(name, &payment)) {
                missing.entry(name.clone()).or_default().insert(payment.method().label());
            }
        }
    }
    Ok((missing, open.len() < most))
}
