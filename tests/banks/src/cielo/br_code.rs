//! The BR Code of a PIX sale (BR Code manual 2.0.1): EMV objects, and CRC-16 with polynomial 0x1021 from 0xFFFF.

/// Returns a dynamic code for one charge. The amount is optional there, but Cielo's payers like to see it.
pub(crate) fn dynamic(location: &str, amount_cents: Option<u64>) -> String {
    let account = [object("00", "br.gov.bcb.pix"), object("25", location)].concat();
    let amount = amount_cents
        .map(|cents| object("54", &format!("{}.{:02}", cents / 100, cents % 100)))
        .unwrap_or_default();
    sealed(
        &[
            object("00", "01"),
            object("01", "12"),
            object("26", &account),
            object("52", "0000"),
            object("53", "986"),
            amount,
            object("58", "BR"),
            object("59", "LOJA NA CIELO"),
            object("60", "BARUERI"),
            object("62", &object("05", "***")),
        ]
        .concat(),
    )
}

/// Returns the same code with a wrong CRC.
pub(crate) fn with_wrong_crc(code: &str) -> String {
    let kept: String = code.chars().take(code.chars().count().saturating_sub(4)).collect();
    let wrong = if code.ends_with("0000") { "FFFF" } else { "0000" };
    kept + wrong
}

fn object(id: &str, value: &str) -> String {
    format!("{id}{:02}{value}", value.chars().count())
}

fn sealed(objects: &str) -> String {
    let unsealed = format!("{objects}6304");
    let crc = crc16(unsealed.as_bytes());
    format!("{unsealed}{crc:04X}")
}

fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc: u16, _| {
            let shifted = crc << 1;
            if crc & 0x8000 == 0 { shifted } else { shifted ^ 0x1021 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crc_gives_the_published_check_value() {
        assert_eq!(crc16(b"123456789"), 0x29B1);
    }

    #[test]
    fn the_central_banks_own_code_is_sealed_as_it_prints_it() {
        let printed = "00020101021226700014br.gov.bcb.pix2548pix.example.com/8b3da2f39a4140d1a91abd93113bd441\
                       5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***630464E4";
        let objects = printed.strip_suffix("630464E4").unwrap();
        assert_eq!(sealed(objects), printed);
    }

    #[test]
    fn the_amount_stands_in_the_code_where_it_is_given() {
        assert!(dynamic("qr.example/v2/1", Some(12_305)).contains("5406123.05"));
        assert!(!dynamic("qr.example/v2/1", None).contains("9865406"));
    }

    #[test]
    fn a_wrong_crc_differs_from_the_right_one() {
        let code = dynamic("qr.example/v2/1", Some(1));
        assert_ne!(with_wrong_crc(&code), code);
        assert_eq!(with_wrong_crc(&code).len(), code.len());
    }
}
