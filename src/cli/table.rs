//! Tables: aligned below their headers for people, tab-separated for programs.

use std::io::{self, IsTerminal};

use super::failure::Failure;
use super::output;

/// Number of spaces between two columns.
const GAP: usize = 2;

/// Prints one row per line. On a terminal, they are aligned below the headers; elsewhere, columns are separated by
/// tabs.
pub(super) fn print<const COLUMNS: usize>(
    headers: [&str; COLUMNS],
    rows: &[[String; COLUMNS]],
) -> Result<(), Failure> {
    if rows.is_empty() {
        return Ok(());
    }
    if io::stdout().is_terminal() {
        return output::result(&aligned(headers, rows));
    }
    rows.iter().try_for_each(|row| output::result(&row.join("\t")))
}

fn aligned<const COLUMNS: usize>(headers: [&str; COLUMNS], rows: &[[String; COLUMNS]]) -> String {
    let headers = headers.map(str::to_owned);
    let mut widths = [0; COLUMNS];
    for row in rows.iter().chain([&headers]) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |row: &[String; COLUMNS]| {
        let cells = row.iter().zip(widths);
        let line: String = cells.map(|(cell, width)| format!("{cell:<width$}{:GAP$}", "")).collect();
        line.trim_end().to_owned()
    };
    [&headers].into_iter().chain(rows).map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["1", "ação"], ["1000", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(aligned(["ID", "NAME"], &rows), "ID    NAME\n1     ação\n1000");
    }
}
