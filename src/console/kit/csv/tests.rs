use super::*;

const PORTUGUESE: Csv = Csv { language: Language::Portuguese };
const ENGLISH: Csv = Csv { language: Language::English };

/// Returns the cells that a spreadsheet reads from a file, splitting lines at any of `separators`.
///
/// Quotes count where a cell begins with one and are text elsewhere, as in Excel and LibreOffice. With `drops_quotes`
/// they are dropped everywhere.
fn read(file: &str, separators: &[char], drops_quotes: bool) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    let mut begins = true;
    let mut characters = file.chars().peekable();
    while let Some(character) = characters.next() {
        let ends = !is_quoted && (separators.contains(&character) || matches!(character, '\r' | '\n'));
        let last = cells.last_mut().unwrap();
        match character {
            _ if ends => cells.push(String::new()),
            '"' if drops_quotes => {}
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                last.push('"');
            }
            '"' if is_quoted => is_quoted = false,
            '"' if begins => is_quoted = true,
            _ => last.push(character),
        }
        begins = ends;
    }
    cells
}

/// Returns every text of this length over these characters.
fn texts(characters: &[char], length: usize) -> Vec<String> {
    (0..length).fold(vec![String::new()], |shorter, _| {
        let longer =
            |text: &String| characters.iter().map(|character| format!("{text}{character}")).collect();
        shorter.iter().flat_map::<Vec<_>, _>(longer).collect()
    })
}

#[test]
fn whatever_is_written_no_spreadsheet_finds_a_formula() {
    let splits: [(&[char], bool); 6] = [
        (&[','], false),
        (&[';'], false),
        (&['\t'], false),
        (&[',', ';', '\t'], false),
        (&[], false),
        (&[',', ';', '\t'], true),
    ];
    for text in texts(&['=', '"', ';', ',', '\t', '\n', ' ', 'a'], 5) {
        let (one, other) = text.split_at(3);
        for csv in [PORTUGUESE, ENGLISH] {
            let line = csv.line([one.to_owned(), other.to_owned()]);
            for (separators, drops_quotes) in splits {
                for cell in read(&line, separators, drops_quotes) {
                    let text = cell.trim_start_matches(|character: char| may_be_dropped(character));
                    assert!(
                        !text.starts_with('='),
                        "{one:?} and {other:?}: {line:?} at {separators:?}: {cell:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_begins_a_formula_is_found_in_every_form_and_behind_whatever_is_left_out() {
    for trigger in ['=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫'] {
        for before in [
            "",
            " ",
            "\"",
            "\u{a0}",
            "\u{feff}",
            "\0",
            "\u{200b}\"",
            "\t",
            "\r",
            "\u{b}",
            "\u{85}",
            "\u{2028}",
        ] {
            for cell in ["", "Ana;", "Ana,", "Ana\t", "Ana\r\n", "\u{2028}"] {
                let (evil, mended) =
                    (format!("{cell}{before}{trigger}1"), format!("{cell}{before}'{trigger}1"));
                assert_eq!(without_formulas(&evil), mended, "{evil:?}");
            }
        }
    }
}

#[test]
fn what_is_no_formula_anywhere_stays_as_it_is() {
    for text in ["", "Ana-Maria", "a=b", "ana@shop.example", "Zé; \"o bom\", e só", "1 + 1", "'=1", "R$ -1"]
    {
        assert_eq!(without_formulas(text), text);
    }
}

#[test]
fn a_file_is_written_for_its_reader() {
    let cells = || ["a".to_owned(), "b;c".to_owned(), "d,\"e\"".to_owned()];
    assert_eq!(PORTUGUESE.line(cells()), "a;\"b;c\";\"d,\"\"e\"\"\"\r\n");
    assert_eq!(ENGLISH.line(cells()), "a,b;c,\"d,\"\"e\"\"\"\r\n");
    assert_eq!(PORTUGUESE.head(["a", "b"]), "\u{feff}a;b\r\n");
    let amount = Money::from_cents(1_234_567);
    assert_eq!((PORTUGUESE.amount(amount), ENGLISH.amount(amount)), ("12345,67".into(), "12345.67".into()));
    let back = SignedMoney::from_cents(-1_000);
    assert_eq!(PORTUGUESE.line([PORTUGUESE.signed_amount(back)]), "-10,00\r\n", "it can be added up");
    assert_eq!(without_formulas("-10,00+1"), "'-10,00+1");
    assert_eq!(PORTUGUESE.line([PORTUGUESE.amount(amount)]), "12345,67\r\n", "a number, not a text");
}
