//! Notifications to be sent, and their faults.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use super::chance::Chance;
use super::config::Notifications;
use crate::Notice;

/// Change that a notification reports. The numbers are Cielo's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Status,
    VoidRefused,
    PaidLess,
    Chargeback,
}

impl Change {
    fn number(self) -> u8 {
        match self {
            Self::Status => 1,
            Self::VoidRefused => 5,
            Self::PaidLess => 6,
            Self::Chargeback => 7,
        }
    }
}

/// Way in which a notification is forged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Forgery {
    /// Its secret headers have other values.
    WrongHeader,
    /// It has none of the headers.
    NoHeader,
    /// It is about a sale that does not exist.
    UnknownSale,
    /// It is not JSON.
    Unreadable,
}

impl Forgery {
    /// Each of them.
    pub const ALL: [Self; 4] = [Self::WrongHeader, Self::NoHeader, Self::UnknownSale, Self::Unreadable];
}

/// Notifications by the time at which they are sent.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    due: BTreeMap<(i64, u64), Notice>,
    count: u64,
}

impl Outbox {
    /// Announces a change, with the faults of the configuration.
    pub(crate) fn announce(
        &mut self,
        config: &Notifications,
        chance: &mut Chance,
        payment_id: &str,
        change: Change,
        now_ms: i64,
    ) {
        let genuine = notice(config, payment_id, change);
        if !chance.per_mille(config.lost_permille) {
            self.send(genuine.clone(), now_ms + delay_ms(config, chance));
        }
        if chance.per_mille(config.repeated_permille) {
            self.send(genuine, now_ms + delay_ms(config, chance));
        }
        if chance.per_mille(config.forged_permille) {
            let which = usize::try_from(chance.below(4)).unwrap_or(0);
            let forgery = Forgery::ALL.get(which).copied().unwrap_or(Forgery::WrongHeader);
            self.forge(config, chance, payment_id, forgery, now_ms);
        }
    }

    /// Announces a sale at once, before it is answered.
    pub(crate) fn announce_early(&mut self, config: &Notifications, payment_id: &str, now_ms: i64) {
        self.send(notice(config, payment_id, Change::Status), now_ms);
    }

    /// Sends a forged notification.
    pub(crate) fn forge(
        &mut self,
        config: &Notifications,
        chance: &mut Chance,
        payment_id: &str,
        forgery: Forgery,
        now_ms: i64,
    ) {
        let genuine = notice(config, payment_id, Change::Status);
        let forged = match forgery {
            Forgery::WrongHeader => {
                let wrong = |(name, value): &(String, String)| (name.clone(), format!("{value}x"));
                Notice { headers: genuine.headers.iter().map(wrong).collect(), ..genuine }
            }
            Forgery::NoHeader => Notice { headers: content_type(), ..genuine },
            Forgery::UnknownSale => notice(config, &chance.guid(), Change::Status),
            Forgery::Unreadable => Notice { body: b"PaymentId=".to_vec(), ..genuine },
        };
        self.send(forged, now_ms);
    }

    /// Takes the notifications that are due, each once.
    pub(crate) fn take(&mut self, now_ms: i64) -> Vec<Notice> {
        let later = self.due.split_off(&(now_ms.saturating_add(1), 0));
        std::mem::replace(&mut self.due, later).into_values().collect()
    }

    /// Returns the time of the next notification.
    pub(crate) fn next_ms(&self) -> Option<i64> {
        self.due.keys().next().map(|(at, _)| *at)
    }

    fn send(&mut self, notice: Notice, at_ms: i64) {
        self.count += 1;
        self.due.insert((at_ms, self.count), notice);
    }
}

fn notice(config: &Notifications, payment_id: &str, change: Change) -> Notice {
    let body = json!({ "PaymentId": payment_id, "ChangeType": change.number() });
    let headers = content_type().into_iter().chain(config.headers.clone()).collect();
    Notice { url: config.url.clone(), headers, body: body.to_string().into_bytes() }
}

fn content_type() -> Vec<(String, String)> {
    vec![("content-type".to_owned(), "application/json".to_owned())]
}

fn delay_ms(config: &Notifications, chance: &mut Chance) -> i64 {
    let (least, most) = config.delay_ms;
    let span = u64::try_from(most.saturating_sub(least)).unwrap_or(0).saturating_add(1);
    least.saturating_add(i64::try_from(chance.below(span)).unwrap_or(0))
}
