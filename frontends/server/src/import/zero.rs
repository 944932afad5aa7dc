//! Where a record has the character U+0000, which not every database can hold.

use catalogue_core::{Account, Course};

/// The account's first field that has it, by the name that the import format gives it.
pub(crate) fn field_of_account(account: &Account) -> Option<String> {
    let fields = [("name", &account.name), ("email", &account.email)];
    fields.into_iter().find_map(|(name, text)| has_zero(text).then(|| name.to_owned()))
}

/// The course's first field that has it, likewise.
pub(crate) fn field_of_course(course: &Course) -> Option<String> {
    let Course { title, tagline, language, access_mode, modules, .. } = course;
    let access_mode = access_mode.as_deref().unwrap_or_default();
    let own = [("title", &**title), ("tagline", tagline), ("language", language), ("accessMode", access_mode)];
    let found = own.into_iter().find_map(|(name, text)| has_zero(text).then(|| name.to_owned()));
    found.or_else(|| {
        modules.iter().enumerate().find_map(|(index, module)| {
            let fields = [("title", &module.title), ("summary", &module.summary), ("content", &module.content)];
            let (name, _) = fields.into_iter().find(|(_, text)| has_zero(text))?;
            Some(format!("modules[{index}].{name}"))
        })
    })
}

fn has_zero(text: &str) -> bool {
    text.contains('\0')
}
