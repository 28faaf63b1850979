//! Random numbers from one seed (SplitMix64), so that the same requests get the same answers.

/// Random numbers, the same ones for the same seed.
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns any number.
    pub(crate) fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to, but not including, this one; 0 if it is 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.any().checked_rem(end).unwrap_or(0)
    }

    /// Returns true with this rate in a thousand. Draws nothing if the rate is 0.
    pub(crate) fn per_mille(&mut self, rate: u64) -> bool {
        rate > 0 && self.below(1_000) < rate
    }

    /// Returns this many decimal digits.
    pub(crate) fn digits(&mut self, count: usize) -> String {
        (0..count).filter_map(|_| char::from_digit(u32::try_from(self.below(10)).ok()?, 10)).collect()
    }

    /// Returns this many lower-case hexadecimal digits.
    pub(crate) fn hexadecimal(&mut self, count: usize) -> String {
        (0..count).filter_map(|_| char::from_digit(u32::try_from(self.below(16)).ok()?, 16)).collect()
    }

    /// Returns a GUID, version 4.
    pub(crate) fn guid(&mut self) -> String {
        let bytes = (u128::from(self.any()) << 64) | u128::from(self.any());
        uuid::Builder::from_random_bytes(bytes.to_be_bytes()).into_uuid().to_string()
    }
}
