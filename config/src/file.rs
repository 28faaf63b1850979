//! The TOML file, flattened to options.

use std::fs;
use std::path::Path;

use toml::{Table, Value};

use super::option::{self, ConfigOption};
use super::problem::Origin;

/// A key of the file with its value: `[sandbox] settle_after` is the option `sandbox-settle-after`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) option: String,
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// Reads the file. The error describes the problem without quoting a line, which may contain a password.
pub(super) fn read(path: &Path) -> Result<Vec<Entry>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("it can't be read: {error}"))?;
    parse(&text, path)
}

fn parse(text: &str, path: &Path) -> Result<Vec<Entry>, String> {
    let table: Table = text.parse().map_err(|error| describe(text, &error))?;
    let mut entries = Vec::new();
    flatten(table, "", path, &mut entries);
    Ok(entries)
}

fn flatten(table: Table, outer: &str, path: &Path, entries: &mut Vec<Entry>) {
    for (name, value) in table {
        let key = if outer.is_empty() { name } else { format!("{outer}.{name}") };
        match value {
            // Not flattened: the reader of the option reports that it must be an array of tables.
            Value::Table(_) if option::find(&key).is_some_and(ConfigOption::is_array_of_tables) => {
                let origin = Origin::File { path: path.into(), key: key.clone() };
                entries.push(Entry { option: key, value, origin });
            }
            Value::Table(inner) => flatten(inner, &key, path, entries),
            value @ (Value::String(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Boolean(_)
            | Value::Datetime(_)
            | Value::Array(_)) => {
                let origin = Origin::File { path: path.into(), key: key.clone() };
                entries.push(Entry { option: key.replace(['_', '.'], "-"), value, origin });
            }
        }
    }
}

/// Reads the tables of an array from a flag or a variable.
pub(super) fn parse_array(text: &str) -> Result<Value, String> {
    let mut table: Table =
        format!("acquirer = {text}").parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
    table.remove("acquirer").filter(|_| table.is_empty()).ok_or_else(|| "it is more than one value".into())
}

fn describe(text: &str, error: &toml::de::Error) -> String {
    let start = error.span().map_or(0, |span| span.start);
    let line = text.bytes().take(start).filter(|byte| *byte == b'\n').count().saturating_add(1);
    format!("line {line} is not valid TOML: {}", error.message().replace('\n', ", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_underscores_become_options() {
        let text = "listen = '127.0.0.1:1'\n[sandbox]\nsettle_after = '1s'\n[[acquirer]]\nname = 'a'\n";
        let mut options: Vec<_> =
            parse(text, Path::new("q.toml")).unwrap().into_iter().map(|entry| entry.option).collect();
        options.sort();
        assert_eq!(options, ["acquirer", "listen", "sandbox-settle-after"]);
    }

    #[test]
    fn a_line_that_is_no_toml_is_named_but_not_repeated() {
        let error = parse("\nstore = mongodb://user:hunter2@host", Path::new("q.toml")).unwrap_err();
        assert!(error.starts_with("line 2 is not valid TOML: "), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn an_array_in_a_variable_is_one_value() {
        assert!(parse_array("[{ name = 'a' }]").is_ok());
        assert!(parse_array("[]\nlisten = 'x'").is_err());
        assert!(parse_array("[").is_err());
    }
}
