//! Commands of people outside the API, as JSON.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Pagarme;
use super::books;

impl Pagarme {
    /// Executes a command.
    pub(super) fn command(&mut self, command: &Value, now_ms: i64) -> Result<Value, String> {
        let text = |name: &str| command.get(name).and_then(Value::as_str);
        let amount = command.get("amountCents").and_then(Value::as_u64);
        // A server's control path names the value after the command `txid`.
        let charge = text("charge").or_else(|| text("txid")).unwrap_or_default();
        match text("do").unwrap_or_default() {
            "books" => return Ok(books::json(&self.books())),
            "faults" => return Ok(self.planned.control(command)),
            "pay" => match amount {
                Some(amount) => self.pay_other_amount(charge, amount, now_ms),
                None => self.pay(charge, now_ms),
            },
            "capture" => self.capture_at_desk(charge, amount, now_ms),
            "cancel" => self.cancel_at_desk(charge, amount, now_ms),
            "chargeback" => self.chargeback(charge, amount, now_ms),
            "win" if command.get("keepsStatus") == Some(&Value::Bool(true)) => {
                self.win_in_payables(charge, now_ms)
            }
            "win" => self.win(charge, now_ms),
            "recover" => self.recover(charge, now_ms),
            "expire" => self.expire(charge, now_ms),
            "again" => self.make_again(charge, now_ms),
            "notify" => self.notify(charge, now_ms),
            "finish" => self.finish(charge, &read(command, "outcome")?, now_ms),
            "forge" => self.forge(charge, read(command, "how")?, now_ms),
            "anticipate" => {
                let id = self.known(charge).map_err(|unable| unable.to_string())?.id.clone();
                self.anticipate(&id, command.get("feeCents").and_then(Value::as_i64).unwrap_or(0), now_ms);
                Ok(())
            }
            "adjust" => {
                self.book_adjustment(command.get("amountCents").and_then(Value::as_i64).unwrap_or(0), now_ms);
                Ok(())
            }
            act @ ("unlist" | "relist") => {
                let id = self.known(charge).map_err(|unable| unable.to_string())?.id.clone();
                if act == "unlist" {
                    self.unlisted.insert(id)
                } else {
                    self.unlisted.remove(&id)
                };
                Ok(())
            }
            "forget_keys" => {
                self.keys.clear();
                Ok(())
            }
            "plan" if charge.is_empty() => {
                self.plan_next(read(command, "plan")?);
                Ok(())
            }
            "plan" => {
                self.plan(charge, read(command, "plan")?);
                Ok(())
            }
            "set" => {
                let changes = command.get("config").ok_or("config is missing")?;
                self.config = self.config.changed(changes).map_err(|error| error.to_string())?;
                Ok(())
            }
            other => return Err(format!("{other} is not known here")),
        }
        .map_err(|unable| unable.to_string())?;
        Ok(json!({ "ok": true }))
    }
}

/// Reads the value under this name in a command.
fn read<T: DeserializeOwned>(command: &Value, name: &str) -> Result<T, String> {
    let value = command.get(name).cloned().unwrap_or_default();
    serde_json::from_value(value).map_err(|error| format!("{name}: {error}"))
}
