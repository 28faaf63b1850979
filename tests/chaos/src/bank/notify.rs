//! Notices that a bank sends by itself: late, several times, in any order, until they are accepted.

use std::rc::Rc;
use std::time::Duration;

use quita_domain::webhook::signature::sign;
use quita_machine::SystemClock;
use quita_ports::Clock;
use serde_json::{Value, json};
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout};

use super::{Bank, add};
use crate::bank_kind::BankKind;
use crate::wire::Call;

impl Bank {
    /// Notifies the service, now or later, once or several times, each time until the service confirms it.
    pub(super) fn notify(self: &Rc<Self>, bank: BankKind, id: &str, event: &str, fact: Value) {
        let times = if self.dice.percent(20) { self.dice.between(2, 4) } else { 1 };
        for _ in 0..times {
            let body = match bank {
                BankKind::WithIds => {
                    let mut body = fact.clone();
                    body["eventId"] = event.into();
                    body["transactionId"] = id.into();
                    body
                }
                BankKind::SumsOnly => self.hint(bank, id),
            };
            let me = Rc::clone(self);
            let event = event.to_owned();
            let late = if self.dice.percent(10) { 6_000 } else { 400 };
            let after = self.dice.millis(0, late);
            self.open.set(self.open.get() + 1);
            spawn_local(async move {
                sleep(after).await;
                while !me.deliver(bank, &event, &body.to_string()).await {
                    sleep(me.dice.millis(200, 600)).await;
                }
                add(match bank {
                    BankKind::WithIds => &me.counts.notices,
                    BankKind::SumsOnly => &me.counts.hints,
                });
                me.open.set(me.open.get() - 1);
            });
        }
    }

    /// Returns a hint, which contains only the charge that may have changed, by our id or by the bank's own name.
    fn hint(&self, bank: BankKind, id: &str) -> Value {
        let number = self.books.borrow_mut().entry(bank, id).map(|entry| entry.number.clone());
        match number.filter(|_| self.dice.percent(50)) {
            Some(number) => json!({"number": number}),
            None => json!({"transactionId": id}),
        }
    }

    async fn deliver(&self, bank: BankKind, event: &str, body: &str) -> bool {
        let (address, secret) = {
            let nodes = self.nodes.borrow();
            let secrets = self.secrets.borrow();
            (nodes[self.dice.index(nodes.len())], secrets[&bank].clone())
        };
        let timestamp_s = SystemClock.now().plus_ms(self.ahead_ms.get()).millis() / 1_000;
        let signature = sign(&[secret], event, timestamp_s, body.as_bytes());
        let timestamp = timestamp_s.to_string();
        let headers = [
            ("content-type", "application/json"),
            ("webhook-id", event),
            ("webhook-timestamp", &timestamp),
            ("webhook-signature", &signature),
        ];
        let path = format!("/acquirers/{}/notifications", bank.name());
        let call = Call { method: "POST", path: &path, headers: &headers, body: body.as_bytes() };
        matches!(timeout(Duration::from_secs(5), call.to(address)).await, Ok(Ok(answer)) if answer.status == 200)
    }
}
