//! A secret that comes from a variable, or from a file that contains nothing else.

use std::fs;

use super::settings::Settings;

/// Reads `name` or the file that `name-file` names. Returns `None` if neither is set, or the value was refused.
pub(super) fn read(settings: &mut Settings, name: &'static str, file: &'static str) -> Option<String> {
    let text = settings.read(name, "any text", |text| Some(text.to_owned()));
    let path = settings.read(file, "a path", |path| Some(path.to_owned()));
    if text.is_some() && path.is_some() {
        let variable = super::option::find(name).map(super::option::ConfigOption::variable);
        let why = format!("{} and {file} are both set; remove one of them", variable.unwrap_or_default());
        settings.refuse(name, why);
    }
    let from_file = path.and_then(|path| match fs::read_to_string(&path) {
        Ok(text) => {
            settings.note_secret_file(file, path.into());
            Some(text.trim_end().to_owned())
        }
        Err(error) => {
            settings.refuse(file, format!("{path} can't be read: {error}"));
            None
        }
    });
    text.or(from_file)
}
