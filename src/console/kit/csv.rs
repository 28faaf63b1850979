//! Files for spreadsheets (RFC 4180): one with the reader's settings opens them as they are meant, and one with any
//! other runs nothing of what a stranger wrote into them.
//!
//! A spreadsheet splits lines at what its own settings name, and takes quotes literally that then stand within a cell. So
//! nothing here relies on quotes: wherever any spreadsheet could begin a cell with what makes a formula, an apostrophe
//! stands before that (OWASP, "CSV Injection").

use quita_domain::money::Money;

use super::language::Language;

/// How a file is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Csv {
    language: Language,
}

impl Csv {
    /// For whoever reads the page that is being made.
    pub(crate) fn for_reader() -> Self {
        Self { language: Language::current() }
    }

    /// The names of the columns, behind the mark without which Excel takes the file for one in an older encoding.
    pub(crate) fn head<const N: usize>(self, columns: [&str; N]) -> String {
        format!("\u{feff}{}", self.line(columns.map(str::to_owned)))
    }

    /// One line.
    pub(crate) fn line<const N: usize>(self, cells: [String; N]) -> String {
        let separator = self.separator();
        let mut line = cells.map(|cell| quoted(&without_formulas(&cell), separator)).join(separator);
        line.push_str("\r\n");
        line
    }

    /// An amount that a spreadsheet can add up: `1234,56`, without the currency.
    pub(crate) fn amount(self, amount: Money) -> String {
        self.language.money_field(amount)
    }

    /// What a spreadsheet in this language splits lines at: where the comma is in amounts, the semicolon.
    const fn separator(self) -> &'static str {
        match self.language {
            Language::Portuguese => ";",
            Language::English => ",",
        }
    }
}

/// Puts an apostrophe before everything that begins a formula where a cell begins, or would if it were split elsewhere.
fn without_formulas(cell: &str) -> String {
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

/// Also in the wide and small forms, which some editions take for the same.
const fn begins_a_formula(character: char) -> bool {
    matches!(character, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠' | '﹦' | '﹢' | '﹣' | '﹫')
}

/// Separators, and the ends of lines by whatever count (Unicode Standard Annex 14, classes BK, CR, LF, NL).
const fn ends_a_cell(character: char) -> bool {
    let is_separator = matches!(character, ',' | ';' | '\t');
    is_separator || matches!(character, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What a spreadsheet may leave out before a cell's text: quotes, blanks, and what is not seen.
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
