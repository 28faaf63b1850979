//! `quita trigger`: creates a sandbox payment that reaches a given event, to test a receiver.

mod advice;
mod delivery;

use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::PossibleValuesParser;
use quita_domain::identity::TransactionId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::api::{Api, ApiRequest};
use super::failure::Failure;
use super::output;
use super::payments::card;
use super::sandbox::moved_by_hand;
use crate::sample_request;
use delivery::{Delivered, TriggeredEvent};

/// Time limit for the event.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time between two polls.
const PAUSE: Duration = Duration::from_millis(100);

/// Amount that the sandbox leaves pending until the payment is moved manually (contract, section 4.1).
const STAYS_PENDING: u64 = 10_027;

/// Recipes of the events that the sandbox can reach. It never refuses a refund, so `payment.refund_failed` is missing.
const RECIPES: [Recipe; 9] = [
    Recipe { event: "payment.pending", card: None, steps: &[] },
    Recipe { event: "payment.approved", card: Some("approved"), steps: &[] },
    Recipe { event: "payment.paid", card: None, steps: &[RecipeStep::Sandbox("pay")] },
    Recipe { event: "payment.declined", card: Some("insufficient_funds"), steps: &[] },
    Recipe { event: "payment.expired", card: None, steps: &[RecipeStep::Sandbox("expire")] },
    Recipe { event: "payment.cancelled", card: None, steps: &[RecipeStep::Post("cancel", "")] },
    Recipe {
        event: "payment.refund",
        card: None,
        steps: &[RecipeStep::Sandbox("pay"), RecipeStep::Post("refunds", "{}")],
    },
    Recipe {
        event: "payment.refund_succeeded",
        card: None,
        steps: &[RecipeStep::Sandbox("pay"), RecipeStep::Post("refunds", r#"{"amount":100}"#)],
    },
    Recipe {
        event: "payment.chargeback",
        card: None,
        steps: &[RecipeStep::Sandbox("pay"), RecipeStep::Sandbox("chargeback")],
    },
];

/// Recipe for an event.
struct Recipe {
    event: &'static str,
    /// Sandbox card, which is only authorised; a PIX payment if absent.
    card: Option<&'static str>,
    steps: &'static [RecipeStep],
}

/// Step after the creation of the payment.
enum RecipeStep {
    /// Manual move in the sandbox.
    Sandbox(&'static str),
    /// Request of the merchant, with its body.
    Post(&'static str, &'static str),
}

/// Arguments of `quita trigger`.
#[derive(Debug, Args)]
#[command(
    after_help = "Needs a test key with payments:write and payments:read. With webhooks as well, it waits until the \
    receiver has confirmed the event, reports why if it did not, and ends with exit code 1 if the event was not \
    delivered. The wait ends after 8 seconds, and after 18 for payment.pending. The sandbox never fails a refund, so \
    payment.refund_failed can't be triggered. Without --json it prints only the payment's id."
)]
pub(super) struct TriggerCommand {
    /// Event to trigger
    #[arg(value_parser = PossibleValuesParser::new(RECIPES.each_ref().map(|recipe| recipe.event)))]
    event: String,
    /// Webhook URL; the default is the address of `quita listen`
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8090/")]
    postback_url: String,
    /// Print JSON: the event, the payment's id and the webhook URL
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    api: Api,
}

/// Triggered event, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Triggered<'a> {
    event: &'a str,
    transaction_id: TransactionId,
    postback_url: &'a str,
}

/// Fields of a record that are parsed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    transaction_id: TransactionId,
}

/// Fields of a payment's events that are parsed.
#[derive(Deserialize)]
struct EventList {
    data: Vec<ListedEvent>,
}

#[derive(Deserialize)]
struct ListedEvent {
    event: String,
}

pub(super) async fn run(command: TriggerCommand) -> Result<(), Failure> {
    let TriggerCommand { event, postback_url, json, api } = command;
    if api.is_live() {
        return Err(Failure::usage("Only test keys reach the sandbox, and this key is live."));
    }
    let recipe = RECIPES.iter().find(|recipe| recipe.event == event);
    let recipe = recipe.ok_or_else(|| Failure::usage(format!("The sandbox can't trigger {event}.")))?;
    let body = recipe.body(&postback_url);
    let answer = api.call("create", ApiRequest::post("/pay/payments").with_body(&body)).await?;
    let Created { transaction_id } = serde_json::from_str(&answer)
        .map_err(|error| Failure::failed(format!("the answer has no payment: {error}")))?;
    for step in recipe.steps {
        step.take(&api, transaction_id).await?;
    }
    wait_for(&api, transaction_id, &event).await?;
    if json {
        output::json(&Triggered { event: &event, transaction_id, postback_url: &postback_url })?;
    } else {
        output::result(&transaction_id.to_string())?;
    }
    let awaits_payer = recipe.awaits_payer();
    let triggered = TriggeredEvent { id: transaction_id, event: &event, url: &postback_url, awaits_payer };
    match triggered.outcome(&api).await {
        Delivered::Fine(sentence) => {
            output::note(&sentence);
            Ok(())
        }
        Delivered::Not(why) => Err(Failure::failed(why)),
    }
}

impl Recipe {
    /// Returns true if a PIX payment still waits for its payer when the event happens.
    const fn awaits_payer(&self) -> bool {
        self.card.is_none() && self.steps.is_empty()
    }

    fn body(&self, postback_url: &str) -> String {
        let mut terms = Map::from_iter([("postbackUrl".to_owned(), json!(postback_url))]);
        let mut put = |name: &str, value: Value| drop(terms.insert(name.into(), value));
        match self.card {
            None => put("amount", json!(STAYS_PENDING)),
            Some(outcome) => {
                put("paymentMethod", json!("credit_card"));
                put("installments", json!(1));
                put("creditCard", card(Some(outcome)));
                put("capture", json!(false));
            }
        }
        sample_request::body_with(terms)
    }
}

impl RecipeStep {
    async fn take(&self, api: &Api, id: TransactionId) -> Result<(), Failure> {
        match self {
            Self::Sandbox(action) => moved_by_hand(api, id, action).await.map(drop),
            Self::Post(action, body) => {
                let call = ApiRequest::post(format!("/pay/payments/{id}/{action}"));
                let call = if body.is_empty() { call } else { call.with_body(body) };
                api.call(action, call).await.map(drop)
            }
        }
    }
}

/// Waits for the event.
async fn wait_for(api: &Api, id: TransactionId, event: &str) -> Result<(), Failure> {
    let until = Instant::now() + PATIENCE;
    loop {
        let answer =
            api.call("reading the events", ApiRequest::get(format!("/pay/payments/{id}/events"))).await?;
        let events: EventList = serde_json::from_str(&answer)
            .map_err(|error| Failure::failed(format!("the answer has no events: {error}")))?;
        if events.data.iter().any(|told| told.event == event) {
            return Ok(());
        }
        if Instant::now() > until {
            let last = events
                .data
                .last()
                .map_or_else(|| "nothing yet".into(), |told| output::printable(&told.event));
            let waited = PATIENCE.as_secs();
            return Err(Failure::failed(format!(
                "{id} did not reach {event} within {waited} s; its last event is {last}."
            )));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::status::Status;

    use super::*;

    #[test]
    fn every_status_that_is_told_has_a_recipe() {
        for status in Status::ALL.into_iter().filter(|status| *status != Status::Initial) {
            let event = format!("payment.{status}");
            assert!(RECIPES.iter().any(|recipe| recipe.event == event), "{event}");
        }
    }

    #[test]
    fn a_body_has_one_amount_and_its_receiver() {
        for recipe in &RECIPES {
            let body: Value = serde_json::from_str(&recipe.body("http://r/")).unwrap();
            assert_eq!(body["postbackUrl"], "http://r/");
            assert!(body["paymentDetails"].is_object() && body["amount"].is_u64(), "{body}");
            assert_eq!(body["creditCard"].is_object(), recipe.card.is_some());
        }
    }
}
