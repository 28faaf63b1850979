//! Parts that a page always has, and the words of its form.
//!
//! A page whose form is missing, or asks for something else, may contain only markup that this version writes.

use std::collections::BTreeSet;

use askama::Template;
use quita_domain::link::LinkStatus;
use quita_domain::method::Method;
use quita_domain::status::Status;

use super::super::markup::{Piece, Tag, read};
use super::{FIELDS, Judge, tags};
use crate::console::Language;
use crate::http::Mount;
use crate::http::pages::checkout_card::CardView;
use crate::http::pages::checkout_page::{CheckoutPage, FieldView, FormView, MethodView, label_of, name_of};
use crate::http::pages::checkout_words::{sold_out, state_of_link};

/// Status of a page that shows an error.
const ERROR: &str = "error";

/// Fields of every form. If the shop knows a value, the page shows it in place of an input.
const ALWAYS: [&str; 4] = ["name", "document", "email", "tel"];

/// Words of the form in one language, taken from the template's output.
struct FormWords {
    /// Fields and their labels.
    labels: BTreeSet<(String, String)>,
    /// Attributes of the card part, with the words that the page's script shows.
    card: Vec<(String, String)>,
}

impl FormWords {
    fn of(language: Language) -> Self {
        let (pieces, _) = read(&form_page(language).render().unwrap_or_default());
        let labels = labels(&pieces).filter_map(|(tag, label)| Some((tag.attribute("for")?, label?)));
        let labels = labels.map(|(field, label)| (field.to_owned(), label.to_owned())).collect();
        let card = tags(&pieces).find(|tag| is_card(tag)).map(|tag| tag.attributes.clone());
        Self { labels, card: card.unwrap_or_default() }
    }

    fn has(&self, field: &str, label: &str) -> bool {
        self.labels.contains(&(field.to_owned(), label.to_owned()))
    }
}

/// Returns a page with every field and method.
fn form_page(language: Language) -> CheckoutPage {
    let field = |(name, kind, autocomplete): &(&'static str, &'static str, &'static str)| FieldView {
        name,
        label: label_of(language, name),
        autocomplete,
        kind,
        is_numeric: false,
        value: String::new(),
        known: None,
        mistake: None,
    };
    let method = |method: Method| MethodView {
        value: method.label(),
        label: name_of(language, method),
        is_chosen: false,
        needs_address: false,
    };
    let form = FormView {
        path: String::new(),
        number: String::new(),
        methods: Method::ALL.map(method).into(),
        fields: FIELDS.iter().map(field).collect(),
        address: Vec::new(),
        address_legend: "",
        card: Some(CardView::of(language, &[])),
        mistakes: Vec::new(),
    };
    CheckoutPage {
        language,
        mount: Mount::ROOT,
        offer: None,
        due: None,
        state: state_of_link(language, LinkStatus::Open),
        form: Some(form),
        payment: None,
        unneeded: None,
        reload: None,
        again: None,
    }
}

/// Returns the labels among the pieces, each with its text if it contains nothing else.
fn labels(pieces: &[Piece]) -> impl Iterator<Item = (&Tag, Option<&str>)> {
    texts_of(pieces, |tag| tag.name == "label")
}

/// Returns elements, each with its text if it contains nothing else.
fn texts_of(pieces: &[Piece], is_meant: impl Fn(&Tag) -> bool) -> impl Iterator<Item = (&Tag, Option<&str>)> {
    pieces.iter().enumerate().filter_map(move |(place, piece)| {
        let Piece::Start(tag) = piece else { return None };
        let after = pieces.get(place.saturating_add(1)..).unwrap_or_default();
        let text = match after {
            [Piece::Text(text), Piece::End(name), ..] if *name == tag.name => Some(text.as_str()),
            _ => None,
        };
        is_meant(tag).then_some((tag, text))
    })
}

fn is_card(tag: &Tag) -> bool {
    tag.name == "fieldset" && tag.attribute("id") == Some("card")
}

fn is_known_status(status: &str) -> bool {
    Status::ALL.iter().any(|known| known.as_str() == status)
        || LinkStatus::ALL.iter().any(|known| known.as_str() == status)
        || [sold_out(Language::Portuguese).word, ERROR].contains(&status)
}

impl Judge<'_> {
    /// Compares the status, and the parts that a page with this status always has.
    pub(super) fn status(&mut self) {
        let mains = tags(self.pieces).filter(|tag| tag.name == "main").count();
        if mains != 1 {
            self.differ(format!("the page has {mains} elements main"));
        }
        let status = self.main.and_then(|main| main.attribute("data-status")).unwrap_or_default();
        if !is_known_status(status) {
            self.differ(format!("the page has an unknown status: {status:?}"));
        }
        if status == LinkStatus::Open.as_str() {
            self.open_form();
        }
        self.found.status = Some(status.to_owned()).filter(|status| is_known_status(status));
    }

    /// Compares the form of a page on which payments start.
    fn open_form(&mut self) {
        let forms = tags(self.pieces).filter(|tag| tag.name == "form").count();
        if forms != 1 {
            return self.differ(format!("the page is open and has {forms} forms"));
        }
        let is_start = |piece: &Piece| matches!(piece, Piece::Start(tag) if tag.name == "form");
        let is_end = |piece: &Piece| matches!(piece, Piece::End(name) if name == "form");
        let from_start = self.pieces.iter().skip_while(|piece| !is_start(piece));
        let form: Vec<_> = from_start.take_while(|piece| !is_end(piece)).cloned().collect();
        let has = |name: &str, expected: &[(&str, &str)]| {
            let is_expected =
                |tag: &Tag| expected.iter().all(|(name, value)| tag.attribute(name) == Some(*value));
            tags(&form).any(|tag| tag.name == name && is_expected(tag))
        };
        let has_id = |id: &str| tags(&form).any(|tag| tag.attribute("id") == Some(id));
        let number = has("input", &[("type", "hidden"), ("name", "form")]);
        let method = has("input", &[("type", "radio"), ("name", "method")]);
        let button = has("button", &[("type", "submit")]);
        let parts = [("number", number), ("choice of a method", method), ("button", button)];
        let fields = ALWAYS.map(|field| (field, has_id(field)));
        for (part, _) in parts.into_iter().chain(fields).filter(|(_, is_there)| !is_there) {
            self.differ(format!("the form of the page lacks its {part}"));
        }
    }

    /// Compares labels and the card part's words: payers type what a label asks for.
    pub(super) fn words(&mut self) {
        let is_english = |tag: &Tag| tag.name == "html" && tag.attribute("lang") == Some("en");
        let language =
            if tags(self.pieces).any(is_english) { Language::English } else { Language::Portuguese };
        let words = FormWords::of(language);
        let pieces = self.pieces;
        let mut labelled = BTreeSet::new();
        for (tag, label) in labels(pieces) {
            let field = tag.attribute("for").unwrap_or_default();
            let is_ours = tag.attributes.len() == 1 && label.is_some_and(|label| words.has(field, label));
            if !is_ours || !labelled.insert(field) {
                self.differ(format!(
                    "the page has a different label for {field:?}: {}",
                    label.unwrap_or_default()
                ));
            }
        }
        for (tag, label) in texts_of(pieces, |tag| tag.attribute("class") == Some("known-label")) {
            let label = label.unwrap_or_default();
            let is_label = words.labels.iter().any(|(_, known)| known == label);
            let is_ours = is_label || label == label_of(language, "address");
            if tag.attributes.len() != 1 || !is_ours {
                self.differ(format!("the page has a different label for what the shop knows: {label}"));
            }
        }
        for tag in tags(pieces) {
            let id = tag.attribute("id").unwrap_or_default();
            let is_shown =
                tag.name == "select" || (tag.name == "input" && tag.attribute("type") != Some("hidden"));
            if is_shown && !labelled.contains(id) {
                self.differ(format!("the field {id:?} has no label"));
            }
            if is_card(tag) && tag.attributes != words.card {
                self.differ("the page has different texts for the card".to_owned());
            }
        }
    }
}
