//! Text of a whole store that shows differences: one field per line, with its type.
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "BSON has twenty kinds of values, of which stores keep few"
)]

use std::fmt::Write;

use bson::{Bson, Document, RawDocument};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// Renders a document, one field per line.
pub(super) fn document(document: &Document) -> String {
    let mut text = String::new();
    fields(&mut text, document, 1);
    text
}

fn fields(text: &mut String, document: &Document, depth: usize) {
    for (name, value) in document {
        element(text, name, value, depth);
    }
}

fn element(text: &mut String, name: &str, value: &Bson, depth: usize) {
    let indent = "  ".repeat(depth);
    match value {
        Bson::Document(inner) => {
            writeln!(text, "{indent}{name}:").unwrap();
            fields(text, inner, depth + 1);
        }
        Bson::Array(inner) => {
            writeln!(text, "{indent}{name}: [{}]", inner.len()).unwrap();
            for (place, value) in inner.iter().enumerate() {
                element(text, &place.to_string(), value, depth + 1);
            }
        }
        scalar => writeln!(text, "{indent}{name}: {}", scalar_text(scalar)).unwrap(),
    }
}

fn scalar_text(value: &Bson) -> String {
    match value {
        Bson::Int64(number) => format!("{number} (64 bits)"),
        Bson::Int32(number) => format!("{number} (32 bits)"),
        Bson::String(text) => format!("{text:?}"),
        Bson::Binary(binary) => format!("{:?} {}", binary.subtype, hex(&binary.bytes)),
        Bson::DateTime(at) => format!("date {}", at.timestamp_millis()),
        other => format!("{other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Renders a MongoDB collection: its indexes and documents.
pub(super) fn of_collection(name: &str, indexes: &[Bson], documents: &[Bson]) -> String {
    let mut text = format!("# {name}\n");
    let mut indexes: Vec<_> = indexes.iter().map(|index| index.as_document().unwrap().clone()).collect();
    indexes.sort_by_key(|index| index.get_str("name").unwrap().to_owned());
    for mut index in indexes {
        // The server's own field, which depends on its version.
        index.remove("v");
        writeln!(text, "index {index}").unwrap();
    }
    for document in documents {
        let mut document = document.as_document().unwrap().clone();
        // The version of the program, which is not part of the form.
        document.remove("program");
        text.push_str("document\n");
        fields(&mut text, &document, 1);
    }
    text
}

/// Tables whose contents belong to one file, and not to its form.
const OF_ONE_FILE: [&str; 1] = ["file_mark"];

fn tables(file: &Connection) -> Vec<String> {
    let sql =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let mut statement = file.prepare(sql).unwrap();
    let names = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    names.map(Result::unwrap).filter(|name| !OF_ONE_FILE.contains(&name.as_str())).collect()
}

/// Renders an SQLite file: number, schema and rows.
pub(super) fn of_file(file: &Connection) -> String {
    let number =
        |name: &str| file.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0)).unwrap();
    let mut text =
        format!("user_version {}\napplication_id {}\n", number("user_version"), number("application_id"));
    let schema = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let mut statement = file.prepare(schema).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (name, sql): (String, String) = (row.get(0).unwrap(), row.get(1).unwrap());
        writeln!(text, "# {name}\n{sql}").unwrap();
    }
    for table in tables(file) {
        writeln!(text, "# rows of {table}").unwrap();
        each_row(file, &table, |columns| {
            text.push_str("row\n");
            for (name, value) in columns {
                column(&mut text, name, value);
            }
        });
    }
    text
}

fn column(text: &mut String, name: &str, value: &ValueRef<'_>) {
    match value {
        // The version of the program, which is not part of the form.
        ValueRef::Text(_) if name == "program" => {}
        ValueRef::Null => writeln!(text, "  {name}: null").unwrap(),
        ValueRef::Integer(number) => writeln!(text, "  {name}: {number}").unwrap(),
        ValueRef::Real(number) => writeln!(text, "  {name}: {number:?}").unwrap(),
        ValueRef::Text(bytes) => {
            writeln!(text, "  {name}: {:?}", std::str::from_utf8(bytes).unwrap()).unwrap();
        }
        ValueRef::Blob(bytes) => match RawDocument::from_bytes(*bytes).and_then(Document::try_from) {
            Ok(document) => element(text, name, &Bson::Document(document), 1),
            Err(_) => writeln!(text, "  {name}: {}", hex(bytes)).unwrap(),
        },
    }
}

fn each_row(file: &Connection, table: &str, mut show: impl FnMut(&[(&str, ValueRef<'_>)])) {
    let mut statement = file.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap();
    let names: Vec<String> = statement.column_names().map(String::from).collect();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let value = |place: usize| row.get_ref(place).unwrap();
        let columns: Vec<_> =
            names.iter().enumerate().map(|(place, name)| (name.as_str(), value(place))).collect();
        show(&columns);
    }
}

/// Shows each document of a file, with the name of its column.
pub(super) fn each_document(file: &Connection, mut show: impl FnMut(&str, &[u8])) {
    for table in tables(file) {
        each_row(file, &table, |columns| {
            for (name, value) in columns {
                if let ValueRef::Blob(bytes) = value
                    && RawDocument::from_bytes(*bytes).is_ok()
                {
                    show(name, bytes);
                }
            }
        });
    }
}
