//! What a host's tables cannot hold, so that the suite asks for no more and for nothing less.

use catalogue_core::{Course, Timestamp};

use crate::seed::CREATED;

/// How finely a host's tables keep times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Precision {
    /// To the microsecond, as the API does.
    Microseconds,
    /// To the millisecond.
    Milliseconds,
    /// To the second.
    Seconds,
}

/// Which times a table can hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    precision: Precision,
    first: Timestamp,
    last: Timestamp,
}

/// From here on, times are too far from those that cases count from to be stretched.
const FAR: i64 = 10_000_000;

impl Times {
    const ALL: Self = Self { precision: Precision::Microseconds, first: Timestamp::MIN, last: Timestamp::MAX };

    /// The time that stands for `time` where tables keep coarser or fewer ones.
    ///
    /// Cases count microseconds from two instants. Coarser tables have as many of their own units from there, so that
    /// what is apart stays apart and what is ordered stays ordered; any other time is cut.
    pub(crate) fn held(self, time: Timestamp) -> Timestamp {
        let unit = match self.precision {
            Precision::Microseconds => 1,
            Precision::Milliseconds => 1_000,
            Precision::Seconds => 1_000_000,
        };
        let time = time.as_microseconds();
        let anchor = [0, CREATED].into_iter().find(|anchor| time.abs_diff(*anchor) <= FAR.unsigned_abs());
        let stretched = match anchor {
            Some(anchor) => anchor + (time - anchor) * unit,
            None => time.div_euclid(unit) * unit,
        };
        Timestamp::from_microseconds(stretched).expect("within the years 0000 to 9999").clamp(self.first, self.last)
    }
}

/// What a host's tables cannot hold of courses.
///
/// A case puts nothing that stands in here, and asks for everything else: where times are kept to the second, courses
/// that would be a microsecond apart are put a second apart, and their order is held to the second.
///
/// ```
/// use catalogue_storage_conformance::{CourseLimits, Precision};
///
/// let limits = CourseLimits::NONE
///     .times(Precision::Seconds)
///     .slugs(str::is_ascii)
///     .without(|course| course.tagline.clear());
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct CourseLimits {
    pub(crate) times: Times,
    pub(crate) slugs: fn(&str) -> bool,
    pub(crate) texts: fn(&str) -> bool,
    without: fn(&mut Course),
}

impl CourseLimits {
    /// The tables hold everything that a [`Course`] can be.
    pub const NONE: Self = Self { times: Times::ALL, slugs: |_| true, texts: |_| true, without: |_| () };

    /// Times are kept no finer than this.
    pub const fn times(mut self, precision: Precision) -> Self {
        self.times.precision = precision;
        self
    }

    /// Times are kept from `first` to `last` alone, both a multiple of the precision.
    pub const fn times_between(mut self, first: Timestamp, last: Timestamp) -> Self {
        (self.times.first, self.times.last) = (first, last);
        self
    }

    /// A course can have such slugs alone. Lower-case ASCII letters and digits, with single hyphens between them, up to
    /// 32 bytes are the least; most cases need no more. Any other slug may be asked for, and finds nothing.
    pub const fn slugs(mut self, held: fn(&str) -> bool) -> Self {
        self.slugs = held;
        self
    }

    /// The texts of a course and its modules can be such alone. Short texts of printable ASCII are the least.
    pub const fn texts(mut self, held: fn(&str) -> bool) -> Self {
        self.texts = held;
        self
    }

    /// What the tables have no room for: `forget` makes of a course what will be read, for instance by clearing its
    /// tagline, its access mode or the bodies of its modules.
    ///
    /// It must leave the account, the slug, the creation time, the title and the titles of the modules; a case fails
    /// where it does not.
    pub const fn without(mut self, forget: fn(&mut Course)) -> Self {
        self.without = forget;
        self
    }

    /// The course as the tables hold it.
    pub(crate) fn held(&self, course: &Course) -> Course {
        assert!(
            (self.slugs)(&course.slug),
            "The limits must allow plain slugs, and the cases leave out others: {:?}.",
            course.slug
        );
        let stretched = Course {
            created_at: self.times.held(course.created_at),
            published_at: course.published_at.map(|time| self.times.held(time)),
            ..course.clone()
        };
        let mut held = stretched.clone();
        (self.without)(&mut held);
        let identity = |course: &Course| {
            let modules: Vec<_> = course.modules.iter().map(|module| module.title.clone()).collect();
            (course.account.clone(), course.slug.clone(), course.created_at, course.title.clone(), modules)
        };
        assert_eq!(
            identity(&held),
            identity(&stretched),
            "The limits must leave a course's account, slug, creation time, title and the titles of its modules."
        );
        held
    }
}

/// What a host's table cannot hold of credentials; read like [`CourseLimits`].
///
/// ```
/// use catalogue_storage_conformance::CredentialLimits;
///
/// let limits = CredentialLimits::NONE.api_keys_only().scopes(|name| name.starts_with("read:"));
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct CredentialLimits {
    pub(crate) times: Times,
    pub(crate) scopes: fn(&str) -> bool,
    pub(crate) oauth: bool,
    pub(crate) expiry: bool,
}

impl CredentialLimits {
    /// The table holds everything that a credential can be.
    pub const NONE: Self = Self { times: Times::ALL, scopes: |_| true, oauth: true, expiry: true };

    /// Times are kept no finer than this.
    pub const fn times(mut self, precision: Precision) -> Self {
        self.times.precision = precision;
        self
    }

    /// Times are kept from `first` to `last` alone, both a multiple of the precision.
    pub const fn times_between(mut self, first: Timestamp, last: Timestamp) -> Self {
        (self.times.first, self.times.last) = (first, last);
        self
    }

    /// A credential can have scopes of such names alone. `read:profile` and `read:courses` are the least.
    pub const fn scopes(mut self, held: fn(&str) -> bool) -> Self {
        self.scopes = held;
        self
    }

    /// There are no OAuth tokens.
    pub const fn api_keys_only(mut self) -> Self {
        self.oauth = false;
        self
    }

    /// No credential expires.
    pub const fn without_expiry(mut self) -> Self {
        self.expiry = false;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{course, instant, time};

    #[test]
    fn coarse_times_keep_the_order_and_the_distances_that_cases_count() {
        for precision in [Precision::Microseconds, Precision::Milliseconds, Precision::Seconds] {
            let times = Times { precision, ..Times::ALL };
            let counted = [
                Timestamp::MIN,
                instant(-1_000_001),
                instant(-1),
                instant(0),
                instant(1),
                time(-100),
                time(-1),
                time(0),
                time(999_999),
                time(1_000_000),
                instant((1 << 53) + 1),
                Timestamp::MAX,
            ];
            let held = counted.map(|time| times.held(time));
            assert!(held.is_sorted_by(|one, two| one < two), "{precision:?}: {held:?}");
        }
        let seconds = Times { precision: Precision::Seconds, ..Times::ALL };
        assert_eq!(seconds.held(time(2)).as_microseconds(), CREATED + 2_000_000);
        assert_eq!(seconds.held(Timestamp::MAX).to_exact_string(), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn times_out_of_range_are_those_at_its_ends() {
        let limits = CourseLimits::NONE.times_between(instant(0), time(5));
        for (asked, expected) in [(Timestamp::MIN, instant(0)), (time(4), time(4)), (Timestamp::MAX, time(5))] {
            let course = Course { created_at: asked, ..course("a", "c") };
            assert_eq!(limits.held(&course).created_at, expected);
        }
    }

    #[test]
    #[should_panic(expected = "must leave a course's account, slug")]
    fn what_tells_courses_apart_cannot_be_forgotten() {
        let _ = CourseLimits::NONE.without(|course| course.title.clear()).held(&course("a", "c"));
    }

    #[test]
    #[should_panic(expected = "must allow plain slugs")]
    fn plain_slugs_cannot_be_forbidden() {
        let _ = CourseLimits::NONE.slugs(str::is_empty).held(&course("a", "c"));
    }
}
