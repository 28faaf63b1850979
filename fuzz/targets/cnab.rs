//! Return files of banks: any bytes, and real files with some bytes changed. A file that is read twice gives the same
//! result, and an accepted file is refused without its last record.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quita_cnab::{Line, ReadError, ReturnFile};
use quita_fuzz::{changed, split};

const FILES: [&[u8]; 8] = [
    include_bytes!("../../cnab/tests/files/cnab240-banco_brasil.ret"),
    include_bytes!("../../cnab/tests/files/cnab240-santander.ret"),
    include_bytes!("../../cnab/tests/files/cnab400-banrisul.ret"),
    include_bytes!("../../cnab/tests/files/cnab400-bb.ret"),
    include_bytes!("../../cnab/tests/files/cnab400-bradesco.ret"),
    include_bytes!("../../cnab/tests/files/cnab400-cef.ret"),
    include_bytes!("../../cnab/tests/files/cnab400-itau.ret"),
    include_bytes!("../../cnab/tests/files/cnab400-santander.ret"),
];

fuzz_target!(|data: &[u8]| {
    let (choice, rest) = split(data);
    match usize::from(choice).checked_sub(1).and_then(|index| FILES.get(index)) {
        Some(file) => check(&changed(file, rest)),
        None => check(rest),
    }
});

fn read(bytes: &[u8]) -> Result<Vec<Line>, ReadError> {
    ReturnFile::open(bytes)?.collect()
}

fn check(bytes: &[u8]) {
    let total = bytes.split_inclusive(|byte| *byte == b'\n').count() as u64;
    match read(bytes) {
        Ok(lines) => {
            assert!(lines.windows(2).all(|pair| pair[0].number < pair[1].number));
            assert!(lines.iter().all(|line| (2..=total).contains(&line.number)));
            assert_eq!(read(bytes).ok(), Some(lines));
            let is_blank = |byte: &u8| matches!(byte, b' ' | b'\r' | b'\n' | 0x1A);
            let end = bytes.iter().rposition(|byte| !is_blank(byte)).map_or(0, |last| last + 1);
            let trailer = bytes[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |before| before + 1);
            assert!(read(&bytes[..trailer]).is_err(), "accepted without its trailer");
        }
        Err(ReadError::Refused { line, .. }) => {
            assert!((1..=total.max(1)).contains(&line), "{line} of {total}")
        }
        Err(ReadError::Io(error)) => panic!("{error}"),
    }
}
