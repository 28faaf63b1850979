//! Files that are cut or changed, or are something else: refused at the line where it shows.

use crate::files::{read, refused, sample, samples, with, without};

const ITAU: &str = "cnab400-itau.ret";
const BRADESCO: &str = "cnab400-bradesco.ret";
const BB_240: &str = "cnab240-banco_brasil.ret";
const SANTANDER_240: &str = "cnab240-santander.ret";

#[track_caller]
fn check(file: &[u8], line: u64, told: &str) {
    let (at, problem) = refused(file);
    assert_eq!(at, line, "{problem}");
    assert!(problem.contains(told), "{problem}");
}

#[test]
fn a_total_that_does_not_fit_is_refused_at_the_trailer() {
    for (name, line, position, stated, told) in [
        (ITAU, 6, 213, "00000005", "number of details at 213-220 is 5, and the file holds 4"),
        (ITAU, 6, 221, "00000000189577", "sum of amounts at 221-234 is 1895.77, and the file holds 1895.76"),
        (BRADESCO, 9, 58, "00002", "number of registrations"),
        (BRADESCO, 9, 63, "000000000501", "sum of registrations"),
        (BRADESCO, 9, 87, "00006", "number of settlements"),
        (BRADESCO, 9, 104, "00001", "number of write-offs"),
        (BB_240, 13, 18, "000010", "number of records in the lot at 18-23 is 10, and the file holds 12"),
        (BB_240, 14, 18, "000002", "number of lots"),
        (BB_240, 14, 24, "000013", "number of records at 24-29 is 13, and the file holds 14"),
        (SANTANDER_240, 5, 18, "000003", "number of records in the lot"),
        (SANTANDER_240, 6, 24, "000005", "number of records"),
    ] {
        check(&with(&sample(name), line, position, stated), line as u64, told);
    }
}

#[test]
fn an_amount_that_was_changed_is_refused_where_the_bank_states_their_sum() {
    check(&with(&sample(ITAU), 3, 153, "0000000056501"), 6, "sum of amounts");
}

#[test]
fn zeros_and_blanks_state_nothing() {
    let empty = |name, line, position, length: usize| {
        for text in ["0".repeat(length), " ".repeat(length)] {
            assert!(read(&with(&sample(name), line, position, &text)).is_ok(), "{name} {position} {text:?}");
        }
    };
    empty(ITAU, 6, 213, 22);
    empty(ITAU, 3, 395, 6);
    empty(BB_240, 13, 18, 6);
    empty(BB_240, 14, 18, 12);
}

#[test]
fn a_record_that_is_missing_or_there_twice_is_refused_where_it_shows() {
    for name in samples().iter().filter(|name| name.contains("400")) {
        let file = sample(name);
        check(&without(&file, 2), 2, "says that it is number 3, and it is number 2");
        let twice = [file.get(..402).unwrap(), &file[402..804], &file[402..]].concat();
        check(&twice, 3, "says that it is number 2, and it is number 3");
    }
    let file = sample(BB_240);
    check(&without(&file, 4), 3, "a segment T without the segment U");
    check(&without(&file, 3), 3, "a segment U without the segment T");
    check(&without(&without(&file, 3), 3), 11, "number of records in the lot");
    check(&without(&file, 12), 11, "a segment T without the segment U");
    check(&without(&file, 13), 13, "the lot before has no trailer");
    check(&without(&file, 2), 2, "belongs to a lot");
}

#[test]
fn a_file_without_its_trailer_is_refused_at_its_last_line() {
    for name in samples() {
        let file = sample(&name);
        let lines = file.split_inclusive(|byte| *byte == b'\n').count();
        check(&without(&file, lines), lines as u64 - 1, "without a trailer");
    }
}

#[test]
fn more_after_the_end_is_refused() {
    let file = sample(SANTANDER_240);
    check(&[file.as_slice(), &file].concat(), 7, "more after the file's end");
}

#[test]
fn a_remittance_is_refused_as_one() {
    check(&with(&sample(ITAU), 1, 2, "1REMESSA"), 1, "remittance");
    check(&with(&sample(BB_240), 1, 143, "1"), 1, "remittance");
    check(&with(&sample(BB_240), 2, 9, "R"), 2, "remittance");
}

#[test]
fn a_bank_whose_cnab_400_is_unknown_is_named_and_its_cnab_240_is_read() {
    check(&with(&sample(ITAU), 1, 77, "748"), 1, "CNAB 400 of bank 748 is not known");
    let file = String::from_utf8(sample(BB_240)).unwrap();
    let other: String = file.lines().map(|line| format!("748{}\n", line.get(3..).unwrap())).collect();
    assert_eq!(read(other.as_bytes()).unwrap().lines.len(), 5);
}

#[test]
fn what_no_bank_would_return_is_refused() {
    for (file, line, told) in [
        (Vec::new(), 1, "empty"),
        (b"\n\n\r\n".to_vec(), 3, "empty"),
        (b"%PDF-1.4\n".to_vec(), 1, "it has 8 characters"),
        (b"<html>".to_vec(), 1, "it has 6 characters"),
        (vec![b'0'; 10_000], 1, "goes on for more than"),
        ([vec![b'0'; 400], b"\n".to_vec()].concat(), 1, "no header of a return file"),
        ([vec![b'0'; 240], b"\n".to_vec()].concat(), 1, "no header of a return file"),
        (with(&sample(ITAU), 1, 77, "ABC"), 1, "the bank at 77-79 is no bank's number: \"ABC\""),
        (with(&sample(ITAU), 3, 1, "X"), 3, "does not belong here"),
        (with(&sample(ITAU), 3, 109, "6 "), 3, "the occurrence at 109-110"),
        (with(&sample(ITAU), 3, 147, "300213"), 3, "the due date at 147-152 is no date: \"300213\""),
        (with(&sample(ITAU), 3, 254, "00000000-6452"), 3, "the amount received at 254-266 is no number"),
        (with(&sample("cnab400-bb.ret"), 2, 1, "1"), 2, "agreements of up to six digits"),
        (with(&sample(BB_240), 4, 1, "341"), 4, "it is of bank 341, and the file of bank 001"),
        (with(&sample(BB_240), 4, 4, "0002"), 4, "another lot"),
        (with(&sample(BB_240), 2, 10, "20"), 2, "service 20"),
        (with(&sample(BB_240), 4, 78, "00000000000400A"), 4, "the amount received at 78-92"),
    ] {
        check(&file, line, told);
    }
    let utf16 = |text: &str| {
        [b"\xff\xfe".to_vec(), text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat()
    };
    check(&utf16(&String::from_utf8(sample(ITAU)).unwrap()), 1, "UTF-16");
}

#[test]
fn every_refusal_says_what_to_do() {
    for (file, told) in [
        (
            sample(ITAU)[..1000].to_vec(),
            "line 3: it has 196 characters instead of 400; it is cut or was changed: get it",
        ),
        (
            with(&sample(ITAU), 1, 2, "1"),
            "line 1: this is a remittance, which goes to the bank; give the file that",
        ),
        (with(&sample(ITAU), 1, 77, "748"), "ask the bank for CNAB 240"),
    ] {
        let refused = read(&file).unwrap_err().to_string();
        assert!(refused.contains(told), "{refused}");
    }
}
