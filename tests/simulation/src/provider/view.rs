//! View that a bank gives of what it has. It uses a clock of its own, shows a charge's money before or after its
//! status, and lists that are an hour behind. Its books are right throughout.

use std::collections::BTreeMap;

use chrono::{DateTime, SecondsFormat};
use quita_banks::{Reply, Request, Response};
use quita_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::chance::Chance;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

/// Names of instants in answers.
const INSTANTS: [&str; 4] = ["criacao", "horario", "solicitacao", "liquidacao"];

/// View of a bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct View {
    /// Error of the times that it writes, in milliseconds.
    pub(crate) clock_off_ms: i64,
    /// Time for which a paid charge is concluded without its money, in milliseconds.
    money_lags_ms: i64,
    /// Time for which a paid charge shows its money and is not concluded, in milliseconds.
    status_lags_ms: i64,
    /// Time by which lists are behind, in milliseconds.
    pub(crate) lists_lag_ms: i64,
    /// Time after the world began for which its lists are unavailable, in milliseconds.
    lists_away_ms: i64,
    /// True if lists have no paging data.
    pub(crate) has_no_paging: bool,
}

impl View {
    /// View that shows everything as it is.
    pub(crate) const PLAIN: Self = Self {
        clock_off_ms: 0,
        money_lags_ms: 0,
        status_lags_ms: 0,
        lists_lag_ms: 0,
        lists_away_ms: 0,
        has_no_paging: false,
    };

    pub(crate) fn by(chance: &Chance) -> Self {
        let when = |rate, ms: i64| if chance.per_mille(rate) { ms } else { 0 };
        let up_to = |most: i64| i64::try_from(chance.between(1, u64::try_from(most).unwrap())).unwrap();
        Self {
            clock_off_ms: when(
                500,
                chance.pick(&[-3 * HOUR_MS, 3 * HOUR_MS, -5 * MINUTE_MS, 5 * MINUTE_MS, -40_000]),
            ),
            money_lags_ms: when(300, up_to(8 * MINUTE_MS)),
            status_lags_ms: when(200, up_to(20_000)),
            lists_lag_ms: when(300, HOUR_MS),
            lists_away_ms: when(200, chance.pick(&[22, 40, 46, 50]) * HOUR_MS),
            has_no_paging: chance.per_mille(200),
        }
    }
}

/// View of one bank, and since when it has shown which charge.
#[derive(Default)]
pub(super) struct Window {
    pub(super) view: View,
    paid_since: BTreeMap<String, i64>,
}

impl Window {
    pub(super) fn of(view: View) -> Self {
        Self { view, ..Self::default() }
    }

    /// Returns true if lists are unavailable now.
    pub(super) fn has_no_lists(&self, now_ms: i64, began_ms: i64) -> bool {
        now_ms < began_ms + self.view.lists_away_ms
    }

    /// Returns the answer that is shown in place of another.
    pub(super) fn show(&mut self, request: &Request, reply: Reply, now_ms: i64) -> Reply {
        let Reply::Answer { response, after_ms } = reply else { return reply };
        let Ok(mut body) = serde_json::from_slice::<Value>(&response.body) else {
            return Reply::Answer { response, after_ms };
        };
        if response.status < 300 && request.path.contains("/cob/") {
            self.delay(&request.path, &mut body, now_ms);
        }
        shift(&mut body, self.view.clock_off_ms);
        let body = body.to_string().into_bytes();
        Reply::Answer { response: Response { body, ..response }, after_ms }
    }

    /// Delays the money or the status of a charge that was just paid.
    fn delay(&mut self, path: &str, cob: &mut Value, now_ms: i64) {
        let Some(pix) = cob["pix"].as_array() else { return };
        // Money that was partly returned came in long before.
        let went_back = pix.iter().any(|one| one.get("devolucoes").is_some());
        if pix.is_empty() || went_back || cob["status"] != "CONCLUIDA" {
            return;
        }
        let since = *self.paid_since.entry(path.to_owned()).or_insert(now_ms);
        if now_ms < since + self.view.money_lags_ms {
            cob.as_object_mut().unwrap().remove("pix");
        } else if now_ms < since + self.view.status_lags_ms {
            cob["status"] = json!("ATIVA");
        }
    }

    /// Returns true if a list contains what happened at that time.
    pub(super) fn lists(&self, at_ms: i64, now_ms: i64) -> bool {
        at_ms <= now_ms - self.view.lists_lag_ms
    }
}

/// Parses an instant as the bank's books write it.
pub(super) fn instant(value: &Value) -> Option<i64> {
    Timestamp::parse(value.as_str()?).map(Timestamp::millis)
}

/// Moves every instant of an answer.
fn shift(value: &mut Value, by_ms: i64) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| {
            match instant(value).filter(|_| INSTANTS.contains(&name.as_str())) {
                Some(at) => *value = json!(written(at + by_ms)),
                None => shift(value, by_ms),
            }
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| shift(item, by_ms)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn written(ms: i64) -> String {
    DateTime::from_timestamp_millis(ms).unwrap().to_rfc3339_opts(SecondsFormat::Millis, true)
}
