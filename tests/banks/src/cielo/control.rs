//! Commands of people outside the API, as JSON.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Cielo;
use super::books;

impl Cielo {
    /// Executes a command.
    pub(super) fn command(&mut self, command: &Value, now_ms: i64) -> Result<Value, String> {
        let text = |name: &str| command.get(name).and_then(Value::as_str);
        let amount = command.get("amountCents").and_then(Value::as_u64);
        // A server's control path names the value after the command `txid`.
        let sale = text("sale").or_else(|| text("txid")).unwrap_or_default();
        match text("do").unwrap_or_default() {
            "books" => return Ok(books::json(&self.books())),
            "faults" => return Ok(self.planned.control(command)),
            "pay" => match amount {
                Some(amount) => self.pay_other_amount(sale, amount, now_ms),
                None => self.pay(sale, now_ms),
            },
            "capture" => self.capture_at_desk(sale, amount, now_ms),
            "void" => self.void_at_desk(sale, amount, now_ms),
            "chargeback" => {
                let status = text("status").unwrap_or("Received");
                self.chargeback(sale, text("case").unwrap_or("1"), amount.unwrap_or(0), status, now_ms)
            }
            "expire" => self.expire(sale, now_ms),
            "notify" => self.notify(sale, now_ms),
            "finish" => self.finish(sale, &read(command, "outcome")?, now_ms),
            "forge" => {
                self.forge(sale, read(command, "how")?, now_ms);
                Ok(())
            }
            "plan" if sale.is_empty() => {
                self.plan_next(read(command, "plan")?);
                Ok(())
            }
            "plan" => {
                self.plan(sale, read(command, "plan")?);
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
