//! The checksum at the end of a BR Code.

/// Computes CRC-16 with polynomial 0x1021, start 0xFFFF, no reflection, no final XOR (CCITT-FALSE).
///
/// In a BR Code it covers everything up to and including the literal `6304` (BR Code manual).
pub fn checksum(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |crc, byte| (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| shift(crc)))
}

/// Returns the checksum as four capital hexadecimal digits, with leading zeros.
pub fn checksum_text(text: &str) -> String {
    format!("{:04X}", checksum(text.as_bytes()))
}

const fn shift(crc: u16) -> u16 {
    if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_zeros_are_written() {
        assert_eq!(checksum_text("123456789"), "29B1");
        let short = (0..10_000).map(|n| checksum_text(&n.to_string())).find(|text| text.starts_with('0'));
        assert_eq!(short.unwrap().len(), 4);
    }
}
