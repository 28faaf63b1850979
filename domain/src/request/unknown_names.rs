//! Unknown names in a body. They are ignored, and reported to developers who use this service.

use super::json::{JsonNode, Object, shown};
use crate::card::holds_card_number;
use crate::nearest::{is_same, nearest};

/// Maximum number of names reported for one body.
const MOST: usize = 20;

/// Beginning of every card token.
const TOKEN_PREFIX: &str = "tok_";

/// An unknown name, and the one that was probably meant. Contains no value that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// Path of the name: `paymentDetails.e_mail`. A name that a path can't show is `…`.
    pub path: String,
    /// Similar name of the same object, or the whole path of one elsewhere.
    pub meant: Option<String>,
}

impl UnknownName {
    /// Returns true if the field at this path was probably meant, and the name can be shown.
    pub(super) fn is_meant_as(&self, field: &str) -> bool {
        let Some(meant) = &self.meant else { return false };
        let beside =
            self.path.rsplit_once('.').map_or_else(|| meant.clone(), |(of, _)| format!("{of}.{meant}"));
        (beside == field || meant == field) && self.can_be_shown()
    }

    /// Returns the name of the object at this path that was probably meant, if this one is in it and can be shown.
    pub(super) fn meant_in(&self, object: &str) -> Option<&str> {
        let (of, _) = self.path.rsplit_once('.')?;
        self.meant.as_deref().filter(|meant| of == object && !meant.contains('.') && self.can_be_shown())
    }

    fn can_be_shown(&self) -> bool {
        !self.path.contains('…') && !holds_card_number(&self.path)
    }
}

/// Names that an object may have, and the objects in it.
pub(super) struct Shape {
    names: &'static [&'static [&'static str]],
    /// Objects, or lists of objects.
    inside: &'static [(&'static str, &'static Self)],
}

impl Shape {
    const fn flat(names: &'static [&'static [&'static str]]) -> Self {
        Self { names, inside: &[] }
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.iter().copied().flatten().copied()
    }

    fn of_member(&self, name: &str) -> Option<&'static Self> {
        self.inside.iter().find(|(known, _)| *known == name).map(|(_, shape)| *shape)
    }

    /// Returns the name of the card's token, if the value is one.
    fn token_for(&self, node: &JsonNode<'_>) -> Option<&'static str> {
        let JsonNode::Text(text) = node else { return None };
        self.names().find(|name| CARD_TOKEN.contains(name) && text.starts_with(TOKEN_PREFIX))
    }

    /// Returns the name here for a word that other services use.
    fn in_our_words(&self, written: &str) -> Option<&'static str> {
        let mut ours = OTHER_WORDS.iter().filter(|(other, _)| is_same(other, written)).map(|(_, ours)| *ours);
        ours.find(|ours| self.names().any(|name| name == *ours))
    }

    /// Returns the name here that begins or ends with this one, as `holderName` does with `name`, if there is exactly
    /// one.
    fn named_in_part(&self, written: &str) -> Option<&'static str> {
        let mut alike = self.names().filter(|name| begins_or_ends_with(name, written));
        let only = alike.next()?;
        alike.next().is_none().then_some(only)
    }

    /// Returns the whole path of the name that is spelt like this one, if there is exactly one in this shape.
    fn only_path_to(&self, written: &str) -> Option<String> {
        let mut paths = Vec::new();
        self.add_paths_to(written, "", &mut paths);
        if paths.len() == 1 { paths.pop() } else { None }
    }

    fn add_paths_to(&self, written: &str, path: &str, paths: &mut Vec<String>) {
        let here = self.names().filter(|name| is_same(name, written));
        paths.extend(here.map(|name| joined(path, name)));
        for (name, shape) in self.inside {
            shape.add_paths_to(written, &joined(path, name), paths);
        }
    }
}

/// Names that other services and our own records use for a field, each with that field.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("webhookUrl", "postbackUrl"),
    ("callbackUrl", "postbackUrl"),
    ("notificationUrl", "postbackUrl"),
    ("value", "amount"),
    ("total", "amount"),
    ("amountCents", "amount"),
    ("amountInCents", "amount"),
    ("refundAmount", "amount"),
    ("captureAmount", "amount"),
    ("autoCapture", "capture"),
    ("captureMethod", "capture"),
    ("unitPrice", "price"),
    ("bairro", "neighborhood"),
    ("orderId", "externalReference"),
    ("externalId", "externalReference"),
    ("products", "items"),
    ("maxUses", "uses"),
    ("payer", "paymentDetails"),
    ("customer", "paymentDetails"),
    ("paymentDetails", "customer"),
    ("name", "firstName"),
    ("cpf", "document"),
    ("cnpj", "document"),
    ("taxId", "document"),
    ("phone", "phoneNumber"),
    ("cep", "zipCode"),
    ("zip", "zipCode"),
    ("postalCode", "zipCode"),
    ("uf", "state"),
    ("method", "paymentMethod"),
    ("paymentMethods", "methods"),
    ("redirectUrl", "successUrl"),
    ("valor", "amount"),
    ("card", "creditCard"),
    ("expMonth", "expirationMonth"),
    ("expYear", "expirationYear"),
    ("holder", "holderName"),
    ("securityCode", "cvv"),
    ("cvc", "cvv"),
    ("cardToken", "token"),
    ("tokenId", "token"),
];

const ROOT: &[&str] = &[
    "paymentMethod",
    "amount",
    "currency",
    "paymentDetails",
    "shipping",
    "items",
    "postbackUrl",
    "splits",
    "UTMSource",
    "UTMMedium",
    "UTMCampaign",
    "UTMTerm",
    "UTMContent",
    "installments",
    "creditCard",
    "capture",
    "expiresIn",
    "dueDate",
    "payableAfterDueDays",
    "fine",
    "interest",
    "discounts",
    "instructions",
    "externalReference",
    "metadata",
];

const CARD: &[&str] = &["number", "holderName", "expirationMonth", "expirationYear", "cvv"];
const CARD_TOKEN: &[&str] = &["token"];

static PAYER: Shape = Shape {
    names: &[&["firstName", "lastName", "document", "documentType", "email", "phoneNumber", "address"]],
    inside: &[("address", &ADDRESS)],
};

static ADDRESS: Shape = Shape::flat(&[&[
    "street",
    "number",
    "complement",
    "neighborhood",
    "city",
    "state",
    "zipCode",
    "country",
]]);

static SHIPPING: Shape = Shape::flat(&[&["fee"]]);
static ITEM: Shape = Shape::flat(&[&["id", "name", "quantity", "price"]]);
static SPLIT: Shape = Shape::flat(&[&["recipientId", "amount", "percentage"]]);
static FINE: Shape = Shape::flat(&[&["percentage", "amount"]]);
static INTEREST: Shape = Shape::flat(&[&["percentagePerMonth", "amountPerDay"]]);
static DISCOUNT: Shape = Shape::flat(&[&["until", "percentage", "amount"]]);
static CHARGED_CARD: Shape = Shape::flat(&[CARD, CARD_TOKEN]);
static ROUTED_CARD: Shape = Shape::flat(&[CARD, CARD_TOKEN, &["bin", "brand"]]);
static TOKENIZED_CARD: Shape = Shape::flat(&[CARD]);

/// Body of a creation.
pub(super) static CREATION: Shape = Shape {
    names: &[ROOT],
    inside: &[
        ("paymentDetails", &PAYER),
        ("shipping", &SHIPPING),
        ("items", &ITEM),
        ("splits", &SPLIT),
        ("fine", &FINE),
        ("interest", &INTEREST),
        ("discounts", &DISCOUNT),
        ("creditCard", &CHARGED_CARD),
    ],
};

/// Body of a dry run.
pub(super) static EVALUATION: Shape = Shape {
    names: &[ROOT, &["at", "dice"]],
    inside: &[
        ("paymentDetails", &PAYER),
        ("shipping", &SHIPPING),
        ("items", &ITEM),
        ("splits", &SPLIT),
        ("fine", &FINE),
        ("interest", &INTEREST),
        ("discounts", &DISCOUNT),
        ("creditCard", &ROUTED_CARD),
    ],
};

/// Body of a payment link.
pub(super) static LINK: Shape = Shape {
    names: &[&[
        "amount",
        "currency",
        "title",
        "description",
        "items",
        "shipping",
        "methods",
        "maxInstallments",
        "expiresAt",
        "uses",
        "customer",
        "successUrl",
        "dueDate",
        "dueInDays",
        "payableAfterDueDays",
        "fine",
        "interest",
        "discounts",
        "instructions",
        "postbackUrl",
        "externalReference",
        "metadata",
        "splits",
        "UTMSource",
        "UTMMedium",
        "UTMCampaign",
        "UTMTerm",
        "UTMContent",
    ]],
    inside: &[
        ("customer", &PAYER),
        ("shipping", &SHIPPING),
        ("items", &ITEM),
        ("splits", &SPLIT),
        ("fine", &FINE),
        ("interest", &INTEREST),
        ("discounts", &DISCOUNT),
    ],
};

/// Body of a request that closes a payment link.
pub(super) static LINK_CLOSING: Shape = Shape::flat(&[&["cancelPending"]]);

/// Body of a request for a token.
pub(super) static TOKEN: Shape =
    Shape { names: &[&["creditCard"]], inside: &[("creditCard", &TOKENIZED_CARD)] };

/// Body of a capture or refund.
pub(super) static OPERATION: Shape = Shape::flat(&[&["amount"]]);

/// Body of a cancellation.
pub(super) static NOTHING: Shape = Shape::flat(&[]);

/// Body of a sandbox payment that is paid by hand.
pub(super) static BY_HAND: Shape = Shape::flat(&[&["on", "amount", "by"]]);

/// Finds the names of a body that are not in its shape. Names in `metadata` are the caller's own.
pub(super) fn find(body: &Object<'_>, shape: &Shape) -> Vec<UnknownName> {
    let mut search = Search { root: shape, found: Vec::new() };
    search.object(body, shape, "");
    search.found
}

struct Search<'s> {
    root: &'s Shape,
    found: Vec<UnknownName>,
}

impl Search<'_> {
    fn object(&mut self, object: &Object<'_>, shape: &Shape, path: &str) {
        for (name, node) in object {
            if self.found.len() >= MOST {
                return;
            }
            if !shape.names().any(|known| known == name.as_ref()) {
                let here = shape.token_for(node).or_else(|| nearest(name, shape.names()));
                let here = here.or_else(|| shape.in_our_words(name));
                let meant = here.or_else(|| shape.named_in_part(name)).map(str::to_owned);
                let meant = meant.or_else(|| self.root.only_path_to(name));
                self.found.push(UnknownName { path: joined(path, shown(name)), meant });
            } else if let Some(inside) = shape.of_member(name) {
                self.node(node, inside, &joined(path, name));
            }
        }
    }

    fn node(&mut self, node: &JsonNode<'_>, shape: &Shape, path: &str) {
        match node {
            JsonNode::Object(object) => self.object(object, shape, path),
            JsonNode::List(entries) => {
                for (index, entry) in entries.iter().enumerate() {
                    if let JsonNode::Object(object) = entry {
                        self.object(object, shape, &format!("{path}[{index}]"));
                    }
                }
            }
            JsonNode::Null | JsonNode::Bool(_) | JsonNode::Number(_) | JsonNode::Text(_) => {}
        }
    }
}

/// Returns true if a name begins or ends with one of at least four letters, in any letter case.
fn begins_or_ends_with(name: &str, written: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let written = written.to_ascii_lowercase();
    // Shorter ones occur in many names by chance.
    written.len() >= 4 && (name.starts_with(&written) || name.ends_with(&written))
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::json;

    #[track_caller]
    fn check(body: &str, shape: &Shape, expected: &[(&str, Option<&str>)]) {
        let object = json::read(body.as_bytes()).ok().unwrap();
        let found = find(&object, shape);
        let found: Vec<_> = found.iter().map(|name| (name.path.as_str(), name.meant.as_deref())).collect();
        assert_eq!(found, expected, "{body}");
    }

    #[test]
    fn a_name_in_part_is_meant_and_one_that_is_in_many_places_is_not_guessed() {
        check(
            r#"{"interest":{"percentage":1},"creditCard":{"name":"x","expMonth":1},"customer":{"zip":"x"}}"#,
            &CREATION,
            &[
                ("creditCard.expMonth", Some("expirationMonth")),
                ("creditCard.name", Some("holderName")),
                ("customer", Some("paymentDetails")),
                ("interest.percentage", Some("percentagePerMonth")),
            ],
        );
        check(
            r#"{"percentage":1,"zipCode":"x"}"#,
            &CREATION,
            &[("percentage", None), ("zipCode", Some("paymentDetails.address.zipCode"))],
        );
    }

    #[test]
    fn a_name_that_means_nothing_is_found_at_every_depth_with_what_was_meant() {
        check(r#"{"postback_url":"x"}"#, &CREATION, &[("postback_url", Some("postbackUrl"))]);
        check(r#"{"amout":1,"amount":1}"#, &CREATION, &[("amout", Some("amount"))]);
        check(
            r#"{"paymentDetails":{"address":{"zip_code":"1"},"e_mail":1}}"#,
            &CREATION,
            &[("paymentDetails.address.zip_code", Some("zipCode")), ("paymentDetails.e_mail", Some("email"))],
        );
        check(
            r#"{"items":[{"price":1},{"prices":1}],"creditCard":{"bin":"1"}}"#,
            &CREATION,
            &[("creditCard.bin", None), ("items[1].prices", Some("price"))],
        );
    }

    #[test]
    fn a_name_in_the_wrong_place_is_told_where_it_belongs() {
        check(r#"{"zipCode":"1"}"#, &CREATION, &[("zipCode", Some("paymentDetails.address.zipCode"))]);
        check(r#"{"recipient_id":"1"}"#, &CREATION, &[("recipient_id", Some("splits.recipientId"))]);
        check(r#"{"nothing":"1"}"#, &CREATION, &[("nothing", None)]);
    }

    #[test]
    fn a_name_that_others_have_for_a_field_is_told_as_ours() {
        check(r#"{"callback_url":"x"}"#, &CREATION, &[("callback_url", Some("postbackUrl"))]);
        check(r#"{"products":[]}"#, &CREATION, &[("products", Some("items"))]);
        check(r#"{"paymentDetails":{"name":1}}"#, &CREATION, &[("paymentDetails.name", Some("firstName"))]);
        check(
            r#"{"paymentDetails":{},"maxUses":1}"#,
            &LINK,
            &[("maxUses", Some("uses")), ("paymentDetails", Some("customer"))],
        );
        check(r#"{"value":500}"#, &OPERATION, &[("value", Some("amount"))]);
    }

    #[test]
    fn a_dry_run_knows_more_names_and_a_refund_fewer() {
        check(r#"{"at":"x","dice":"1","creditCard":{"bin":"1","brand":"visa"}}"#, &EVALUATION, &[]);
        check(r#"{"at":"x"}"#, &CREATION, &[("at", None)]);
        check(
            r#"{"amount":1,"value":1,"Amount":1}"#,
            &OPERATION,
            &[("Amount", Some("amount")), ("value", Some("amount"))],
        );
    }

    #[test]
    fn names_of_metadata_are_the_callers_own() {
        check(r#"{"metadata":{"anything":"x"}}"#, &CREATION, &[]);
    }

    #[test]
    fn names_that_may_be_secrets_are_not_shown_and_many_are_cut() {
        check(r#"{"4242424242424242":1,"a b":1}"#, &CREATION, &[("…", None), ("…", None)]);
        let many: Vec<_> = (0..1000).map(|n| format!("\"n{n}\":1")).collect();
        let body = format!("{{{}}}", many.join(","));
        assert_eq!(find(&json::read(body.as_bytes()).ok().unwrap(), &CREATION).len(), MOST);
    }
}
