//! PIX: BR Code, keys and identifiers.
//!
//! Sources: the central bank's Pix API document 2.9.0, its Pix initiation manual 2.10.0 and its BR Code
//! manual 2.0.1.

pub mod amount;
pub mod br_code;
pub mod crc16;
pub mod key;
pub mod txid;
