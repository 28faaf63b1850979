//! Logo of a merchant, as its payers see it.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// The most bytes of a logo: it is stored with the profile and read with every page.
pub const MAX_LOGO_BYTES: usize = 32 * 1024;
/// The most pixels along either side.
pub const MAX_LOGO_SIDE: u32 = 1_024;

const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Start of image, and the first byte of the marker after it.
const JPEG_SIGNATURE: &[u8] = b"\xff\xd8\xff";

/// Formats that every browser displays and that can't contain scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Png,
    Jpeg,
}

/// A small picture.
#[derive(Clone, PartialEq, Eq)]
pub struct Logo {
    format: Format,
    bytes: Vec<u8>,
}

/// A file that can't be a logo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LogoError {
    /// It has too many bytes.
    #[error("a logo has at most {} KiB", MAX_LOGO_BYTES / 1024)]
    TooLarge,
    /// It has too many pixels, or none.
    #[error("a logo is 1 to {MAX_LOGO_SIDE} pixels wide and high")]
    WrongSize,
    /// It has another format, or is damaged.
    #[error("a logo is a PNG or a JPEG file")]
    NoPicture,
}

impl Logo {
    /// Takes the content of a file.
    ///
    /// # Errors
    /// [`LogoError`] if it is not a small PNG or JPEG.
    pub fn new(bytes: Vec<u8>) -> Result<Self, LogoError> {
        if bytes.len() > MAX_LOGO_BYTES {
            return Err(LogoError::TooLarge);
        }
        let (format, size) = if bytes.starts_with(PNG_SIGNATURE) {
            (Format::Png, png_size(&bytes))
        } else if bytes.starts_with(JPEG_SIGNATURE) {
            (Format::Jpeg, jpeg_size(&bytes))
        } else {
            return Err(LogoError::NoPicture);
        };
        let (width, height) = size.ok_or(LogoError::NoPicture)?;
        let fits = |side| (1..=MAX_LOGO_SIDE).contains(&side);
        if fits(width) && fits(height) { Ok(Self { format, bytes }) } else { Err(LogoError::WrongSize) }
    }

    /// Reads a file's content in base64, with padding.
    ///
    /// # Errors
    /// [`LogoError`], as [`Logo::new`].
    pub fn parse(text: &str) -> Result<Self, LogoError> {
        // Four characters encode three bytes, so a text that is far too long need not be decoded.
        if text.len() / 4 * 3 > MAX_LOGO_BYTES + 2 {
            return Err(LogoError::TooLarge);
        }
        Self::new(STANDARD.decode(text).map_err(|_| LogoError::NoPicture)?)
    }

    /// Returns the media type.
    pub const fn content_type(&self) -> &'static str {
        match self.format {
            Format::Png => "image/png",
            Format::Jpeg => "image/jpeg",
        }
    }

    /// Returns the content of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Display for Logo {
    /// Writes format and size, as in `image/png, 1234 bytes`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} bytes", self.content_type(), self.bytes.len())
    }
}

impl fmt::Debug for Logo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Logo({self})")
    }
}

impl Serialize for Logo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.bytes))
    }
}

impl<'de> Deserialize<'de> for Logo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// Width and height from the header chunk, which comes first (PNG specification, 11.2.2).
fn png_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let header = bytes.get(PNG_SIGNATURE.len()..)?;
    let kind = header.get(4..8)?;
    let sides = header.get(8..16)?;
    let (width, height) = sides.split_first_chunk::<4>()?;
    let height = height.first_chunk::<4>()?;
    (kind == b"IHDR").then(|| (u32::from_be_bytes(*width), u32::from_be_bytes(*height)))
}

/// Width and height from the start of the frame (ITU-T T.81, B.2.2).
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    // After the start of image come segments, each a marker of two bytes and a length that counts itself.
    let mut rest = bytes.get(2..)?;
    loop {
        let (&[first, marker, high, low], _) = rest.split_first_chunk::<4>()?;
        if first != 0xff {
            return None;
        }
        let is_frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if is_frame {
            let &[height_high, height_low, width_high, width_low] = rest.get(5..)?.first_chunk::<4>()?;
            let side = |high, low| u32::from(u16::from_be_bytes([high, low]));
            return Some((side(width_high, width_low), side(height_high, height_low)));
        }
        let length = usize::from(u16::from_be_bytes([high, low])).max(2);
        rest = rest.get(2 + length..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The beginning of a picture of this size.
    fn png(width: u32, height: u32) -> Vec<u8> {
        [PNG_SIGNATURE, b"\0\0\0\rIHDR", &width.to_be_bytes(), &height.to_be_bytes(), b"\x08\x06\0\0\0"]
            .concat()
    }

    fn jpeg(width: u16, height: u16) -> Vec<u8> {
        let before =
            b"\xff\xd8\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xdb\x00\x03\0\xff\xc2\x00\x11\x08";
        [&before[..], &height.to_be_bytes(), &width.to_be_bytes(), b"\x03"].concat()
    }

    #[test]
    fn small_pngs_and_jpegs_are_logos() {
        assert_eq!(Logo::new(png(200, 80)).unwrap().content_type(), "image/png");
        let logo = Logo::new(jpeg(1_024, 1)).unwrap();
        assert_eq!(logo.to_string(), format!("image/jpeg, {} bytes", jpeg(1, 1).len()));
    }

    #[test]
    fn what_is_no_small_picture_is_refused() {
        for (bytes, why) in [
            (png(0, 80), LogoError::WrongSize),
            (png(80, MAX_LOGO_SIDE + 1), LogoError::WrongSize),
            (jpeg(2_000, 10), LogoError::WrongSize),
            (png(10, 10)[..20].to_vec(), LogoError::NoPicture),
            (jpeg(10, 10)[..30].to_vec(), LogoError::NoPicture),
            (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>".to_vec(), LogoError::NoPicture),
            (Vec::new(), LogoError::NoPicture),
            ([png(10, 10), vec![0; MAX_LOGO_BYTES]].concat(), LogoError::TooLarge),
        ] {
            assert_eq!(Logo::new(bytes), Err(why));
        }
    }

    #[test]
    fn a_logo_is_stored_as_base64_and_read_as_it_was() {
        let logo = Logo::new(png(200, 80)).unwrap();
        let stored = serde_json::to_string(&logo).unwrap();
        assert_eq!(serde_json::from_str::<Logo>(&stored).unwrap(), logo);
        assert!(serde_json::from_str::<Logo>("\"no picture\"").is_err());
        assert_eq!(Logo::parse(&"A".repeat(MAX_LOGO_BYTES * 2)), Err(LogoError::TooLarge));
    }
}
