//! Properties of any bytes: no panic, a line number that exists, nothing accepted that lost a part.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use quita_cnab::ReadError;

use crate::files::{read, refused, sample, samples, with};

fn any_sample() -> impl Strategy<Value = Vec<u8>> {
    select(samples()).prop_map(|name| sample(&name))
}

/// Reads it; a refusal names a line that the file has.
fn try_read(bytes: &[u8]) {
    if let Err(ReadError::Refused { line, .. }) = read(bytes) {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').count() as u64;
        assert!((1..=lines.max(1)).contains(&line), "line {line} of {lines}");
    }
}

/// Totals that samples state: file, line, position, digits.
const TOTALS: [(&str, usize, usize, usize); 9] = [
    ("cnab400-itau.ret", 6, 213, 8),
    ("cnab400-itau.ret", 6, 221, 14),
    ("cnab400-bradesco.ret", 9, 58, 5),
    ("cnab400-bradesco.ret", 9, 63, 12),
    ("cnab400-bradesco.ret", 9, 87, 5),
    ("cnab240-banco_brasil.ret", 13, 18, 6),
    ("cnab240-banco_brasil.ret", 14, 18, 6),
    ("cnab240-banco_brasil.ret", 14, 24, 6),
    ("cnab240-santander.ret", 6, 24, 6),
];

proptest! {
    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..2000)) {
        try_read(&bytes);
    }

    #[test]
    fn no_change_of_a_file_panics(
        file in any_sample(),
        changes in vec((any::<Index>(), any::<u8>()), 1..20),
    ) {
        let mut file = file;
        for (place, byte) in changes {
            let place = place.index(file.len());
            file[place] = byte;
        }
        try_read(&file);
    }

    #[test]
    fn a_file_that_was_cut_anywhere_is_refused_at_its_last_line(file in any_sample(), place in any::<Index>()) {
        let whole = String::from_utf8(file).unwrap();
        let whole = whole.trim_end_matches(['\r', '\n']);
        let cut = &whole.as_bytes()[..place.index(whole.len())];
        let last = cut.split_inclusive(|byte| *byte == b'\n').count().max(1) as u64;
        let (line, problem) = refused(cut);
        prop_assert_eq!(line, last, "{}", problem);
    }

    #[test]
    fn another_total_is_refused_at_its_line(total in select(TOTALS.to_vec()), other in 1_u64..100_000) {
        let (name, line, position, digits) = total;
        let file = sample(name);
        let other = format!("{other:0digits$}");
        let changed = with(&file, line, position, &other);
        prop_assume!(changed != file);
        prop_assert_eq!(refused(&changed).0, line as u64);
    }
}
