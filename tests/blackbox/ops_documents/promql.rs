//! Mentions of metrics in a text: just enough of PromQL to find names, selectors and groupings.

/// A metric that is named somewhere, with what is asked of its labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    pub(super) name: String,
    pub(super) matchers: Vec<Matcher>,
}

/// `label="value"`, or with `!=`, `=~`, `!~`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Matcher {
    pub(super) label: String,
    /// The value, or the choices of a pattern such as `a|b`.
    pub(super) values: Vec<String>,
}

/// Every metric whose name begins so.
pub(super) fn mentions(text: &str, prefix: &str) -> Vec<Mention> {
    let starts = text.match_indices(prefix).map(|(at, _)| at);
    let is_name = |at: &usize| !text[..*at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    starts
        .filter(is_name)
        .map(|at| {
            let rest = &text[at..];
            let name = word(rest);
            let selector = rest[name.len()..].strip_prefix('{').and_then(|rest| rest.split_once('}'));
            let matchers = selector.map_or(Vec::new(), |(selector, _)| matchers(selector));
            Mention { name: name.into(), matchers }
        })
        .collect()
}

/// The labels of every `by (a, b)`.
pub(super) fn groupings(text: &str) -> Vec<String> {
    let lists = text.split("by (").skip(1).filter_map(|rest| rest.split_once(')'));
    lists.flat_map(|(list, _)| list.split(',').map(|label| label.trim().to_owned())).collect()
}

fn matchers(selector: &str) -> Vec<Matcher> {
    let mut found = Vec::new();
    let mut rest = selector;
    while let Some((label, after)) = rest.split_once(['=', '!']) {
        let Some((_, after)) = after.split_once('"') else { break };
        let Some((value, after)) = after.split_once('"') else { break };
        let label = label.trim_matches([' ', ',']).to_owned();
        found.push(Matcher { label, values: value.split('|').map(str::to_owned).collect() });
        rest = after;
    }
    found
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'));
    &text[..end.unwrap_or(text.len())]
}

#[test]
fn names_selectors_and_groupings_are_found() {
    let text =
        r#"sum by (job, actor) (rate(quita_x_total{actor!="a", kind=~"b|c"}[5m])) > not_quita_y / quita_z"#;
    let matcher = |label: &str, values: &[&str]| Matcher {
        label: label.into(),
        values: values.iter().map(|&value| value.into()).collect(),
    };
    let mention = |name: &str, matchers| Mention { name: name.into(), matchers };
    assert_eq!(
        mentions(text, "quita_"),
        [
            mention("quita_x_total", vec![matcher("actor", &["a"]), matcher("kind", &["b", "c"])]),
            mention("quita_z", vec![])
        ]
    );
    assert_eq!(groupings(text), ["job", "actor"]);
}
