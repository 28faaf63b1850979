//! Notices that acquirers send. Whatever can be read is stored the same, and moves a payment only within the laws.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quita_domain::acquiring::{Fact, Notice};
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::payment::{Command, Payment};
use quita_fuzz::samples::{Choice, START, context, opened};
use quita_fuzz::{laws, split};
use serde::Deserialize;

/// Notice in the form in which the sandbox sends it over HTTP.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SandboxNotice {
    #[serde(rename = "eventId")]
    _event_id: String,
    #[serde(rename = "transactionId")]
    _transaction_id: TransactionId,
    #[serde(flatten)]
    fact: Fact,
}

fuzz_target!(|data: &[u8]| {
    let (choice, json) = split(data);
    if let Ok(notice) = serde_json::from_slice::<Notice>(json) {
        let stored = serde_json::to_string(&notice).expect("what was read is written");
        assert_eq!(serde_json::from_str::<Notice>(&stored).ok(), Some(notice.clone()));
        tell(choice, notice.fact);
    }
    if let Ok(notice) = serde_json::from_slice::<SandboxNotice>(json) {
        tell(choice, notice.fact);
    }
    // Facts are given one a line: they meet payments of every kind in every order.
    let mut payment = opened(Choice::from_byte(choice));
    for (number, line) in json.split(|byte| *byte == b'\n').take(12).enumerate() {
        let Ok(fact) = serde_json::from_slice::<Fact>(line) else { continue };
        let stored = serde_json::to_string(&fact).expect("what was read is written");
        assert_eq!(serde_json::from_str::<Fact>(&stored).ok(), Some(fact.clone()));
        let now = START.plus_ms(number as u64 * 1_000);
        payment = laws::step(&payment, notified(&payment, fact), &context(now, 100 + 2 * number as u128));
    }
});

fn tell(choice: u8, fact: Fact) {
    let payment = opened(Choice::from_byte(choice));
    laws::step(&payment, notified(&payment, fact), &context(START, 100));
}

/// Returns the command in which the acquirer that has the charge states the fact.
fn notified(payment: &Payment, fact: Fact) -> Command {
    let acquirer = payment.acquirer().cloned().unwrap_or_else(|| AcquirerName::new("sandbox"));
    Command::Notified { acquirer, fact }
}
