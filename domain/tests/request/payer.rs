//! The rows of `paymentDetails`.

use quita_domain::document::DocumentType;
use serde_json::json;

use super::bodies::{accept, check, check_shape, pix, with, without};

#[test]
fn names_have_one_to_60_characters_after_trimming() {
    for name in ["firstName", "lastName"] {
        let pointer = format!("/paymentDetails/{name}");
        let field = format!("paymentDetails.{name}");
        for text in ["M".into(), "É".repeat(60), format!("  {}\t", "M".repeat(60))] {
            check(&with(pix(), &pointer, json!(text)), &[]);
        }
        for text in [String::new(), "   ".into(), "É".repeat(61)] {
            check(&with(pix(), &pointer, json!(text)), &[&format!("{field} length")]);
        }
        for text in ["Ma\u{0}ria", "Ma\nria", "Ma\u{7f}ria", "Ma\u{85}ria", "Ma\u{202e}ria", "Ma\u{2066}ria"]
        {
            check(&with(pix(), &pointer, json!(text)), &[&format!("{field} character")]);
        }
    }
    let body = with(pix(), "/paymentDetails/firstName", json!(" Maria "));
    assert_eq!(accept(&body).purchase.order.payer.full_name(), "Maria da Silva");
}

#[test]
fn a_document_is_a_cpf_or_a_cnpj_with_right_check_digits() {
    let body = |document: &str, kind: &str| {
        let body = with(pix(), "/paymentDetails/document", json!(document));
        with(body, "/paymentDetails/documentType", json!(kind))
    };
    check(&body("11144477735", "cpf"), &[]);
    check(&body("11222333000181", "Cnpj"), &[]);
    check(&body("12ABC34501DE35", "CNPJ"), &[]);
    let payer = accept(&body("12ABC34501DE35", "CNPJ")).purchase.order.payer.clone();
    assert_eq!((payer.document.as_str(), payer.document.kind()), ("12ABC34501DE35", DocumentType::Cnpj));
    for (document, kind, expected) in [
        ("11144477736", "CPF", "paymentDetails.document check_digit"),
        ("1114447773", "CPF", "paymentDetails.document length"),
        ("", "CPF", "paymentDetails.document length"),
        ("111.444.777-35", "CPF", "paymentDetails.document character"),
        ("22222222222", "CPF", "paymentDetails.document repeated"),
        ("11222333000182", "CNPJ", "paymentDetails.document check_digit"),
        ("12abc34501de35", "CNPJ", "paymentDetails.document character"),
        ("11144477735", "CNPJ", "paymentDetails.documentType mismatch"),
        ("11222333000181", "CPF", "paymentDetails.documentType mismatch"),
        ("11144477735", "RG", "paymentDetails.documentType unknown_value"),
    ] {
        check(&body(document, kind), &[expected]);
    }
    let both = ["paymentDetails.documentType unknown_value", "paymentDetails.document check_digit"];
    check(&body("11144477736", ""), &both);
}

#[test]
fn a_phone_has_an_area_code_and_perhaps_55() {
    let body = |phone: &str| with(pix(), "/paymentDetails/phoneNumber", json!(phone));
    for phone in ["1132654321", "11987654321", "551132654321", "5511987654321"] {
        check(&body(phone), &[]);
        assert_eq!(accept(&body(phone)).purchase.order.payer.phone.as_str(), phone);
    }
    for (phone, code) in [
        ("+5511987654321", "character"),
        ("(11)987654321", "character"),
        ("", "length"),
        ("132654321", "length"),
        ("55119876543210", "length"),
        ("541132654321", "country"),
        ("00987654321", "area_code"),
        ("11187654321", "subscriber"),
    ] {
        check(&body(phone), &[&format!("paymentDetails.phoneNumber {code}")]);
    }
}

#[test]
fn an_email_is_an_address() {
    let body = |email: &str| with(pix(), "/paymentDetails/email", json!(email));
    check(&body("maria.silva+loja@sub.example.com.br"), &[]);
    for email in
        ["", "maria", "maria@", "maria@example", "a@b@c.com", "maria @example.com", "maria@example.com\u{0}"]
    {
        check(&body(email), &["paymentDetails.email format"]);
    }
}

#[test]
fn an_address_has_its_parts() {
    for (name, most) in [("street", 200), ("number", 20), ("neighborhood", 200), ("city", 200)] {
        let (pointer, field) =
            (format!("/paymentDetails/address/{name}"), format!("paymentDetails.address.{name}"));
        check(&with(pix(), &pointer, json!("ã".repeat(most))), &[]);
        check(&with(pix(), &pointer, json!("a".repeat(most + 1))), &[&format!("{field} length")]);
        check(&with(pix(), &pointer, json!("")), &[&format!("{field} length")]);
        check(&with(pix(), &pointer, json!("  ")), &[&format!("{field} length")]);
        check(&with(pix(), &pointer, json!("a\u{1b}")), &[&format!("{field} character")]);
        check_shape(&without(pix(), &pointer), &[&format!("{field} required")]);
        check_shape(&with(pix(), &pointer, json!(1000)), &[&format!("{field} type")]);
    }
}

#[test]
fn a_complement_is_optional_and_an_empty_one_is_none() {
    let complement = |text: serde_json::Value| {
        let body = with(pix(), "/paymentDetails/address/complement", text);
        accept(&body).purchase.order.payer.address.clone().unwrap().complement
    };
    assert_eq!(complement(json!("ap. 12")).as_deref(), Some("ap. 12"));
    assert_eq!(complement(json!("")), None);
    assert_eq!(complement(json!(null)), None);
    let long = with(pix(), "/paymentDetails/address/complement", json!("a".repeat(201)));
    check(&long, &["paymentDetails.address.complement length"]);
}

#[test]
fn state_postal_code_and_country_are_brazils() {
    for (name, value, code) in [
        ("state", "XX", "unknown_value"),
        ("state", "", "unknown_value"),
        ("zipCode", "01310-100", "format"),
        ("zipCode", "0131010", "format"),
        ("zipCode", "013101000", "format"),
        ("country", "US", "unknown_value"),
    ] {
        let body = with(pix(), &format!("/paymentDetails/address/{name}"), json!(value));
        check(&body, &[&format!("paymentDetails.address.{name} {code}")]);
    }
    for country in ["BR", "br"] {
        check(&with(pix(), "/paymentDetails/address/country", json!(country)), &[]);
    }
    let in_state = |uf| accept(&with(pix(), "/paymentDetails/address/state", json!(uf)));
    for uf in ["sp", "Sp"] {
        let lenient = in_state(uf);
        assert_eq!(lenient.purchase.order.payer.address.as_ref().unwrap().state.as_str(), "SP");
        assert_eq!(lenient.fingerprint(b"secret"), in_state("SP").fingerprint(b"secret"), "the same request");
    }
}

#[test]
fn every_part_of_the_payer_is_required() {
    for name in ["firstName", "lastName", "document", "documentType", "email", "phoneNumber", "address"] {
        let pointer = format!("/paymentDetails/{name}");
        let field = format!("paymentDetails.{name}");
        check_shape(&without(pix(), &pointer), &[&format!("{field} required")]);
        check_shape(&with(pix(), &pointer, json!(null)), &[&format!("{field} required")]);
        check_shape(&with(pix(), &pointer, json!(1)), &[&format!("{field} type")]);
        check_shape(&with(pix(), &pointer, json!([])), &[&format!("{field} type")]);
    }
}
