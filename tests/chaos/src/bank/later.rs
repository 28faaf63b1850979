//! Unrequested events at a bank: payers pay, boletos are registered, refunds end, money is disputed.

use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;
use tokio::task::spawn_local;
use tokio::time::sleep;

use super::{Bank, add};
use crate::bank_kind::BankKind;
use crate::books::{State, charged_back, refunded};

impl Bank {
    /// Has the payer pay after a while; some never do.
    pub(super) fn pay_later(self: &Rc<Self>, bank: BankKind, id: &str) {
        if self.dice.percent(15) {
            return;
        }
        let after = self.dice.millis(50, 3_000);
        // Some payments are never reported, so the service has to ask.
        let is_told = !self.dice.percent(5);
        self.later(after, id, move |me, id| {
            let fact = me.books.borrow_mut().entry(bank, id).and_then(|entry| {
                let pays = entry.pay(is_told);
                pays.then(|| entry.settled(id))
            });
            if let Some(fact) = fact.filter(|_| is_told) {
                me.notify(bank, id, &format!("paid-{id}"), fact);
            }
        });
    }

    /// Registers a boleto after a while, until which it has no code.
    pub(super) fn register_later(self: &Rc<Self>, bank: BankKind, id: &str) {
        if let Some(entry) = self.books.borrow_mut().entry(bank, id) {
            entry.state = State::Registering;
        }
        add(&self.counts.slow_boletos);
        self.later(self.dice.millis(200, 5_000), id, move |me, id| {
            if let Some(entry) = me.books.borrow_mut().entry(bank, id) {
                entry.state = State::Pending;
            }
            me.pay_later(bank, id);
            if me.dice.percent(70) {
                me.notify(bank, id, &format!("registered-{id}"), Value::Null);
            }
        });
    }

    /// Ends an accepted refund after some seconds: done, or refused.
    pub(super) fn end_refund_later(self: &Rc<Self>, bank: BankKind, id: &str, refund: &str, amount: u64) {
        let refund = refund.to_owned();
        let is_done = self.dice.percent(75);
        add(&self.counts.slow_refunds);
        self.later(self.dice.millis(500, 12_000), id, move |me, id| {
            if let Some(entry) = me.books.borrow_mut().entry(bank, id) {
                entry.end_refund(&refund, is_done);
            }
            if is_done && me.dice.percent(50) {
                me.notify(bank, id, &format!("refund-{refund}"), refunded(&refund, amount));
            }
        });
    }

    /// Has the payer's bank take back the money of a captured card.
    pub(super) fn charge_back_later(self: &Rc<Self>, bank: BankKind, id: &str) {
        self.later(self.dice.millis(1_000, 4_000), id, move |me, id| {
            let is_captured = me.books.borrow_mut().entry(bank, id).is_some_and(|entry| {
                entry.charged_back = entry.state == State::Captured;
                entry.charged_back
            });
            if is_captured {
                me.notify(bank, id, &format!("chargeback-{id}"), charged_back(id));
            }
        });
    }

    /// Acts on a charge after this time.
    fn later(self: &Rc<Self>, after: Duration, id: &str, action: impl FnOnce(&Rc<Self>, &str) + 'static) {
        let me = Rc::clone(self);
        let id = id.to_owned();
        self.open.set(self.open.get() + 1);
        spawn_local(async move {
            sleep(after).await;
            action(&me, &id);
            me.open.set(me.open.get() - 1);
        });
    }
}
