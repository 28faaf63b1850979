//! Actions of payers and of the bank's desk.

use serde_json::{Value, json};

use super::PixBank;
use super::books::{Charge, Pix, Status};
use super::received::Wanted;
use super::rules;
use super::webhooks::Webhook;

impl PixBank {
    /// Has a payer pay the charged amount. Returns the endToEndId, or the reason why it can't be paid.
    pub fn pay(&mut self, txid: &str, now_ms: i64) -> Result<String, String> {
        self.settle_refunds(now_ms);
        let charge = self.payable(txid)?;
        if charge.expires_ms() < now_ms {
            return Err("the charge expired".to_owned());
        }
        let cents = charge.amount_cents;
        self.receive_for(txid, cents, now_ms)
    }

    /// Has a payer pay another amount, which some charges allow.
    pub fn pay_amount(&mut self, txid: &str, cents: i64, now_ms: i64) -> Result<String, String> {
        self.settle_refunds(now_ms);
        self.payable(txid)?;
        self.receive_for(txid, cents, now_ms)
    }

    /// Receives two concurrent payments; if one came in before, one more.
    pub fn pay_twice(&mut self, txid: &str, now_ms: i64) -> Result<Vec<String>, String> {
        self.settle_refunds(now_ms);
        let charge = self.books.charges.get(txid).ok_or("no such charge")?;
        let cents = charge.amount_cents;
        let times = if charge.pix.is_empty() { 2 } else { 1 };
        (0..times).map(|_| self.receive_for(txid, cents, now_ms)).collect()
    }

    /// Receives a payment that was under way, although the charge has expired or was removed meanwhile.
    pub fn pay_late(&mut self, txid: &str, now_ms: i64) -> Result<String, String> {
        self.settle_refunds(now_ms);
        let charge = self.books.charges.get(txid).ok_or("no such charge")?;
        let cents = charge.amount_cents;
        self.receive_for(txid, cents, now_ms)
    }

    /// Receives a Pix without a charge, under this endToEndId or one of the bank's.
    pub fn pay_key(
        &mut self,
        key: &str,
        cents: i64,
        id: Option<&str>,
        now_ms: i64,
    ) -> Result<String, String> {
        if !id.is_none_or(rules::is_end_to_end_id) || id.is_some_and(|id| self.books.pix.contains_key(id)) {
            return Err("no such endToEndId can come in".to_owned());
        }
        let number = self.books.next_number();
        let pix = Pix {
            number,
            txid: None,
            amount_cents: cents,
            key: key.to_owned(),
            received_ms: now_ms,
            refunds: Vec::new(),
        };
        Ok(self.receive(id, pix))
    }

    /// Lists a Pix under a charge that does not have it: a mistake in the bank's books.
    pub fn misfile(&mut self, txid: &str, cents: i64, now_ms: i64) -> Result<String, String> {
        let number = self.books.next_number();
        let charge = self.books.charges.get_mut(txid).ok_or("no such charge")?;
        let known = charge.pix.clone();
        let pix = Pix {
            number,
            txid: Some(txid.to_owned()),
            amount_cents: cents,
            key: charge.key.clone(),
            received_ms: now_ms,
            refunds: Vec::new(),
        };
        let id = self.receive(None, pix);
        if let Some(charge) = self.books.charges.get_mut(txid) {
            charge.pix = known;
        }
        Ok(id)
    }

    /// Removes a Pix from the bank's lists, but not from its charge: a mistake that [`PixBank::relist`] corrects.
    pub fn unlist(&mut self, end_to_end_id: &str) -> Result<(), String> {
        if !self.books.pix.contains_key(end_to_end_id) {
            return Err("no such Pix".to_owned());
        }
        self.books.unlisted.insert(end_to_end_id.to_owned());
        Ok(())
    }

    /// Restores a Pix in the bank's lists.
    pub fn relist(&mut self, end_to_end_id: &str) -> Result<(), String> {
        if self.books.unlisted.remove(end_to_end_id) { Ok(()) } else { Err("it is listed".to_owned()) }
    }

    /// Refunds money of a charge at the bank's desk, for the receiver.
    pub fn desk_refund(&mut self, txid: &str, cents: i64, now_ms: i64) -> Result<String, String> {
        self.refund_at_desk(txid, cents, "ORIGINAL", now_ms)
    }

    /// Has the banks take back money of a charge because of fraud.
    pub fn med_refund(&mut self, txid: &str, cents: i64, now_ms: i64) -> Result<String, String> {
        self.refund_at_desk(txid, cents, "MED_FRAUDE", now_ms)
    }

    fn refund_at_desk(
        &mut self,
        txid: &str,
        cents: i64,
        nature: &'static str,
        now_ms: i64,
    ) -> Result<String, String> {
        self.settle_refunds(now_ms);
        let charge = self.books.charges.get(txid).ok_or("no such charge")?;
        let end_to_end_id = charge.pix.first().ok_or("nothing was received")?.clone();
        let id = format!("D{:034x}", self.draw_id());
        let wanted = Wanted { id: &id, cents, nature, description: None };
        self.refund(&end_to_end_id, wanted, now_ms).map_err(|problem| format!("{problem:?}"))?;
        Ok(id)
    }

    /// Removes a charge on the bank's behalf.
    pub fn remove_by_psp(&mut self, txid: &str) -> Result<(), String> {
        self.remove(txid, Status::RemovedByPsp)
    }

    /// Removes a charge at the bank's desk, for the receiver.
    pub fn remove_by_receiver_at_desk(&mut self, txid: &str) -> Result<(), String> {
        self.remove(txid, Status::RemovedByReceiver)
    }

    fn remove(&mut self, txid: &str, status: Status) -> Result<(), String> {
        self.payable(txid)?;
        if let Some(charge) = self.books.charges.get_mut(txid) {
            charge.status = status;
            charge.revision = charge.revision.saturating_add(1);
        }
        Ok(())
    }

    /// Gives the charge with this txid to another merchant with another key; creates it if it is missing.
    pub fn foreign_key(&mut self, txid: &str, key: &str, now_ms: i64) {
        let token = format!("{:032x}", self.draw_id());
        let number = self.books.next_number();
        let location = format!("{}/{token}", self.config.location);
        let charge = self.books.charges.entry(txid.to_owned()).or_insert_with(|| Charge {
            number,
            created_ms: now_ms,
            expires_s: 3600,
            amount_cents: 100,
            location,
            ..Charge::default()
        });
        charge.key = key.to_owned();
    }

    /// Registers a callback address for a key of any merchant of the bank.
    pub fn foreign_webhook(&mut self, key: &str, url: &str, now_ms: i64) {
        self.webhooks.insert(key.to_owned(), Webhook { url: url.to_owned(), created_ms: now_ms });
    }

    pub(super) fn pay_by_chance(&mut self, txid: &str, now_ms: i64) {
        if self.chance(self.config.paid_before_answer_permille) && self.pay(txid, now_ms).is_ok() {
            self.answer_later_ms = self.config.paid_before_answer_ms;
        }
    }

    fn payable(&self, txid: &str) -> Result<&Charge, String> {
        let charge = self.books.charges.get(txid).ok_or("no such charge")?;
        if charge.status == Status::Active {
            Ok(charge)
        } else {
            Err(format!("the charge is {}", charge.status.name()))
        }
    }

    pub(super) fn receive_for(&mut self, txid: &str, cents: i64, now_ms: i64) -> Result<String, String> {
        if cents <= 0 {
            return Err("nothing can't be paid".to_owned());
        }
        let number = self.books.next_number();
        let charge = self.books.charges.get_mut(txid).ok_or("no such charge")?;
        if charge.status == Status::Active {
            charge.status = Status::Concluded;
        }
        let pix = Pix {
            number,
            txid: Some(txid.to_owned()),
            amount_cents: cents,
            key: charge.key.clone(),
            received_ms: now_ms,
            refunds: Vec::new(),
        };
        Ok(self.receive(None, pix))
    }

    /// Executes a command; see [`PixBank`].
    pub(super) fn command(&mut self, command: &Value, now_ms: i64) -> Result<Value, String> {
        let text = |name: &str| {
            command.get(name).and_then(Value::as_str).ok_or_else(|| format!("{name} is missing"))
        };
        let cents = || rules::cents(text("amount")?).ok_or_else(|| "amount is not like 10.00".to_owned());
        let txid = || text("txid");
        let paid = |id: String| json!({"endToEndId": id});
        let ok = json!({"ok": true});
        let done = |()| ok.clone();
        match text("do")? {
            "pay" => self.pay(txid()?, now_ms).map(paid),
            "pay_amount" => self.pay_amount(txid()?, cents()?, now_ms).map(paid),
            "pay_twice" => self.pay_twice(txid()?, now_ms).map(|ids| json!({"endToEndIds": ids})),
            "pay_late" => self.pay_late(txid()?, now_ms).map(paid),
            "pay_on" => {
                let cents = command.get("amount").map(|_| cents()).transpose()?;
                self.pay_on(txid()?, text("on")?, cents, now_ms).map(paid)
            }
            "pay_key" => {
                let id = command.get("endToEndId").and_then(Value::as_str);
                let hours_ago = command.get("hoursAgo").and_then(Value::as_i64).unwrap_or(0);
                let at_ms = now_ms.saturating_sub(hours_ago.saturating_mul(3_600_000));
                self.pay_key(text("key")?, cents()?, id, at_ms).map(paid)
            }
            "misfile" => self.misfile(txid()?, cents()?, now_ms).map(paid),
            "unlist" => self.unlist(text("endToEndId")?).map(done),
            "relist" => self.relist(text("endToEndId")?).map(done),
            "desk_refund" => self.desk_refund(txid()?, cents()?, now_ms).map(|id| json!({"id": id})),
            "med_refund" => self.med_refund(txid()?, cents()?, now_ms).map(|id| json!({"id": id})),
            "remove_by_psp" => self.remove_by_psp(txid()?).map(done),
            "remove_by_receiver_at_desk" => self.remove_by_receiver_at_desk(txid()?).map(done),
            "foreign_key" => {
                self.foreign_key(txid()?, text("key")?, now_ms);
                Ok(ok.clone())
            }
            "foreign_webhook" => {
                self.foreign_webhook(text("key")?, text("url")?, now_ms);
                Ok(ok.clone())
            }
            "forge" => self.forge(txid()?, now_ms).map(done),
            "revoke_tokens" => {
                self.revoke_tokens();
                Ok(ok.clone())
            }
            "set" => {
                let changes = command.get("config").ok_or("config is missing")?;
                self.config = self.config.changed(changes).map_err(|error| error.to_string())?;
                Ok(ok.clone())
            }
            "faults" => Ok(self.planned.control(command)),
            "calls" => Ok(json!(self.calls)),
            "books" => {
                Ok(self.books(now_ms).iter().map(|(txid, account)| (txid.clone(), account.tell())).collect())
            }
            other => Err(format!("{other} is not known here")),
        }
    }
}
