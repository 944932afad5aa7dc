//! The macros that expand to a test of each case.

/// Expands to a test of each case, of all parts of the suite, for the storage that `fixture` returns.
///
/// `fixture` is the path of an async function without arguments, or an equivalent closure. It returns an empty storage and a
/// guard that is dropped after it even if a test fails, such as a temporary directory: `(impl Storage, impl Sized)`.
///
/// The tests are named after the topic and the case, such as `isolation::list_returns_courses_of_one_account`. Each macro of this
/// crate needs its own module if a file has several:
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
        $crate::__suite!(($fixture)().await, [$crate::Storage] courses credentials combined keys sign_ins administration);
    };
}

/// Expands to a test of each case of a [`CourseStorage`](catalogue_core::storage::CourseStorage).
///
/// `fixture` is the path of an async function without arguments, or an equivalent closure, that returns a
/// [`CourseFixture`](crate::CourseFixture) over empty tables. The tests are named as for [`tests!`](crate::tests),
/// which shows the module that each of several macros in a file needs.
#[macro_export]
macro_rules! course_storage_tests {
    ($fixture:expr $(,)?) => {
        $crate::__suite!((($fixture)().await, ()), [$crate::CourseFixture] courses);
    };
}

/// Expands to a test of each case of a [`CredentialStorage`](catalogue_core::storage::CredentialStorage).
///
/// `fixture` returns a [`CredentialFixture`](crate::CredentialFixture), as for
/// [`course_storage_tests!`](crate::course_storage_tests). A second macro in a file needs its own module.
#[macro_export]
macro_rules! credential_storage_tests {
    ($fixture:expr $(,)?) => {
        $crate::__suite!((($fixture)().await, ()), [$crate::CredentialFixture] credentials);
    };
}

/// Expands to the tests of [`course_storage_tests!`](crate::course_storage_tests) and
/// [`credential_storage_tests!`](crate::credential_storage_tests), and of the rules that involve both.
///
/// `fixture` returns a value that is both a [`CourseFixture`](crate::CourseFixture) and a
/// [`CredentialFixture`](crate::CredentialFixture). A second macro in a file needs its own module.
#[macro_export]
macro_rules! course_and_credential_storage_tests {
    ($fixture:expr $(,)?) => {
        $crate::__suite!(
            (($fixture)().await, ()),
            [$crate::CourseFixture + $crate::CredentialFixture] courses credentials combined
        );
    };
}

/// Expands to a test of each case of a [`KeyStorage`](catalogue_core::storage::KeyStorage).
///
/// `fixture` returns a [`KeyFixture`](crate::KeyFixture), as for [`course_storage_tests!`](crate::course_storage_tests). A
/// second macro in a file needs its own module.
#[macro_export]
macro_rules! key_storage_tests {
    ($fixture:expr $(,)?) => {
        $crate::__suite!((($fixture)().await, ()), [$crate::KeyFixture] keys);
    };
}

/// Expands to a test of each case of a [`SignInStorage`](catalogue_core::storage::SignInStorage).
///
/// `fixture` returns a [`SignInFixture`](crate::SignInFixture), as for
/// [`course_storage_tests!`](crate::course_storage_tests). A second macro in a file needs its own module.
#[macro_export]
macro_rules! sign_in_storage_tests {
    ($fixture:expr $(,)?) => {
        $crate::__suite!((($fixture)().await, ()), [$crate::SignInFixture] sign_ins);
    };
}

/// Expands to a test of each case of the groups, for the fixture and the guard that `$fixture` evaluates to.
#[doc(hidden)]
#[macro_export]
macro_rules! __suite {
    ($fixture:expr, [$($bound:tt)+] $($group:ident)+) => {
        async fn __fixture() -> (impl $($bound)+, impl ::core::marker::Sized) {
            $fixture
        }

        $($crate::__cases!(__tests, $group);)+
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
                            // Bound here, so that it is dropped before the guard.
                            let fixture = fixture;
                            $crate::$group::$topic::$case(&fixture).await;
                        });
                    }
                )*
            }
        )*
    };
}
