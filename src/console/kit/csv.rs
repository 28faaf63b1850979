//! Files for spreadsheets (RFC 4180), safe in one of any locale.

/// One line.
pub(crate) fn line<const N: usize>(cells: [String; N]) -> String {
    let mut line = cells.map(|cell| quoted(&cell)).join(",");
    line.push_str("\r\n");
    line
}

/// One cell. What a spreadsheet would take for a formula begins with an apostrophe, which keeps it a text.
fn quoted(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let needs_quotes = is_formula || cell.contains(['"', ',', '\r', '\n', ';']);
    let inside = cell.replace('"', "\"\"");
    match (needs_quotes, is_formula) {
        (false, _) => inside,
        (true, false) => format!("\"{inside}\""),
        (true, true) => format!("\"'{inside}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_when_it_has_to_be_and_is_never_a_formula() {
        for (cell, expected) in [
            ("", ""),
            ("Ana", "Ana"),
            ("Silva, Ana", "\"Silva, Ana\""),
            ("a \"b\"", "\"a \"\"b\"\"\""),
            ("=1+1", "\"'=1+1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("-1", "\"'-1\""),
            ("\t=1", "\"'\t=1\""),
        ] {
            assert_eq!(quoted(cell), expected);
        }
        assert_eq!(line(["a".to_owned(), "b,c".to_owned()]), "a,\"b,c\"\r\n");
    }
}
