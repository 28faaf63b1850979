//! Deviations from the manuals that are read nevertheless, and banks' additions to the standard.

use quita_cnab::Kind;

use crate::files::{read, sample, samples, with};

fn text(name: &str) -> String {
    String::from_utf8(sample(name)).unwrap()
}

#[test]
fn line_ends_a_last_0x1a_blank_lines_and_one_blank_too_many_change_nothing() {
    for name in samples() {
        let plain = text(&name).replace("\r\n", "\n");
        let expected = read(&sample(&name)).unwrap();
        for other in [
            plain.clone(),
            plain.replace('\n', "\r\n"),
            plain.trim_end_matches('\n').to_owned(),
            format!("{}\u{1a}", plain.trim_end_matches('\n')),
            format!("{}\n\u{1a}\r\n", plain.trim_end_matches('\n')),
            format!("{}\n\n  \n", plain.trim_end_matches('\n')),
            format!("\u{feff}{plain}"),
            plain
                .lines()
                .map(|line| {
                    line.get(..line.len().min(if name.contains("400") { 400 } else { 240 }))
                        .unwrap()
                        .to_owned()
                        + " \r\n"
                })
                .collect(),
        ] {
            assert_eq!(read(other.as_bytes()).unwrap(), expected, "{name}: {other:?}");
        }
    }
}

#[test]
fn a_name_with_accents_moves_no_position_in_either_encoding() {
    let plain = sample("cnab400-itau.ret");
    let expected = read(&plain).unwrap();
    let accented = String::from_utf8(with(&plain, 3, 325, "JOSE DA CONCEICAO GONCALVES")).unwrap();
    let accented = accented.replace("JOSE DA CONCEICAO GONCALVES", "JOSÉ DA CONCEIÇÃO GONÇALVES");
    assert_eq!(read(accented.as_bytes()).unwrap(), expected);
    let latin: Vec<u8> =
        accented.chars().map(|character| u8::try_from(u32::from(character)).unwrap()).collect();
    assert!(std::str::from_utf8(&latin).is_err());
    assert_eq!(read(&latin).unwrap(), expected);
}

#[test]
fn a_document_number_keeps_its_accents() {
    let file =
        String::from_utf8(with(&sample("cnab400-itau.ret"), 2, 117, "N# 7A     ")).unwrap().replace('#', "º");
    assert_eq!(read(file.as_bytes()).unwrap().lines[0].document_number.as_deref(), Some("Nº 7A"));
}

#[test]
fn records_beside_a_detail_are_counted_and_not_told() {
    // The third record of this sample becomes a PIX code, and the trailer's totals are without it.
    let pix = with(&sample("cnab400-itau.ret"), 3, 1, "3");
    let file = with(&with(&pix, 6, 213, "00000003"), 6, 221, "00000000133076");
    let lines = read(&file).unwrap().lines;
    assert_eq!(lines.iter().map(|line| line.number).collect::<Vec<_>>(), [2, 4, 5]);
    // The last T and U of this one become a segment Y and a V.
    let file = with(&with(&sample("cnab240-banco_brasil.ret"), 11, 14, "Y"), 12, 14, "V");
    assert_eq!(read(&file).unwrap().lines.len(), 4);
}

/// A CNAB 400 file of a bank with one record, of a type, that has these texts at these positions.
fn cnab400(bank: &str, kind: &str, fields: &[(usize, &str)]) -> Vec<u8> {
    let zeros = "0".repeat(400) + "\n";
    let file = zeros.repeat(3).into_bytes();
    let file = with(&with(&file, 1, 1, "02RETORNO"), 1, 77, bank);
    let file = with(&with(&file, 2, 1, kind), 3, 1, "9");
    let file = (1..=3).fold(file, |file, line| with(&file, line, 395, &format!("{line:06}")));
    fields.iter().fold(file, |file, (position, text)| with(&file, 2, *position, text))
}

#[test]
fn each_bank_puts_its_number_credit_date_fee_and_fine_where_it_does() {
    // Texts that tell where each was read: numbers of letters, and days and cents by their position.
    let letters: String = ('A'..='Z').cycle().take(38).collect();
    let early =
        [(57, letters.as_str()), (109, "06"), (176, "010120"), (182, "0000182"), (267, "0000000000100")];
    let late = [(57, letters.as_str()), (109, "06"), (176, "0000000000176"), (280, "0000000000011")];
    for (bank, kind, fields, number, credit, fee, interest) in [
        ("001", "7", &early[..], "HIJKLMNOPQRSTUVWX", (176, "010120"), "1.82", "1.00"),
        ("033", "1", &late, "GHIJKLMN", (296, "010120"), "1.76", "0.11"),
        ("041", "1", &late, "GHIJKLMNOP", (296, "010120"), "1.76", "0.11"),
        ("104", "1", &late, "ABCDEFGHIJKLMNOPQ", (294, "010120"), "1.76", "0.11"),
        ("237", "1", &late, "OPQRSTUVWXYZ", (296, "010120"), "1.76", "0.11"),
        ("341", "1", &late, "DEFGHIJKL", (296, "010120"), "1.76", "0.00"),
        ("756", "1", &early, "GHIJKLMNOPQR", (176, "010120"), "1.82", "1.00"),
    ] {
        let file = cnab400(bank, kind, &[fields, &[credit]].concat());
        let line = &read(&file).unwrap_or_else(|error| panic!("{bank}: {error}")).lines[0];
        assert_eq!(line.our_number.as_deref(), Some(number), "{bank}");
        assert_eq!(line.credited_on.unwrap().to_string(), "2020-01-01", "{bank}");
        assert_eq!(
            (line.fee.to_string().as_str(), line.interest.to_string().as_str()),
            (fee, interest),
            "{bank}"
        );
    }
}

#[test]
fn itaus_cnab_240_has_its_own_codes_and_its_number_after_its_portfolio() {
    let file = String::from_utf8(sample("cnab240-banco_brasil.ret")).unwrap();
    let itau: String = file.lines().map(|line| format!("341{}\n", line.get(3..).unwrap())).collect();
    let mut itau = with(itau.as_bytes(), 3, 38, "109002313270        ");
    for line in [3, 4] {
        itau = with(&itau, line, 16, "17");
    }
    let line = &read(&itau).unwrap().lines[0];
    assert_eq!((line.our_number.as_deref(), line.kind), (Some("002313270"), Kind::Rejected));
    // Of any other bank it is a settlement.
    let other: String = String::from_utf8(itau).unwrap().replace("\n341", "\n748").replacen("341", "748", 1);
    let line = &read(other.as_bytes()).unwrap().lines[0];
    assert_eq!((line.our_number.as_deref(), line.kind), (Some("109002313270"), Kind::Settled));
}
