//! Tags that the page may have: every element, attribute and address that its templates write.

mod form;

use std::collections::BTreeSet;
use std::mem::discriminant;

use url::{Host, Url};

use super::markup::{MOST_TOLD, Piece, Tag, read, unescaped};
use super::payment_codes::PaymentCode;
use crate::http::pages::assets;

/// Elements whose attributes do not matter, and those whose attributes are listed in [`ATTRIBUTES`].
const ELEMENTS: [&str; 30] = [
    "html", "head", "meta", "title", "link", "noscript", "script", "body", "p", "strong", "main", "header",
    "h1", "h2", "span", "ul", "li", "div", "a", "section", "textarea", "button", "img", "form", "input",
    "fieldset", "legend", "label", "select", "option",
];

/// Complete tags that never vary.
const FIXED: [(&str, &[(&str, &str)]); 5] = [
    ("meta", &[("charset", "utf-8")]),
    ("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]),
    ("meta", &[("name", "format-detection"), ("content", "telephone=no")]),
    ("meta", &[("name", "color-scheme"), ("content", "light dark")]),
    ("link", &[("rel", "icon"), ("href", "data:,")]),
];

/// The only `meta` with an effect: it reloads the page where scripts are disabled.
const RELOAD: [(&str, &str); 2] = [("http-equiv", "refresh"), ("content", "15")];

/// Allowed values of an attribute.
#[derive(Debug, Clone, Copy)]
enum Allowed {
    /// No value.
    Flag,
    /// Any text: it makes the browser load or run nothing.
    Text,
    /// Letters, digits, `-` and `_`.
    Word,
    /// One of these.
    Of(&'static [&'static str]),
    /// Address of the page itself.
    Page,
    /// Picture of a PIX code.
    Picture,
    /// Status of the payment.
    Status,
}

/// Attributes of elements; `*` stands for every element.
const ATTRIBUTES: [(&str, &str, Allowed); 52] = [
    ("*", "class", Allowed::Of(&CLASSES)),
    ("*", "id", Allowed::Word),
    ("*", "aria-labelledby", Allowed::Word),
    ("*", "hidden", Allowed::Flag),
    ("html", "lang", Allowed::Of(&["pt-BR", "en"])),
    ("main", "data-status", Allowed::Word),
    ("main", "data-transaction-id", Allowed::Word),
    ("main", "data-status-url", Allowed::Status),
    ("div", "role", Allowed::Of(&["alert", "status"])),
    ("div", "tabindex", Allowed::Of(&["-1"])),
    ("div", "autofocus", Allowed::Flag),
    ("span", "data-code", Allowed::Word),
    ("textarea", "readonly", Allowed::Flag),
    ("textarea", "rows", Allowed::Of(&["2", "5"])),
    ("textarea", "spellcheck", Allowed::Of(&["false"])),
    ("textarea", "inputmode", Allowed::Of(&["none"])),
    ("button", "type", Allowed::Of(&["button", "submit"])),
    ("button", "name", Allowed::Of(&["give-up"])),
    ("button", "value", Allowed::Of(&["1"])),
    ("button", "data-copy", Allowed::Of(&["code", "line"])),
    ("button", "data-copied", Allowed::Text),
    ("img", "src", Allowed::Picture),
    ("img", "width", Allowed::Of(&["260"])),
    ("img", "height", Allowed::Of(&["260"])),
    ("img", "alt", Allowed::Text),
    ("form", "method", Allowed::Of(&["post"])),
    ("form", "action", Allowed::Page),
    ("form", "novalidate", Allowed::Flag),
    ("label", "for", Allowed::Word),
    ("fieldset", "data-brands", Allowed::Text),
    ("fieldset", "data-number", Allowed::Text),
    ("fieldset", "data-name", Allowed::Text),
    ("fieldset", "data-expiry", Allowed::Text),
    ("fieldset", "data-code", Allowed::Text),
    ("fieldset", "data-pay", Allowed::Text),
    ("fieldset", "data-sending", Allowed::Text),
    ("fieldset", "data-note", Allowed::Text),
    ("fieldset", "data-check", Allowed::Text),
    ("fieldset", "data-lost", Allowed::Text),
    ("select", "name", Allowed::Of(&["installments"])),
    ("option", "value", Allowed::Word),
    ("input", "type", Allowed::Of(&["hidden", "radio", "text", "email", "tel"])),
    ("input", "name", Allowed::Word),
    ("input", "value", Allowed::Text),
    ("input", "data-needs-address", Allowed::Of(&["true", "false"])),
    ("input", "checked", Allowed::Flag),
    ("input", "autocomplete", Allowed::Word),
    ("input", "maxlength", Allowed::Of(&["200"])),
    ("input", "inputmode", Allowed::Of(&["numeric"])),
    ("input", "aria-invalid", Allowed::Of(&["true"])),
    ("input", "aria-describedby", Allowed::Word),
    ("a", "rel", Allowed::Of(&["noreferrer"])),
];

const CLASSES: [&str; 23] = [
    "actions",
    "amount",
    "badge",
    "checkout",
    "choice",
    "contact quiet",
    "copy",
    "deadline quiet",
    "description",
    "field",
    "give-up",
    "items",
    "known",
    "known-label",
    "mistake",
    "mistakes",
    "primary",
    "qr",
    "quiet",
    "secondary",
    "state",
    "summary",
    "test-note",
];

/// Fields that payers fill in: type and `autocomplete`. The page's script creates the card fields, without names.
const FIELDS: [(&str, &str, &str); 11] = [
    ("name", "text", "name"),
    ("document", "text", "off"),
    ("email", "email", "email"),
    ("tel", "tel", "tel"),
    ("postal-code", "text", "postal-code"),
    ("street", "text", "address-line1"),
    ("number", "text", "off"),
    ("complement", "text", "address-line2"),
    ("neighborhood", "text", "off"),
    ("city", "text", "address-level2"),
    ("state", "text", "address-level1"),
];

/// Fields that payers do not see.
const HIDDEN: [&str; 2] = ["form", "payment"];

/// Outcome of the comparison of a page's tags.
#[derive(Debug, Default)]
pub(super) struct PageFindings {
    pub(super) differences: Vec<String>,
    /// Files that the page loads, all of them ours.
    pub(super) files: BTreeSet<&'static str>,
    /// Host of the merchant's own page to which a payer can continue.
    pub(super) goes_on_at: Option<String>,
    /// Status that the page states.
    pub(super) status: Option<String>,
    /// Payment codes, at most one of each kind.
    pub(super) codes: Vec<PaymentCode>,
}

/// Compares a page with the output of the templates.
pub(super) fn judge(html: &str, page: &Url) -> PageFindings {
    let (pieces, unreadable) = read(html);
    let written = |text: String| format!("the page contains what this version does not write: {text}");
    let home = page.path().split_once(super::CHECKOUT).map_or("", |(home, _)| home);
    let mut judge = Judge::new(home, page.path(), &pieces);
    judge.found.differences.extend(unreadable.into_iter().map(written));
    // Individual findings first: other differences may be so many that the rest is not reported.
    judge.status();
    judge.pictures();
    judge.all();
    judge.words();
    judge.found
}

struct Judge<'p> {
    /// Path before `/checkout/`.
    home: &'p str,
    /// Path of the page.
    page: &'p str,
    pieces: &'p [Piece],
    /// First element `main`, which states the status.
    main: Option<&'p Tag>,
    /// Address of the first picture; empty if there is none.
    picture: &'p str,
    found: PageFindings,
    ids: BTreeSet<&'p str>,
    hidden: BTreeSet<&'p str>,
    /// Token of the payment, which is the same in each of its addresses.
    payment_token: Option<&'p str>,
}

impl<'p> Judge<'p> {
    fn new(home: &'p str, page: &'p str, pieces: &'p [Piece]) -> Self {
        let picture = tags(pieces).find(|tag| tag.name == "img").and_then(|tag| tag.attribute("src"));
        Self {
            home,
            page,
            pieces,
            main: tags(pieces).find(|tag| tag.name == "main"),
            picture: picture.unwrap_or_default(),
            found: PageFindings::default(),
            ids: BTreeSet::new(),
            hidden: BTreeSet::new(),
            payment_token: None,
        }
    }

    fn differ(&mut self, what: String) {
        if self.found.differences.len() < MOST_TOLD {
            self.found.differences.push(what);
        }
    }

    /// Compares codes and pictures: payers also follow a picture, so it is compared with the code next to it.
    fn pictures(&mut self) {
        let pictures = tags(self.pieces).filter(|tag| tag.name == "img").count();
        let count = |id| {
            let is_code = |tag: &&Tag| tag.name == "textarea" && tag.attribute("id") == Some(id);
            tags(self.pieces).filter(is_code).count()
        };
        let (codes, lines) = (count("code"), count("line"));
        if pictures != codes || codes > 1 {
            self.differ(format!("the page has {codes} PIX codes and {pictures} pictures of one"));
        }
        if lines > 1 {
            self.differ(format!("the page has {lines} numbers of a slip"));
        }
    }

    fn all(&mut self) {
        let pieces = self.pieces;
        let mut is_in_noscript = false;
        for (place, piece) in pieces.iter().enumerate() {
            let next = pieces.get(place.saturating_add(1));
            match piece {
                Piece::Start(tag) => {
                    is_in_noscript |= tag.name == "noscript";
                    self.start(tag, next, is_in_noscript);
                }
                Piece::End(name) => {
                    is_in_noscript &= name != "noscript";
                    if !ELEMENTS.contains(&name.as_str()) {
                        self.differ(format!("the page closes the element {name}"));
                    }
                }
                Piece::Text(_) => {}
            }
        }
    }

    fn start(&mut self, tag: &'p Tag, next: Option<&Piece>, is_in_noscript: bool) {
        // Browsers that run scripts do not show this part, so the form could be hidden in it.
        if is_in_noscript && !["noscript", "meta", "p"].contains(&tag.name.as_str()) {
            self.differ(format!("the page has the element {} within noscript", tag.name));
        }
        match tag.name.as_str() {
            "script" => self.script(tag, next),
            "meta" | "link" => self.head(tag, is_in_noscript),
            name if ELEMENTS.contains(&name) => {
                self.attributes(tag, next);
                match name {
                    "input" => self.input(tag),
                    "textarea" => self.payment_code(tag, next),
                    _ => {}
                }
            }
            name => self.differ(format!("the page has the element {name}")),
        }
    }

    fn script(&mut self, tag: &Tag, next: Option<&Piece>) {
        let ends = matches!(next, Some(Piece::End(name)) if name == "script");
        let Some(address) = tag.attribute("src") else {
            return self.differ("the page has an inline script".to_owned());
        };
        if !ends {
            self.differ("the page has an inline script".to_owned());
        }
        let names: Vec<_> = tag.attributes.iter().map(|(name, _)| name.as_str()).collect();
        if names != ["src", "integrity", "defer"] || tag.attribute("defer") != Some("") {
            self.differ(format!("script {address} has different attributes: {}", names.join(" ")));
        }
        self.file(tag, address);
    }

    fn head(&mut self, tag: &Tag, is_in_noscript: bool) {
        let attributes: Vec<_> =
            tag.attributes.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let is_fixed = FIXED.iter().any(|(name, fixed)| *name == tag.name && *fixed == attributes);
        if is_fixed || (is_in_noscript && tag.name == "meta" && attributes == RELOAD) {
            return;
        }
        match attributes.as_slice() {
            [("rel", "stylesheet"), ("href", address), ("integrity", _)] if tag.name == "link" => {
                self.file(tag, address);
            }
            _ => self.differ(format!("the page has an unknown {}: {attributes:?}", tag.name)),
        }
    }

    /// Compares the address and the stated hash of a file.
    fn file(&mut self, tag: &Tag, address: &str) {
        let path = format!("{}/assets/", self.home);
        let suffix = if tag.name == "script" { ".js" } else { ".css" };
        let known = assets::ALL
            .iter()
            .filter(|asset| asset.name.ends_with(suffix))
            .find(|asset| address == format!("{path}{}", assets::versioned(asset.name)));
        let Some(asset) = known else {
            return self.differ(format!("{} is not part of this version: {address}", tag.name));
        };
        if tag.attribute("integrity") != Some(assets::integrity_of(asset.name).as_str()) {
            self.differ(format!("the page states a different hash of {} from this version", asset.name));
        }
        self.found.files.insert(asset.name);
    }

    fn attributes(&mut self, tag: &'p Tag, next: Option<&Piece>) {
        for (name, value) in &tag.attributes {
            if tag.name == "a" && name == "href" {
                if !self.may_lead_to(tag, value, next) {
                    self.differ(format!("a link leads elsewhere: {value}"));
                }
                continue;
            }
            let rule = ATTRIBUTES
                .iter()
                .find(|(element, known, _)| (*element == "*" || *element == tag.name) && known == name);
            match rule {
                None => self.differ(format!("{} has the attribute {name}", tag.name)),
                Some((_, _, allowed)) if !self.allows(*allowed, value) => {
                    self.differ(format!("{} has a different {name}: {value}", tag.name));
                }
                Some(_) => {}
            }
        }
        if tag.attribute("id").is_some_and(|id| !self.ids.insert(id)) {
            self.differ(format!("{} has a duplicate id", tag.name));
        }
        if tag.attribute("hidden").is_some() && !may_be_hidden(tag) {
            self.differ(format!("{} is hidden", tag.name));
        }
        // Without these attributes, the fields would be sent in the URL.
        for name in ["action", "method"] {
            if tag.name == "form" && tag.attribute(name).is_none() {
                self.differ(format!("form has no {name}"));
            }
        }
    }

    fn allows(&mut self, allowed: Allowed, value: &'p str) -> bool {
        match allowed {
            Allowed::Flag => value.is_empty(),
            Allowed::Text => true,
            Allowed::Word => is_word(value),
            Allowed::Of(all) => all.contains(&value),
            Allowed::Page => self.is_page(value),
            Allowed::Picture => self.is_of_payment(value, "/pix/", ".svg"),
            Allowed::Status => self.is_of_payment(value, "/pix/", "/status"),
        }
    }

    /// Returns true for the address of the page, or of its link.
    fn is_page(&self, path: &str) -> bool {
        let below = self.page.strip_prefix(self.home).and_then(|path| path.strip_prefix(super::CHECKOUT));
        let link = below.and_then(|below| below.split('/').next()).unwrap_or_default();
        path == self.page || path == format!("{}{}{link}", self.home, super::CHECKOUT)
    }

    /// Returns true for an address of the payment that is shown.
    fn is_of_payment(&mut self, path: &'p str, before: &str, after: &str) -> bool {
        let token = path.strip_prefix(self.home).and_then(|path| path.strip_prefix(before));
        let Some(token) = token.and_then(|path| path.strip_suffix(after)).filter(|token| is_word(token))
        else {
            return false;
        };
        *self.payment_token.get_or_insert(token) == token
    }

    fn may_lead_to(&mut self, tag: &Tag, address: &'p str, next: Option<&Piece>) -> bool {
        if let Some(field) = address.strip_prefix('#') {
            return is_word(field);
        }
        if tag.attribute("rel").is_some() {
            return self.goes_on(address, next);
        }
        self.is_page(address) || self.is_of_payment(address, "/boletos/", ".pdf")
    }

    /// Returns true for the merchant's own page. It is offered once a payment is paid, with its host in words.
    fn goes_on(&mut self, address: &str, next: Option<&Piece>) -> bool {
        let Some((main, url)) = self.main.zip(Url::parse(address).ok()) else { return false };
        let is_paid = matches!(main.attribute("data-status"), Some("paid" | "approved"));
        let is_of_payment = main
            .attribute("data-transaction-id")
            .is_some_and(|id| url.query_pairs().any(|(name, value)| name == "transactionId" && value == id));
        let host = url.host_str().unwrap_or_default();
        let says_host = matches!(next, Some(Piece::Text(text))
            if [format!("Continuar em {host}"), format!("Continue at {host}")].contains(text));
        let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
        let is_only = self.found.goes_on_at.is_none();
        self.found.goes_on_at = Some(host.to_owned());
        is_paid && is_of_payment && says_host && is_safe && is_only && !has_user(&url)
    }

    fn payment_code(&mut self, tag: &Tag, next: Option<&Piece>) {
        let text = match next {
            Some(Piece::Text(text)) => unescaped(text).unwrap_or_default(),
            Some(Piece::Start(_) | Piece::End(_)) | None => String::new(),
        };
        let code = match tag.attribute("id") {
            Some("code") => PaymentCode::Pix { code: text, picture: self.picture.to_owned() },
            Some("line") => PaymentCode::Boleto { line: text },
            _ => return self.differ("the page has an unknown textarea".to_owned()),
        };
        // Each check takes a request, and an attacker could include thousands of codes.
        if !self.found.codes.iter().any(|known| discriminant(known) == discriminant(&code)) {
            self.found.codes.push(code);
        }
    }

    fn input(&mut self, tag: &'p Tag) {
        let [kind, name, id, complete] = ["type", "name", "id", "autocomplete"]
            .map(|attribute| tag.attribute(attribute).unwrap_or_default());
        let is_known = match kind {
            "hidden" => id.is_empty() && HIDDEN.contains(&name) && self.hidden.insert(name),
            "radio" => {
                let value = tag.attribute("value").unwrap_or_default();
                let is_method = matches!(value, "pix" | "boleto" | "credit_card");
                name == "method" && is_method && id == format!("method-{value}")
            }
            _ => id == name && FIELDS.contains(&(name, kind, complete)),
        };
        if !is_known {
            self.differ(format!("the page has an unknown field: {kind} {name:?} {complete:?}"));
        }
    }
}

/// Returns the start tags among pieces.
fn tags(pieces: &[Piece]) -> impl Iterator<Item = &Tag> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Start(tag) => Some(tag),
        Piece::End(_) | Piece::Text(_) => None,
    })
}

/// Returns true for elements that the page's scripts reveal: the card part, and copy buttons.
fn may_be_hidden(tag: &Tag) -> bool {
    match tag.name.as_str() {
        "fieldset" => tag.attribute("id") == Some("card"),
        "button" => tag.attribute("type") == Some("button") && tag.attribute("data-copy").is_some(),
        _ => false,
    }
}

fn has_user(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '-' | '_'))
}

#[cfg(test)]
mod tests;
