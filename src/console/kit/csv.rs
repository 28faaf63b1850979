//! CSV files for spreadsheets (RFC 4180). With the reader's regional settings, they open as intended; with any other
//! settings, no external text runs as a formula.
//!
//! A spreadsheet splits lines at the separator from its own settings, and then takes quotes within a cell literally. So
//! nothing here relies on quotes. Wherever any spreadsheet could start a cell with a formula, it is preceded by an
//! apostrophe (OWASP, "CSV Injection").

use quita_domain::money::{Money, SignedMoney};

use super::language::Language;

/// Writer of CSV lines in one language's format.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Csv {
    language: Language,
}

impl Csv {
    /// Creates a writer for the language of the current request.
    pub(crate) fn for_reader() -> Self {
        Self { language: Language::current() }
    }

    /// Returns the header line, after a byte order mark.
    pub(crate) fn head<const N: usize>(self, columns: [&str; N]) -> String {
        // Without the mark, Excel assumes an older encoding.
        format!("\u{feff}{}", self.line(columns.map(str::to_owned)))
    }

    /// Returns one line.
    pub(crate) fn line<const N: usize>(self, cells: [String; N]) -> String {
        let separator = self.separator();
        let mut line = cells.map(|cell| quoted(&without_formulas(&cell), separator)).join(separator);
        line.push_str("\r\n");
        line
    }

    /// Returns an amount that a spreadsheet can add up: `1234,56`, without the currency.
    pub(crate) fn amount(self, amount: Money) -> String {
        self.language.money_field(amount)
    }

    /// Returns an amount that may be negative, in the same format.
    pub(crate) fn signed_amount(self, amount: SignedMoney) -> String {
        let sign = if amount.cents() < 0 { "-" } else { "" };
        format!("{sign}{}", self.amount(amount.magnitude()))
    }

    /// Returns the separator of spreadsheets in this language: a semicolon if amounts have a decimal comma.
    const fn separator(self) -> &'static str {
        match self.language {
            Language::Portuguese => ";",
            Language::English => ",",
        }
    }
}

/// Inserts an apostrophe before each formula character at the start of a cell, or of what would be a cell with another
/// separator.
fn without_formulas(cell: &str) -> String {
    // A negative amount is not a formula, and must remain summable.
    if is_negative_amount(cell) {
        return cell.to_owned();
    }
    let mut safe = String::with_capacity(cell.len());
    let mut could_begin_here = true;
    for character in cell.chars() {
        if could_begin_here && begins_a_formula(character) {
            safe.push('\'');
        }
        could_begin_here = ends_a_cell(character) || (could_begin_here && may_be_dropped(character));
        safe.push(character);
    }
    safe
}

fn is_negative_amount(cell: &str) -> bool {
    let parts = cell.strip_prefix('-').and_then(|amount| amount.split_once([',', '.']));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.is_some_and(|(whole, cents)| is_number(whole) && is_number(cents))
}

/// Returns true for characters that start a formula, including wide and small forms, which some editions treat the
/// same.
const fn begins_a_formula(character: char) -> bool {
    matches!(character, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠' | '﹦' | '﹢' | '﹣' | '﹫')
}

/// Returns true for separators and every kind of line break (Unicode Standard Annex 14, classes BK, CR, LF, NL).
const fn ends_a_cell(character: char) -> bool {
    let is_separator = matches!(character, ',' | ';' | '\t');
    is_separator || matches!(character, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns true for characters that a spreadsheet may drop before a cell's text: quotes, whitespace and invisible
/// characters.
fn may_be_dropped(character: char) -> bool {
    let is_unseen = matches!(
        character,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    character == '"' || character.is_whitespace() || character.is_control() || is_unseen
}

fn quoted(cell: &str, separator: &str) -> String {
    let needs_quotes = cell.contains(['"', '\r', '\n']) || cell.contains(separator);
    if needs_quotes { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}

#[cfg(test)]
mod tests;
