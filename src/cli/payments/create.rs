//! `quita payments create`: creates a sandbox payment with a sample payer, or one from a file.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use clap::Args;
use clap::builder::PossibleValuesParser;
use quita_domain::method::Method;
use serde_json::{Map, Number, Value, json};

use super::record::ShownRecord;
use super::{cents, method, print_record};
use crate::cli::api::{Api, ApiRequest};
use crate::cli::failure::Failure;
use crate::cli::output;
use crate::cli::values::{date, seconds};
use crate::sample_request;

/// Sandbox cards by their outcome (contract, section 4.1). A real card number must never be on a command line.
const CARDS: [(&str, &str); 9] = [
    ("approved", "4242424242424242"),
    ("generic_decline", "4000000000000002"),
    ("insufficient_funds", "4000000000009995"),
    ("lost_card", "4000000000009987"),
    ("expired_card", "4000000000000069"),
    ("incorrect_cvc", "4000000000000127"),
    ("times_out", "4000000000000119"),
    ("charged_back", "4000000000000259"),
    ("capture_refused", "4000000000000341"),
];

/// Payment to create.
#[derive(Debug, Args)]
#[command(
    after_help = "Amounts are cents. The sandbox acts on the last two digits of a PIX or boleto: 17 expires at once, \
                  27 stays pending, 31 is paid and charged back; /docs of the service has them all. \
                  Needs a key with payments:write."
)]
pub(in crate::cli) struct PaymentArgs {
    /// pix, boleto or credit_card
    #[arg(long, default_value = "pix", value_parser = method)]
    method: Method,
    /// Amount in cents: 10000 is R$ 100,00
    #[arg(long, value_name = "CENTS", default_value_t = 10_000, value_parser = cents, allow_negative_numbers = true)]
    amount: u64,
    /// Sandbox card, by its outcome
    #[arg(long, value_name = "OUTCOME", value_parser = PossibleValuesParser::new(CARDS.map(|(outcome, _)| outcome)))]
    card: Option<String>,
    /// Instalments of a card [default: 1]
    #[arg(long, value_name = "N")]
    installments: Option<u8>,
    /// Only authorize the card; capture or cancel later
    #[arg(long)]
    authorize_only: bool,
    /// Time for which a PIX can be paid [default: an hour]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    expires_in: Option<u32>,
    /// Due date of a boleto [default: in three days], or of a PIX [default: none]
    #[arg(long, value_parser = date, value_name = "YYYY-MM-DD")]
    due_date: Option<NaiveDate>,
    /// Fine for late payment, in percent of the amount
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fine: Option<Number>,
    /// Interest for late payment, in percent a month
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    interest: Option<Number>,
    /// URL to send webhooks to; `quita listen` listens on http://127.0.0.1:8090/ [default: nowhere]
    #[arg(long, value_name = "URL")]
    postback_url: Option<String>,
    /// Your own reference
    #[arg(long, value_name = "TEXT")]
    external_reference: Option<String>,
    /// Send this file as the request body instead; - reads stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "amount", "card", "installments", "authorize_only",
        "expires_in", "due_date", "fine", "interest", "postback_url", "external_reference"])]
    file: Option<PathBuf>,
    /// Idempotency key: repeated requests with one key create one payment
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Print the API's response as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    api: Api,
}

pub(super) async fn run(create: PaymentArgs) -> Result<(), Failure> {
    let body = match &create.file {
        Some(path) => read(path)?,
        None if create.api.is_live() => {
            return Err(Failure::usage(
                "This key is live, and the sample payer is only for test keys. Pass a request body of your own with --file.",
            ));
        }
        None => create.body()?,
    };
    let call = ApiRequest::post("/pay/payments").with_body(&body);
    let call = call.with_idempotency_key(create.idempotency_key.as_deref());
    let answer = create.api.call("create", call).await?;
    print_record(&answer, create.json)?;
    if !create.json && ShownRecord::parse(&answer)?.postback_url.is_none() {
        let how = if create.file.is_some() {
            "postbackUrl to the body"
        } else {
            "--postback-url http://127.0.0.1:8090/"
        };
        output::note(&format!("It has no webhooks: add {how} to receive them, such as with `quita listen`."));
    }
    Ok(())
}

impl PaymentArgs {
    /// Builds the body of the request.
    ///
    /// # Errors
    /// Fails with wrong usage if there are options of another method.
    fn body(&self) -> Result<String, Failure> {
        let is_card = self.method.needs_card_number();
        if !is_card && (self.card.is_some() || self.installments.is_some() || self.authorize_only) {
            return Err(Failure::usage(
                "--card, --installments and --authorize-only require --method credit_card.",
            ));
        }
        let mut terms = Map::new();
        let mut put = |name: &str, value: Value| drop(terms.insert(name.into(), value));
        put("paymentMethod", json!(self.method.as_str()));
        put("amount", json!(self.amount));
        if is_card {
            put("installments", json!(self.installments.unwrap_or(1)));
            put("creditCard", card(self.card.as_deref()));
        }
        if self.authorize_only {
            put("capture", json!(false));
        }
        // The service decides whether these belong to the method.
        if let Some(seconds) = self.expires_in {
            put("expiresIn", json!(seconds));
        }
        if let Some(date) = self.due_date {
            put("dueDate", json!(date.to_string()));
        }
        if let Some(percent) = &self.fine {
            put("fine", json!({ "percentage": percent }));
        }
        if let Some(percent) = &self.interest {
            put("interest", json!({ "percentagePerMonth": percent }));
        }
        if let Some(url) = &self.postback_url {
            put("postbackUrl", json!(url));
        }
        if let Some(reference) = &self.external_reference {
            put("externalReference", json!(reference));
        }
        Ok(sample_request::body_with(terms))
    }
}

/// Parses a percentage as a JSON number.
fn percent(text: &str) -> Result<Number, String> {
    text.parse().map_err(|_| "must be a percentage, such as 2 or 1.5".into())
}

/// Returns the sandbox card with this outcome, or the approved one by default.
pub(in crate::cli) fn card(outcome: Option<&str>) -> Value {
    let wanted = |(known, _): &&(&str, &str)| outcome.is_none_or(|outcome| *known == outcome);
    let number = CARDS.iter().find(wanted).map_or("", |(_, number)| number);
    json!({
        "number": number, "holderName": "MARIA SILVA", "expirationMonth": 12, "expirationYear": 2049, "cvv": "123",
    })
}

fn read(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = match path.to_str() {
        Some("-") => io::stdin().read_to_string(&mut text).map(drop),
        _ => fs::read_to_string(path).map(|read| text = read),
    };
    read.map_err(|error| Failure::failed(format!("{} can't be read: {error}", path.display())))?;
    Ok(text)
}
