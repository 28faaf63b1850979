//! Body sent by the script of a link's page: the fields of its form, and a card.

use super::json::{JsonNode, Object};
use super::violation::{Rejection, code};
use super::{json, wordings};
use crate::link::CardInput;
use crate::secret::Secret;

/// Member that holds the card.
const CARD: &str = "card";

/// Field in which the number of instalments is chosen.
const INSTALLMENTS: &str = "installments";

/// Form with a card, as the page sends it. `card` has the inputs without a name, which no form submits.
#[derive(Debug)]
pub struct SentCardForm {
    /// Fields of the form, by name.
    pub fields: Vec<(String, String)>,
    /// Card. Its number of instalments is 0 if it can't be read.
    pub card: CardInput,
}

/// Reads the body.
///
/// # Errors
/// A [`Rejection`] if it is not an object of texts, or lacks the card.
pub fn parse(body: &[u8]) -> Result<SentCardForm, Rejection> {
    let object = json::read(body)?;
    let mut fields = Vec::new();
    let mut card = None;
    for (name, node) in &object {
        match node {
            JsonNode::Text(text) => fields.push((name.as_ref().to_owned(), text.as_ref().to_owned())),
            JsonNode::Object(inner) if name == CARD => card = Some(inner),
            JsonNode::Object(_)
            | JsonNode::Null
            | JsonNode::Bool(_)
            | JsonNode::Number(_)
            | JsonNode::List(_) => {
                return Err(no_text(json::shown(name)));
            }
        }
    }
    let card = card.ok_or_else(|| no_text(CARD))?;
    let chosen = fields.iter().find(|(name, _)| name == INSTALLMENTS).map(|(_, value)| value.trim());
    let card = CardInput {
        number: text_of(card, "number")?,
        holder_name: text_of(card, "holderName")?,
        expiry: text_of(card, "expiry")?,
        code: text_of(card, "code")?,
        installments: chosen.and_then(|count| count.parse().ok()).unwrap_or_default(),
    };
    Ok(SentCardForm { fields, card })
}

/// Returns a text of the card. If missing, returns an empty one, so that its rule reports the mistake.
fn text_of(card: &Object<'_>, name: &str) -> Result<Secret<String>, Rejection> {
    match card.get(name) {
        Some(JsonNode::Text(text)) => Ok(Secret::new(text.as_ref().to_owned())),
        None | Some(JsonNode::Null) => Ok(Secret::new(String::new())),
        Some(JsonNode::Bool(_) | JsonNode::Number(_) | JsonNode::List(_) | JsonNode::Object(_)) => {
            Err(no_text(&format!("{CARD}.{name}")))
        }
    }
}

fn no_text(field: &str) -> Rejection {
    Rejection::unreadable(field.to_owned(), code::TYPE, wordings::no_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_card_are_kept_apart() {
        let body = r#"{"form":"f","name":"Maria","installments":"3",
            "card":{"number":"4242","holderName":"MARIA","expiry":"12/30","code":"123"}}"#;
        let sent = parse(body.as_bytes()).unwrap();
        let names: Vec<_> = sent.fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["form", "installments", "name"]);
        assert_eq!((sent.card.number.expose().as_str(), sent.card.installments), ("4242", 3));
        let lacking = parse(br#"{"form":"f","card":{}}"#).unwrap().card;
        assert_eq!((lacking.code.expose().as_str(), lacking.installments), ("", 0));
    }

    #[test]
    fn what_the_page_never_sends_is_refused() {
        for body in [
            "",
            "[]",
            r#"{"form":"f"}"#,
            r#"{"form":1,"card":{}}"#,
            r#"{"form":"f","card":"4242"}"#,
            r#"{"form":"f","card":{"number":4242}}"#,
            r#"{"form":"f","form":"g","card":{}}"#,
        ] {
            assert!(parse(body.as_bytes()).is_err(), "{body}");
        }
    }
}
