//! [`Scope`] and [`Scopes`]: what a credential may do (section 5.4).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// One scope. Scopes are ordered as `GET /me` lists them (decision A11): the two of section 5.4 first, then others that
/// the host application grants, sorted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// `read:profile`: verifying a credential and reading back its identity and scopes.
    ReadProfile,
    /// `read:courses`: listing and reading own courses and module headers, never module bodies.
    ReadCourses,
    /// A scope of the host application, without meaning here.
    Other(OtherScope),
}

/// Name of a scope that the contract does not define. Only [`Scope::from_name`] makes one, so it is never the name of a
/// defined scope.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OtherScope(String);

impl Scope {
    /// The scopes of section 5.4, each with what it grants.
    pub const DEFINED: &'static [(Self, &'static str)] = &[
        (Self::ReadProfile, "See which account a key belongs to, and its scopes."),
        (Self::ReadCourses, "Read the account's courses and module titles, never module bodies."),
    ];

    /// Returns the scope named `name`; a name that the contract does not define becomes [`Scope::Other`].
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        Self::DEFINED
            .iter()
            .find_map(|(scope, _)| (scope.name() == name).then(|| scope.clone()))
            .unwrap_or_else(|| Self::Other(OtherScope(name.to_owned())))
    }

    /// Returns the scope's name as the API shows it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::ReadProfile => "read:profile",
            Self::ReadCourses => "read:courses",
            Self::Other(OtherScope(name)) => name,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The scopes of one credential, each once, in the order of decision A11.
///
/// ```
/// use catalogue_core::auth::Scopes;
///
/// let scopes = Scopes::from_names(["read:courses zebra", "read:profile", "apple", "zebra"]);
/// assert_eq!(scopes.to_string(), "read:profile read:courses apple zebra");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Scopes(#[schemars(with = "Vec<String>")] Arc<[Scope]>);

impl Scopes {
    /// Creates scopes from their names. Whitespace ends a name (RFC 6749 section 3.3), so one text may contain several.
    /// A misspelled name is a [`Scope::Other`], which grants nothing.
    pub fn from_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        names.into_iter().flat_map(str::split_whitespace).map(Scope::from_name).collect()
    }

    /// Returns whether `scope` is one of them.
    #[must_use]
    pub fn contains(&self, scope: &Scope) -> bool {
        self.0.contains(scope)
    }

    /// Returns the scopes in the order of decision A11.
    pub fn iter(&self) -> impl Iterator<Item = &Scope> {
        self.0.iter()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        let sorted: BTreeSet<Scope> = scopes.into_iter().collect();
        Self(sorted.into_iter().collect())
    }
}

/// The names, separated by spaces, as in RFC 6749 section 3.3.
impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.iter().map(Scope::name).collect::<Vec<_>>().join(" "))
    }
}
