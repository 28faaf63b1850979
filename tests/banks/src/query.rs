//! Queries and forms.

/// Pairs of a query or a form, decoded.
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn read(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|pair| {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    (decode(&name.replace('+', " ")), decode(&value.replace('+', " ")))
                })
                .collect(),
        )
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl FromIterator<(String, String)> for Query {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

/// Decodes percent-encoding. Invalid sequences are kept, and bytes that are not UTF-8 are replaced.
pub(crate) fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let encoded = (*first == b'%')
            .then(|| after.get(..2))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(encoded.unwrap_or(*first));
        rest = if encoded.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
