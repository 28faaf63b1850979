//! The page of a payment link: its form, and the outcome of the payment that it began.

use askama::Template;
use quita_domain::link::{InstallmentPlan, Link, PayerInput};
use quita_domain::method::Method;

use super::assets;
use super::checkout_card::CardView;
use super::checkout_words::pick;
use crate::console::Language;
use crate::http::Mount;

/// Contents of the page.
#[derive(Debug, Clone, Template)]
#[template(path = "checkout_page.html")]
pub(crate) struct CheckoutPage {
    pub(crate) language: Language,
    /// Path under which the outside reaches the public listener.
    pub(crate) mount: Mount,
    /// The offer; absent if there is no link.
    pub(crate) offer: Option<OfferView>,
    /// Amount and terms of a due date, which replace the offer's amount.
    pub(crate) due: Option<DueView>,
    pub(crate) state: StateView,
    pub(crate) form: Option<FormView>,
    pub(crate) payment: Option<PaymentView>,
    /// A payment that still waits although another was paid: its payer can give it up.
    pub(crate) unneeded: Option<UnneededView>,
    /// Path of a page on which a new payment can begin.
    pub(crate) again: Option<String>,
    /// Path of this page, if reloading it may help.
    pub(crate) reload: Option<String>,
}

/// The offer, as shown to payers.
#[derive(Debug, Clone)]
pub(crate) struct OfferView {
    pub(crate) merchant_name: String,
    pub(crate) contact: Option<String>,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) amount: String,
    pub(crate) items: Vec<String>,
    pub(crate) is_test: bool,
}

/// Amount and terms of a charge with a due date.
#[derive(Debug, Clone)]
pub(crate) struct DueView {
    pub(crate) amount: String,
    /// Sentences below the amount.
    pub(crate) sentences: Vec<String>,
}

/// A payment that is unneeded, because another one of the same single-payment link was paid.
#[derive(Debug, Clone)]
pub(crate) struct UnneededView {
    pub(crate) transaction_id: String,
    /// Path that its form is sent to, and the form's number.
    pub(crate) give_up: (String, String),
}

/// State of the page: a word for programs, a badge and a sentence for people.
#[derive(Debug, Clone)]
pub(crate) struct StateView {
    pub(crate) word: &'static str,
    pub(crate) label: &'static str,
    pub(crate) sentence: &'static str,
}

/// The form.
#[derive(Debug, Clone)]
pub(crate) struct FormView {
    pub(crate) path: String,
    /// Number of this form, sent once.
    pub(crate) number: String,
    pub(crate) methods: Vec<MethodView>,
    pub(crate) fields: Vec<FieldView>,
    /// Fields of the address; none if no method needs them.
    pub(crate) address: Vec<FieldView>,
    /// Heading of the address: it names the methods that need it.
    pub(crate) address_legend: &'static str,
    /// The card, if it can be chosen.
    pub(crate) card: Option<CardView>,
    /// Mistakes with the name of their field.
    pub(crate) mistakes: Vec<FormMistake>,
}

impl FormView {
    /// Returns true if any mistake is in a field. The script for cards chooses its heading by the same rule.
    fn concerns_fields(&self) -> bool {
        self.mistakes.iter().any(|mistake| !mistake.field.is_empty())
    }
}

/// A method that can be chosen.
#[derive(Debug, Clone)]
pub(crate) struct MethodView {
    pub(crate) value: &'static str,
    pub(crate) label: &'static str,
    pub(crate) is_chosen: bool,
    pub(crate) needs_address: bool,
}

/// A field of the form.
#[derive(Debug, Clone)]
pub(crate) struct FieldView {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) autocomplete: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) is_numeric: bool,
    pub(crate) value: String,
    /// Value that the merchant entered, masked. If present, the payer is not asked for it.
    pub(crate) known: Option<String>,
    pub(crate) mistake: Option<FormMistake>,
}

/// A mistake in a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormMistake {
    /// Name of the field; empty for the whole form.
    pub(crate) field: &'static str,
    /// Code of the rule.
    pub(crate) code: &'static str,
    pub(crate) words: &'static str,
}

/// A payment that was begun.
#[derive(Debug, Clone)]
pub(crate) struct PaymentView {
    pub(crate) transaction_id: String,
    pub(crate) is_waiting: bool,
    /// Path that returns the status.
    pub(crate) status_path: String,
    /// The PIX code, with the path of its picture.
    pub(crate) pix: Option<(String, String)>,
    /// The line of a boleto, with the path of its slip.
    pub(crate) boleto: Option<(String, String)>,
    /// Last day or time for the payment, as it is written.
    pub(crate) payable_until: Option<String>,
    /// Path and number of the form that gives it up.
    pub(crate) give_up: Option<(String, String)>,
    /// Address that is offered, with its host.
    pub(crate) success: Option<(String, String)>,
}

impl CheckoutPage {
    /// Returns the text in the page's language.
    fn t(&self, portuguese: &'static str, english: &'static str) -> &'static str {
        pick(self.language, portuguese, english)
    }

    /// Returns true if the page's script for cards is needed.
    fn takes_cards(&self) -> bool {
        self.form.as_ref().is_some_and(|form| form.card.is_some())
    }

    fn title(&self) -> String {
        let offer = self.offer.as_ref();
        let of = offer.map(|offer| format!(" – {} – {}", offer.title, offer.merchant_name));
        format!("{}{}", self.state.label, of.unwrap_or_default())
    }

    /// Returns the path of a static file.
    fn asset(&self, name: &str) -> String {
        format!("{}/assets/{}", self.mount, assets::versioned(name))
    }

    fn integrity(&self, name: &str) -> String {
        assets::integrity_of(name)
    }
}

/// Form as its payer filled it in.
pub(crate) struct FilledForm<'a> {
    pub(crate) chosen: Option<Method>,
    pub(crate) typed: &'a PayerInput,
    pub(crate) mistakes: Vec<FormMistake>,
}

/// Returns the form of a link, with what was typed before and its mistakes.
pub(crate) fn form(
    language: Language,
    link: &Link,
    path: String,
    number: String,
    methods: &[Method],
    plans: &[InstallmentPlan],
    filled: FilledForm<'_>,
) -> FormView {
    let FilledForm { chosen, typed, mistakes } = filled;
    let chosen = chosen.filter(|chosen| methods.contains(chosen)).or_else(|| methods.first().copied());
    let with_mistake = |mut field: FieldView| {
        field.mistake = mistakes.iter().find(|mistake| mistake.field == field.name).cloned();
        field
    };
    let needs_address = |method: &Method| link.needs_address(*method);
    let address =
        if methods.iter().any(needs_address) { address_fields(language, link, typed) } else { Vec::new() };
    FormView {
        path,
        number,
        methods: methods
            .iter()
            .map(|method| MethodView {
                value: method.label(),
                label: name_of(language, *method),
                is_chosen: Some(*method) == chosen,
                needs_address: link.needs_address(*method),
            })
            .collect(),
        fields: payer_fields(language, link, typed).into_iter().map(with_mistake).collect(),
        address: address.into_iter().map(with_mistake).collect(),
        address_legend: address_legend(language, link, methods),
        card: methods.contains(&Method::CreditCard).then(|| CardView::of(language, plans)),
        mistakes: mistakes.clone(),
    }
}

/// Returns the heading of the address, which names the methods that need it unless all do.
fn address_legend(language: Language, link: &Link, methods: &[Method]) -> &'static str {
    let is_needed_by = |method| methods.contains(&method) && link.needs_address(method);
    if methods.iter().all(|method| link.needs_address(*method)) {
        return pick(language, "Seu endereço", "Your address");
    }
    match (is_needed_by(Method::Boleto), is_needed_by(Method::CreditCard)) {
        (true, true) => {
            pick(language, "Seu endereço (para boleto e cartão)", "Your address (for boleto and card)")
        }
        (true, false) => pick(language, "Seu endereço (só para boleto)", "Your address (for a boleto only)"),
        (false, _) => pick(language, "Seu endereço (só para cartão)", "Your address (for a card only)"),
    }
}

/// Returns the name of a method.
pub(crate) const fn name_of(language: Language, method: Method) -> &'static str {
    match method {
        Method::Pix => "PIX",
        Method::Boleto => pick(language, "Boleto", "Boleto (bank slip)"),
        Method::CreditCard => pick(language, "Cartão de crédito", "Credit card"),
    }
}

/// Returns the label of a field; empty if there is no such field. `address` is the shop's whole one.
pub(crate) fn label_of(language: Language, field: &str) -> &'static str {
    let (portuguese, english) = match field {
        "name" => ("Nome completo", "Full name"),
        "document" => ("CPF ou CNPJ", "CPF or CNPJ"),
        "email" => ("E-mail", "E-mail"),
        "tel" => ("Telefone com DDD", "Phone with area code"),
        "postal-code" => ("CEP", "CEP"),
        "street" => ("Rua", "Street"),
        "number" => ("Número", "Number"),
        "complement" => ("Complemento (opcional)", "Flat or block (optional)"),
        "neighborhood" => ("Bairro", "Neighbourhood"),
        "city" => ("Cidade", "City"),
        "state" => ("Estado (UF)", "State (UF)"),
        "address" => ("Endereço", "Address"),
        _ => ("", ""),
    };
    pick(language, portuguese, english)
}

fn field(
    language: Language,
    name: &'static str,
    autocomplete: &'static str,
    kind: &'static str,
    value: &str,
    known: Option<String>,
) -> FieldView {
    let label = label_of(language, name);
    let is_numeric = matches!(name, "tel" | "postal-code");
    FieldView { name, label, autocomplete, kind, is_numeric, value: value.to_owned(), known, mistake: None }
}

fn payer_fields(language: Language, link: &Link, typed: &PayerInput) -> Vec<FieldView> {
    let known = link.offer.customer.as_ref();
    let by_shop = || pick(language, "informado pela loja", "given by the shop").to_owned();
    let name = link.customer_name();
    let name =
        name.map(|(first, last)| last.map_or_else(|| first.to_owned(), |last| format!("{first} {last}")));
    let document = known.and_then(|known| known.document.as_ref()).map(|document| document.masked());
    let email = known.and_then(|known| known.email.as_deref()).map(masked_email);
    let phone = known.and_then(|known| known.phone.as_ref()).map(|_| by_shop());
    vec![
        field(language, "name", "name", "text", &typed.name, name),
        field(language, "document", "off", "text", &typed.document, document),
        field(language, "email", "email", "email", &typed.email, email),
        field(language, "tel", "tel", "tel", &typed.phone, phone),
    ]
}

fn address_fields(language: Language, link: &Link, typed: &PayerInput) -> Vec<FieldView> {
    if link.offer.customer.as_ref().is_some_and(|known| known.address.is_some()) {
        let by_shop = pick(language, "informado pela loja", "given by the shop").to_owned();
        let street = field(language, "street", "off", "text", "", Some(by_shop));
        return vec![FieldView { label: label_of(language, "address"), ..street }];
    }
    vec![
        field(language, "postal-code", "postal-code", "text", &typed.zip_code, None),
        field(language, "street", "address-line1", "text", &typed.street, None),
        field(language, "number", "off", "text", &typed.number, None),
        field(language, "complement", "address-line2", "text", &typed.complement, None),
        field(language, "neighborhood", "off", "text", &typed.neighborhood, None),
        field(language, "city", "address-level2", "text", &typed.city, None),
        field(language, "state", "address-level1", "text", &typed.state, None),
    ]
}

/// Masks an address as in `m*@example.com`.
fn masked_email(email: &str) -> String {
    let (name, host) = email.split_once('@').unwrap_or_default();
    format!("{}*@{host}", name.chars().take(1).collect::<String>())
}

/// Returns the name of the form's field for a path in the creation request.
pub(crate) fn field_of(path: &str) -> &'static str {
    match path {
        "creditCard.number" => return "cc-number",
        "creditCard.holderName" => return "cc-name",
        "creditCard.expirationMonth" | "creditCard.expirationYear" => return "cc-exp",
        "creditCard.cvv" => return "cc-csc",
        "installments" => return "installments",
        _ => {}
    }
    match path.strip_prefix("paymentDetails.").unwrap_or_default() {
        "firstName" | "lastName" => "name",
        "document" | "documentType" => "document",
        "email" => "email",
        "phoneNumber" => "tel",
        "address.street" => "street",
        "address.number" => "number",
        "address.complement" => "complement",
        "address.neighborhood" => "neighborhood",
        "address.city" => "city",
        "address.state" => "state",
        "address.zipCode" => "postal-code",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_email_shows_its_first_letter_and_host() {
        assert_eq!(masked_email("maria@example.com"), "m*@example.com");
    }

    #[test]
    fn every_field_of_the_request_has_its_place_in_the_form() {
        for (path, expected) in [
            ("paymentDetails.lastName", "name"),
            ("paymentDetails.documentType", "document"),
            ("paymentDetails.address.zipCode", "postal-code"),
            ("creditCard.expirationYear", "cc-exp"),
            ("installments", "installments"),
            ("dueDate", ""),
        ] {
            assert_eq!(field_of(path), expected, "{path}");
        }
    }
}
