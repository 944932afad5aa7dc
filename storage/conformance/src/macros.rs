//! The macros that make a test of each case.

/// Makes a test of each case for the storage that `fixture` returns: of each part of the suite.
///
/// `fixture` is the path of an async function without arguments, or a closure like one, which returns an empty storage
/// and what is dropped after it, also where a test fails, such as a temporary directory: `(impl Storage, impl Sized)`.
///
/// The tests are named after the case and its topic, such as `isolation::a_list_never_mixes_accounts`. Where one file
/// tests two storages, each has a module of its own:
///
/// ```
/// # use catalogue_core::storage::MemoryStorage;
/// mod plain {
///     catalogue_storage_conformance::tests!(super::fixture);
/// }
///
/// mod shared {
///     catalogue_storage_conformance::tests!(|| async { (std::sync::Arc::new(super::MemoryStorage::new()), ()) });
/// }
///
/// async fn fixture() -> (MemoryStorage, ()) {
///     (MemoryStorage::new(), ())
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! tests {
    ($fixture:expr $(,)?) => {
        async fn __fixture() -> (impl $crate::Storage, impl ::core::marker::Sized) {
            ($fixture)().await
        }

        $crate::__cases!(__tests, courses);
        $crate::__cases!(__tests, credentials);
        $crate::__cases!(__tests, together);
        $crate::__cases!(__tests, keys);
        $crate::__cases!(__tests, sign_ins);
        $crate::__cases!(__tests, administration);
    };
}

/// Makes a test of each case of a [`CourseStorage`](catalogue_core::storage::CourseStorage).
///
/// `fixture` is the path of an async function without arguments, or a closure like one, which returns a
/// [`CourseFixture`](crate::CourseFixture) over empty tables. The tests are named as those of [`tests!`](crate::tests).
#[macro_export]
macro_rules! course_storage_tests {
    ($fixture:expr $(,)?) => {
        async fn __fixture() -> (impl $crate::CourseFixture, ()) {
            (($fixture)().await, ())
        }

        $crate::__cases!(__tests, courses);
    };
}

/// Makes a test of each case of a [`CredentialStorage`](catalogue_core::storage::CredentialStorage).
///
/// `fixture` returns a [`CredentialFixture`](crate::CredentialFixture), as for
/// [`course_storage_tests!`](crate::course_storage_tests).
#[macro_export]
macro_rules! credential_storage_tests {
    ($fixture:expr $(,)?) => {
        async fn __fixture() -> (impl $crate::CredentialFixture, ()) {
            (($fixture)().await, ())
        }

        $crate::__cases!(__tests, credentials);
    };
}

/// Makes the tests of [`course_storage_tests!`](crate::course_storage_tests) and
/// [`credential_storage_tests!`](crate::credential_storage_tests), and of what holds between the two.
///
/// `fixture` returns what is a [`CourseFixture`](crate::CourseFixture) and a
/// [`CredentialFixture`](crate::CredentialFixture).
#[macro_export]
macro_rules! course_and_credential_storage_tests {
    ($fixture:expr $(,)?) => {
        async fn __fixture() -> (impl $crate::CourseFixture + $crate::CredentialFixture, ()) {
            (($fixture)().await, ())
        }

        $crate::__cases!(__tests, courses);
        $crate::__cases!(__tests, credentials);
        $crate::__cases!(__tests, together);
    };
}

/// Makes a test of each case of a [`KeyStorage`](catalogue_core::storage::KeyStorage).
///
/// `fixture` returns a [`KeyFixture`](crate::KeyFixture), as for [`course_storage_tests!`](crate::course_storage_tests).
#[macro_export]
macro_rules! key_storage_tests {
    ($fixture:expr $(,)?) => {
        async fn __fixture() -> (impl $crate::KeyFixture, ()) {
            (($fixture)().await, ())
        }

        $crate::__cases!(__tests, keys);
    };
}

/// Makes a test of each case of a [`SignInStorage`](catalogue_core::storage::SignInStorage).
///
/// `fixture` returns a [`SignInFixture`](crate::SignInFixture), as for
/// [`course_storage_tests!`](crate::course_storage_tests).
#[macro_export]
macro_rules! sign_in_storage_tests {
    ($fixture:expr $(,)?) => {
        async fn __fixture() -> (impl $crate::SignInFixture, ()) {
            (($fixture)().await, ())
        }

        $crate::__cases!(__tests, sign_ins);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __tests {
    ($group:ident: $($topic:ident { $($case:ident)* })*) => {
        $(
            mod $topic {
                $(
                    #[::core::prelude::v1::test]
                    fn $case() {
                        $crate::run(async {
                            let (fixture, guard) = super::__fixture().await;
                            let _dropped_last = guard;
                            // Owned here, so that it is dropped before the guard.
                            let fixture = fixture;
                            $crate::$group::$topic::$case(&fixture).await;
                        });
                    }
                )*
            }
        )*
    };
}
