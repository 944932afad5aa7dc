//! [`CatalogueSettings`]: what a catalogue can be told, and saying which setting is wrong.

use catalogue_core::{BuildError, Catalogue, CourseStorage, CredentialKind, CredentialStorage};

use crate::config::{Layers, Setting, Sourced};
use crate::exit::Failure;

/// What a catalogue can be told; `None` leaves it its default.
#[derive(Debug, Default)]
pub(super) struct CatalogueSettings {
    pub(super) base_url: Option<Sourced<String>>,
    pub(super) docs_url: Option<Sourced<String>>,
    pub(super) accept: Option<Sourced<Vec<CredentialKind>>>,
    pub(super) origins: Option<Sourced<Vec<String>>>,
}

impl CatalogueSettings {
    /// The catalogue of `storage` with these settings.
    pub(super) fn catalogue(&self, storage: impl CourseStorage + CredentialStorage) -> Result<Catalogue, Failure> {
        let mut builder = Catalogue::with_api_keys(storage);
        if let Some(base_url) = &self.base_url {
            builder = builder.base_url(&base_url.value);
        }
        if let Some(docs_url) = &self.docs_url {
            builder = builder.docs_url(&docs_url.value);
        }
        if let Some(accept) = &self.accept {
            builder = builder.accept(accept.value.iter().copied());
        }
        if let Some(origins) = &self.origins {
            builder = builder.cors_origins(&origins.value);
        }
        builder.build().map_err(|error| self.wrong(&error))
    }

    /// Says what is wrong, and which setting it is where that is one.
    fn wrong(&self, error: &BuildError) -> Failure {
        let source = match error {
            BuildError::BaseUrl(_) => self.base_url.as_ref().map(|setting| &setting.source),
            BuildError::DocsUrl(_) => self.docs_url.as_ref().map(|setting| &setting.source),
            BuildError::NothingAccepted => self.accept.as_ref().map(|setting| &setting.source),
            BuildError::Origin(_) => self.origins.as_ref().map(|setting| &setting.source),
            _ => None,
        };
        Sourced { value: (), source: source.cloned().unwrap_or_default() }.wrong(error)
    }
}

/// The kinds of credential that the layers accept, if they say so.
pub(super) fn accepted_kinds(
    layers: &Layers,
    given: Vec<String>,
) -> Result<Option<Sourced<Vec<CredentialKind>>>, Failure> {
    let Some(names) = layers.list(Setting::Accept, given)? else {
        return Ok(None);
    };
    let source = names.source.clone();
    let value = names.parse(|names| names.iter().map(|name| kind(name)).collect::<Result<_, _>>())?;
    Ok(Some(Sourced { value, source }))
}

fn kind(name: &str) -> Result<CredentialKind, String> {
    let found = CredentialKind::ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| {
        let known = CredentialKind::ALL.map(CredentialKind::name).join(", ");
        format!("{name:?} is not a kind of credential; the kinds are {known}")
    })
}
