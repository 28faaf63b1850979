//! `quita cnab read`: what a bank's return file says, or the line for which it is refused.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Program, TestApp};

const DOCUMENT: &str = include_str!("../../docs/RECONCILIATION.md");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_examples_of_the_document_print_what_it_shows() {
    let blocks: Vec<_> = DOCUMENT.split("```\n").filter(|block| block.starts_with("$ quita ")).collect();
    assert!(blocks.len() >= 4, "{blocks:?}");
    for block in blocks {
        let (command, shown) = block.split_once('\n').unwrap();
        let app = TestApp::new();
        let program = Program::new(root(), command.trim_start_matches("$ quita ").split(' '));
        let finished = program.env("QUITA_STORE", app.store_url()).run();
        let said = format!("{}{}", finished.stdout, finished.beside_the_store());
        assert_eq!(said, shown, "{command}");
    }
}

#[test]
fn json_has_every_line_with_decimal_strings_and_dates_or_null() {
    let file = "cnab/tests/files/cnab400-bradesco.ret";
    let told = Program::new(root(), ["cnab", "read", file, "--json"]).run().output();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["bank"], &told["layout"]), (&json!("237"), &json!("cnab400")));
    let lines = told["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 7);
    let first = json!({
        "line": 2, "ourNumber": "000000000097", "documentNumber": "15", "occurrence": "02", "kind": "registered",
        "occurredOn": "2012-04-11", "dueDate": "2012-04-12", "creditedOn": null, "amount": "5.00",
        "received": "0.00", "fee": "2.52", "interest": "0.00", "discount": "0.00",
    });
    assert_eq!(lines[0], first);
    assert_eq!((&lines[6]["documentNumber"], &lines[6]["dueDate"]), (&Value::Null, &Value::Null));
}

#[test]
fn nothing_is_printed_of_a_file_that_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(root().join("cnab/tests/files/cnab240-banco_brasil.ret")).unwrap();
    fs::write(folder.path().join("cut.ret"), &whole[..3_000]).unwrap();
    fs::create_dir(folder.path().join("folder.ret")).unwrap();
    for (file, told) in [
        ("cut.ret", "cut.ret: line 13: it has 107 characters instead of 240"),
        ("none.ret", "none.ret: it can't be opened"),
        ("folder.ret", "folder.ret: it is not a regular file"),
    ] {
        for arguments in [&["cnab", "read", file][..], &["cnab", "read", file, "--json"]] {
            let refused = Program::new(folder.path(), arguments).run();
            assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
            assert!(refused.stderr.starts_with(told), "{}", refused.stderr);
        }
    }
}
