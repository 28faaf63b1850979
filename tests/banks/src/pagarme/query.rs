//! The query of a request.

/// Names and values of a query, in its order.
pub(crate) struct Query<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Query<'a> {
    pub(crate) fn of(query: &'a str) -> Self {
        Self(query.split('&').filter_map(|pair| pair.split_once('=')).collect())
    }

    /// Returns the value under this name, decoded.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let given = self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)?;
        Some(decoded(given)).filter(|text| !text.is_empty())
    }

    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.text(name)?.parse().ok()
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = text.bytes();
    let mut plain = Vec::new();
    while let Some(byte) = bytes.next() {
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        match byte {
            b'%' => {
                let pair = bytes.next().and_then(digit).zip(bytes.next().and_then(digit));
                plain.extend(pair.map(|(high, low)| high * 16 + low));
            }
            b'+' => plain.push(b' '),
            byte => plain.push(byte),
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}
