//! Contents of `/metrics`.

use std::collections::{BTreeMap, BTreeSet};

use super::promql::Mention;

/// Labels that Prometheus adds to everything that it reads.
const OF_TARGETS: [&str; 2] = ["instance", "job"];

/// Every metric, its labels and their values.
#[derive(Debug, Default)]
pub(super) struct Exposition {
    samples: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
    /// Histograms have no sample of their own name.
    families: BTreeSet<String>,
}

impl Exposition {
    pub(super) fn parse(text: &str) -> Self {
        let mut found = Self::default();
        for line in text.lines() {
            if let Some(family) = line.strip_prefix("# TYPE ") {
                found.families.insert(family.split(' ').next().unwrap().to_owned());
            } else if !line.starts_with('#') {
                let series = line.rsplit_once(' ').unwrap().0;
                let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
                let sample = found.samples.entry(name.to_owned()).or_default();
                for (label, value) in pairs(labels.strip_suffix('}').unwrap()) {
                    sample.entry(label.to_owned()).or_default().insert(value.to_owned());
                }
            }
        }
        found
    }

    /// The values of a label.
    pub(super) fn values(&self, name: &str, label: &str) -> BTreeSet<String> {
        self.samples.get(name).and_then(|labels| labels.get(label)).cloned().unwrap_or_default()
    }

    /// Returns true if some metric has this label.
    pub(super) fn has_label(&self, label: &str) -> bool {
        OF_TARGETS.contains(&label) || self.samples.values().any(|labels| labels.contains_key(label))
    }

    /// Returns what is wrong with a mention of a metric in a text, if anything.
    pub(super) fn objection(&self, mention: &Mention, checks_values: bool) -> Option<String> {
        let Some(labels) = self.samples.get(&mention.name) else {
            let is_family = self.families.contains(&mention.name) && mention.matchers.is_empty();
            return (!is_family).then(|| format!("there is no {}", mention.name));
        };
        for matcher in &mention.matchers {
            if OF_TARGETS.contains(&matcher.label.as_str()) {
                continue;
            }
            let Some(values) = labels.get(&matcher.label) else {
                return Some(format!("{} has no label {}", mention.name, matcher.label));
            };
            if checks_values && let Some(value) = matcher.values.iter().find(|value| !values.contains(*value))
            {
                return Some(format!("{}'s {} is never {value}", mention.name, matcher.label));
            }
        }
        None
    }
}

/// No value of ours has a comma or a quotation mark.
fn pairs(labels: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = labels.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(label, value)| (label, value.trim_matches('"')))
}

#[test]
fn what_is_not_there_is_objected_to() {
    let text = "# TYPE quita_a histogram\nquita_a_count{actor=\"front\",kind=\"x\"} 1\nquita_b 2\n";
    let exposition = Exposition::parse(text);
    let objection = |text: &str| {
        let mention = super::promql::mentions(text, "quita_").remove(0);
        exposition.objection(&mention, true)
    };
    for well in ["quita_a", "quita_b", r#"quita_a_count{actor="front", kind=~"x", job="quita"}"#] {
        assert_eq!(objection(well), None);
    }
    for wrong in ["quita_c", "quita_a_sum", r#"quita_b{actor="front"}"#, r#"quita_a_count{kind!~"x|y"}"#] {
        assert!(objection(wrong).is_some(), "{wrong}");
    }
}
