//! Files as LibreOffice opens them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Settings of a spreadsheet program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpreadsheetSettings {
    /// Characters at which it splits a line.
    pub(crate) separators: &'static str,
    /// Language in which it reads numbers, by LibreOffice's number.
    pub(crate) language: u16,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpreadsheetCell {
    /// Text that is shown.
    pub(crate) text: String,
    /// The value, if it is a number.
    pub(crate) number: Option<String>,
    /// True if it is computed.
    pub(crate) is_formula: bool,
}

/// The rows of each file, opened with these settings by one run of LibreOffice. `None` where none is named.
pub(crate) fn open_spreadsheets(
    directory: &Path,
    files: &[PathBuf],
    settings: SpreadsheetSettings,
) -> Option<Vec<Vec<Vec<SpreadsheetCell>>>> {
    let Ok(program) = std::env::var("QUITA_TEST_SOFFICE") else {
        println!("skipped: QUITA_TEST_SOFFICE is not set; scripts/test sets it");
        return None;
    };
    let out = tempfile::tempdir_in(directory).unwrap();
    let separators: Vec<_> = settings.separators.bytes().map(|byte| byte.to_string()).collect();
    // Tokens of the filter: separators, quote, UTF-8, first line, formats of columns, language.
    let filter = format!("--infilter=CSV:{},34,76,1,,{}", separators.join("/"), settings.language);
    let output = Command::new(program)
        .arg(format!("-env:UserInstallation=file://{}", directory.join("libreoffice").display()))
        .args(["--headless", &filter, "--convert-to", "fods", "--outdir"])
        .arg(out.path())
        .args(files)
        .output()
        .expect("LibreOffice runs");
    let opened = |file: &PathBuf| {
        let opened = out.path().join(file.with_extension("fods").file_name().unwrap());
        let document = fs::read_to_string(&opened);
        rows(&document.unwrap_or_else(|error| panic!("{opened:?} is not there ({error}): {output:?}")))
    };
    Some(files.iter().map(opened).collect())
}

/// The rows of a flat document of OpenDocument 1.3, without those at the end that are empty.
fn rows(document: &str) -> Vec<Vec<SpreadsheetCell>> {
    let (_, table) = document.split_once("<table:table ").expect("there is a table");
    let rows = table.split("<table:table-row").skip(1);
    let mut rows: Vec<Vec<_>> =
        rows.map(|row| row.split("<table:table-cell").skip(1).flat_map(cells).collect()).collect();
    while rows.last().is_some_and(|row: &Vec<SpreadsheetCell>| row.iter().all(|cell| cell.text.is_empty())) {
        rows.pop();
    }
    rows
}

/// A cell as often as it is repeated; many empty ones are the end of a row.
fn cells(element: &str) -> Vec<SpreadsheetCell> {
    let (attributes, inside) = element.split_once('>').unwrap();
    let attribute = |name: &str| {
        let (_, value) = attributes.split_once(&format!(" {name}=\""))?;
        value.split('"').next().map(plain)
    };
    let text = inside.split("<text:p>").skip(1).map(|rest| rest.split("</text:p>").next().unwrap());
    let cell = SpreadsheetCell {
        text: text.map(plain).collect::<Vec<_>>().join("\n"),
        number: attribute("office:value"),
        is_formula: attribute("table:formula").is_some(),
    };
    let times = attribute("table:number-columns-repeated").map_or(1, |times| times.parse().unwrap());
    vec![cell; if times > 100 { 0 } else { times }]
}

fn plain(xml: &str) -> String {
    let blanks = xml.replace("<text:s/>", " ").replace("<text:tab/>", "\t");
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    let text = entities.iter().fold(blanks, |text, (entity, character)| text.replace(entity, character));
    assert!(!text.contains("<text:"), "not read: {text}");
    text
}
