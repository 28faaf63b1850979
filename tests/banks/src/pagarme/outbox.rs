//! Callbacks to be sent, and their faults.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use super::config::Notifications;
use super::show::moment;
use crate::Notice;
use crate::cielo::chance::Chance;

/// Event that a callback is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Created,
    Paid,
    Failed,
    Canceled,
    Refunded,
    PartlyCanceled,
    ChargedBack,
}

impl Event {
    const fn name(self) -> &'static str {
        match self {
            Self::Created => "charge.pending",
            Self::Paid => "charge.paid",
            Self::Failed => "charge.payment_failed",
            Self::Canceled => "order.canceled",
            Self::Refunded => "charge.refunded",
            Self::PartlyCanceled => "charge.partial_canceled",
            Self::ChargedBack => "charge.chargedback",
        }
    }
}

/// Forgery of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Forgery {
    /// Its password is wrong.
    WrongPassword,
    /// It has no authentication.
    NoPassword,
    /// It is about a charge that does not exist.
    UnknownCharge,
    /// It is not JSON.
    Unreadable,
    /// It reports money that never came.
    FalsePayment,
}

impl Forgery {
    /// Each of them.
    pub const ALL: [Self; 5] =
        [Self::WrongPassword, Self::NoPassword, Self::UnknownCharge, Self::Unreadable, Self::FalsePayment];
}

/// Content of a callback: its event, and the charge as it was written then.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) event: Event,
    pub(crate) data: Value,
}

/// Callbacks by the time at which they are sent.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    due: BTreeMap<(i64, u64), Notice>,
    count: u64,
}

impl Outbox {
    /// Sends a callback, with the faults of the configuration.
    pub(crate) fn announce(&mut self, config: &Notifications, chance: &mut Chance, told: &Told, now_ms: i64) {
        let genuine = notice(config, chance, told, now_ms);
        if !chance.per_mille(config.lost_permille) {
            self.send(genuine.clone(), now_ms + delay_ms(config, chance));
        }
        if chance.per_mille(config.repeated_permille) {
            self.send(genuine, now_ms + delay_ms(config, chance));
        }
        if chance.per_mille(config.forged_permille) {
            let which = usize::try_from(chance.below(5)).unwrap_or(0);
            let forgery = Forgery::ALL.get(which).copied().unwrap_or(Forgery::WrongPassword);
            self.forge(config, chance, told, forgery, now_ms);
        }
    }

    /// Sends a callback at once.
    pub(crate) fn announce_at_once(
        &mut self,
        config: &Notifications,
        chance: &mut Chance,
        told: &Told,
        now_ms: i64,
    ) {
        let notice = notice(config, chance, told, now_ms);
        self.send(notice, now_ms);
    }

    /// Sends a forged callback.
    pub(crate) fn forge(
        &mut self,
        config: &Notifications,
        chance: &mut Chance,
        told: &Told,
        forgery: Forgery,
        now_ms: i64,
    ) {
        let genuine = notice(config, chance, told, now_ms);
        let forged = match forgery {
            Forgery::WrongPassword => {
                let wrong = Notifications { password: format!("{}x", config.password), ..config.clone() };
                Notice { headers: headers(&wrong), ..genuine }
            }
            Forgery::NoPassword => Notice {
                headers: vec![("content-type".to_owned(), "application/json".to_owned())],
                ..genuine
            },
            Forgery::UnknownCharge => {
                let data = json!({
                    "id": format!("ch_{}", chance.hexadecimal(16)), "code": chance.hexadecimal(32), "status": "paid",
                });
                notice(config, chance, &Told { event: Event::Paid, data }, now_ms)
            }
            Forgery::Unreadable => Notice { body: b"id=hook_".to_vec(), ..genuine },
            Forgery::FalsePayment => {
                let mut data = told.data.clone();
                if let Some(fields) = data.as_object_mut() {
                    let amount = fields.get("amount").cloned().unwrap_or_default();
                    fields.insert("status".to_owned(), "paid".into());
                    fields.insert("paid_amount".to_owned(), amount);
                }
                notice(config, chance, &Told { event: Event::Paid, data }, now_ms)
            }
        };
        self.send(forged, now_ms);
    }

    /// Takes the callbacks that are due, each once.
    pub(crate) fn take(&mut self, now_ms: i64) -> Vec<Notice> {
        let later = self.due.split_off(&(now_ms.saturating_add(1), 0));
        std::mem::replace(&mut self.due, later).into_values().collect()
    }

    /// Returns the time of the next callback.
    pub(crate) fn next_ms(&self) -> Option<i64> {
        self.due.keys().next().map(|(at, _)| *at)
    }

    fn send(&mut self, notice: Notice, at_ms: i64) {
        self.count += 1;
        self.due.insert((at_ms, self.count), notice);
    }
}

fn notice(config: &Notifications, chance: &mut Chance, told: &Told, now_ms: i64) -> Notice {
    let body = json!({
        "id": format!("hook_{}", chance.hexadecimal(16)),
        "account": { "id": "acc_1", "name": "Loja Exemplo" },
        "type": told.event.name(),
        "created_at": moment(now_ms),
        "data": told.data,
    });
    Notice { url: config.url.clone(), headers: headers(config), body: body.to_string().into_bytes() }
}

fn headers(config: &Notifications) -> Vec<(String, String)> {
    let credentials = STANDARD.encode(format!("{}:{}", config.user, config.password));
    vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("authorization".to_owned(), format!("Basic {credentials}")),
    ]
}

fn delay_ms(config: &Notifications, chance: &mut Chance) -> i64 {
    let (least, most) = config.delay_ms;
    let span = u64::try_from(most.saturating_sub(least)).unwrap_or(0).saturating_add(1);
    least.saturating_add(i64::try_from(chance.below(span)).unwrap_or(0))
}
