//! QR codes as pictures. Shops embed them, so each is requested often and drawn once.

use std::sync::Arc;

use actix_web::web::Bytes;
use moka::sync::Cache;
use quita_paper::qr::{QrFailure, QrImage};

/// Maximum number of bytes in the cache: some hundred pictures.
const MOST_BYTES: u64 = 2 * 1024 * 1024;

/// Image format of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum PictureKind {
    Svg,
    Png,
}

impl PictureKind {
    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::Svg => "image/svg+xml",
            Self::Png => "image/png",
        }
    }

    fn draw(self, code: &str) -> Result<Bytes, QrFailure> {
        let image = QrImage::new(code)?;
        match self {
            Self::Svg => Ok(image.svg().into()),
            Self::Png => image.png().map(Bytes::from),
        }
    }
}

/// Cache of recently drawn pictures.
pub(crate) struct Pictures(Cache<(PictureKind, String), Bytes>);

impl Pictures {
    pub(super) fn new() -> Self {
        Self::of_size(MOST_BYTES)
    }

    fn of_size(most_bytes: u64) -> Self {
        let size = |(_, code): &(PictureKind, String), picture: &Bytes| {
            u32::try_from(code.len().saturating_add(picture.len())).unwrap_or(u32::MAX)
        };
        Self(Cache::builder().max_capacity(most_bytes).weigher(size).build())
    }

    /// Returns the picture of a code.
    pub(super) fn of(&self, kind: PictureKind, code: &str) -> Result<Bytes, Arc<QrFailure>> {
        self.0.try_get_with((kind, code.to_owned()), || kind.draw(code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_drawn_once_for_each_code_and_form() {
        let pictures = Pictures::new();
        let [svg, png] = [PictureKind::Svg, PictureKind::Png].map(|kind| pictures.of(kind, "code").unwrap());
        assert!(svg.starts_with(b"<svg") && png.starts_with(b"\x89PNG"));
        assert_eq!(pictures.of(PictureKind::Png, "code").unwrap().as_ptr(), png.as_ptr(), "the same bytes");
        assert_ne!(pictures.of(PictureKind::Png, "other").unwrap(), png);
        assert!(pictures.of(PictureKind::Png, &"x".repeat(3_000)).is_err(), "no code is so long");
    }

    #[test]
    fn so_many_bytes_are_kept_and_no_more() {
        const MOST: u64 = 64 * 1024;
        let pictures = Pictures::of_size(MOST);
        for number in 0..40 {
            pictures.of(PictureKind::Svg, &format!("{number:0100}")).unwrap();
        }
        pictures.0.run_pending_tasks();
        assert!((MOST / 2..=MOST).contains(&pictures.0.weighted_size()));
    }
}
