//! The files for spreadsheets, opened in one, with settings of Brazil and of others.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::support::{
    Account, Edit, SpreadsheetCell, SpreadsheetSettings, TestApp, Visitor, open_spreadsheets, pix,
};

const BRAZILIAN: SpreadsheetSettings = SpreadsheetSettings { separators: ";", language: 1046 };
const ENGLISH: SpreadsheetSettings = SpreadsheetSettings { separators: ",", language: 1033 };
const EVERYTHING: SpreadsheetSettings = SpreadsheetSettings { separators: ",;\t", language: 1046 };

/// Names of payers, each with the text that is shown where the file is meant to be opened.
const NAMES: [(&str, &str); 16] = [
    ("=1+1", "'=1+1"),
    ("+1+1", "'+1+1"),
    ("-1+1", "'-1+1"),
    ("@SUM(A1)", "'@SUM(A1)"),
    ("＝1+1", "'＝1+1"),
    ("\"=1+1", "\"'=1+1"),
    ("Ana;=cmd|' /C calc'!A0;x", "Ana;'=cmd|' /C calc'!A0;x"),
    ("Ana,=cmd|' /C calc'!A0,x", "Ana,'=cmd|' /C calc'!A0,x"),
    ("Ana;\"=1+1;x", "Ana;\"'=1+1;x"),
    ("Ana,\"=1+1,x", "Ana,\"'=1+1,x"),
    ("Ana; \u{a0}=1+1", "Ana; \u{a0}'=1+1"),
    ("\",=1+1,\"", "\",'=1+1,\""),
    ("\";=1+1;\"", "\";'=1+1;\""),
    ("Ana;,", "Ana;,"),
    ("=HYPERLINK(\"http://evil.example\";\"x\")", "'=HYPERLINK(\"http://evil.example\";\"x\")"),
    ("Zé \"o bom\"; e só", "Zé \"o bom\"; e só"),
];

/// The file in both languages, Portuguese first.
fn files(app: &TestApp) -> [PathBuf; 2] {
    let visitor = Visitor::signed_in(app, &Account::create(app, "shop", "ana@shop.example", "owner"));
    ["pt-BR", "en"].map(|language| {
        visitor.set_cookie("quita_language", language);
        let file = app.directory().join(format!("{language}.csv"));
        fs::write(&file, visitor.get("/console/test/payments.csv").body).unwrap();
        file
    })
}

/// No cell is computed, nor would one be elsewhere; LibreOffice itself knows of `=` only.
fn check_harmless(rows: &[Vec<SpreadsheetCell>], settings: SpreadsheetSettings) {
    for cell in rows.iter().flatten() {
        let text =
            cell.text.trim_start_matches(|character: char| character == '"' || character.is_whitespace());
        let begins_one = text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
        assert!(!cell.is_formula && !begins_one, "{settings:?}: {cell:?}");
    }
}

/// Checks a file that is opened where it is meant to be. Every cell is in its column, and amounts are numbers.
fn check_readable(rows: &[Vec<SpreadsheetCell>]) {
    let texts = |row: &[SpreadsheetCell]| row.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>();
    let head = texts(&rows[0]);
    let column = |name: &str| head.iter().position(|found| found == name).unwrap();
    assert_eq!((&*head[0], rows.len()), ("transactionId", NAMES.len() + 1), "{head:?}");
    for (row, (_, shown)) in rows[1..].iter().zip(NAMES.iter().rev()) {
        assert_eq!(row[column("externalReference")].text, *shown);
        assert_eq!(row[column("customerName")].text, format!("{shown} da Silva"));
        assert_eq!(row[column("amount")].number.as_deref(), Some("1234.27"), "{row:?}");
        assert_eq!(row[column("status")].text, "pending");
    }
}

#[test]
fn a_name_is_no_formula_whatever_the_spreadsheet_is_set_to() {
    let app = TestApp::new();
    for (name, _) in NAMES {
        let named = pix(123_427).with("paymentDetails.firstName", json!(name));
        app.client().create(&named.with("externalReference", json!(name)));
    }
    let files = files(&app);
    for settings in [BRAZILIAN, ENGLISH, EVERYTHING] {
        let Some(opened) = open_spreadsheets(app.directory(), &files, settings) else { return };
        for rows in &opened {
            check_harmless(rows, settings);
        }
        match settings.separators {
            ";" => check_readable(&opened[0]),
            "," => check_readable(&opened[1]),
            _ => {}
        }
    }
}
