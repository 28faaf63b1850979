//! The BR Code of a dynamic charge, implemented independently for the bank.

/// Returns the code for a location (host and path without scheme).
pub(crate) fn dynamic(location: &str, name: &str, city: &str) -> String {
    let account = object("00", "br.gov.bcb.pix") + &object("25", location);
    let mut code = object("00", "01")
        + &object("01", "12")
        + &object("26", &account)
        + &object("52", "0000")
        + &object("53", "986")
        + &object("58", "BR")
        + &object("59", name)
        + &object("60", city)
        + &object("62", &object("05", "***"))
        + "6304";
    let crc = crc(code.as_bytes());
    code.push_str(&format!("{crc:04X}"));
    code
}

fn object(id: &str, value: &str) -> String {
    format!("{id}{:02}{value}", value.len())
}

/// CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xFFFF, nothing reflected, no final XOR.
fn crc(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |crc: u16, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_crc_is_the_published_one() {
        assert_eq!(crc(b"123456789"), 0x29B1);
    }

    /// The example in the Banco Central's manual of the BR Code.
    #[test]
    fn the_manuals_dynamic_code_comes_out_to_the_letter() {
        assert_eq!(
            dynamic("pix.example.com/8b3da2f39a4140d1a91abd93113bd441", "Fulano de Tal", "BRASILIA"),
            "00020101021226700014br.gov.bcb.pix2548pix.example.com/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR\
             5913Fulano de Tal6008BRASILIA62070503***630464E4"
        );
    }
}
