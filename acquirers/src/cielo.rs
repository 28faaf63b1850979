//! Cielo's E-commerce API 3.0: cards, PIX and boletos.

pub mod settings;
