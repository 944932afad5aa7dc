//! Courses as an academy might publish them, made up by number.

use std::sync::LazyLock;

use catalogue_core::storage::Position;
use catalogue_core::{AccountId, Course, CourseModule, Timestamp};

/// What titles are made of: enough words that compression finds about as much as in real ones.
const WORDS: &str = "advanced algebra analysis animals arguments baking balance basics biology budgets cameras chords \
    clay colour compost contracts data dialogue drawing editing energy essays fabric fermentation \
    figures finance focus garden grammar guitar habits harmony history inks joints kitchen knots \
    landscape leather letters light logic maps markets memory metal movement negotiation optics paper \
    patterns plots practice proofs rhythm seeds sleep sound stitches stories teaching timber voice water";

const MODULES: usize = 5;
/// How many courses share a second of creation, so that slugs decide their order.
const OF_ONE_SECOND: usize = 8;

/// The course of that number in `account`; higher numbers are newer. It has five modules with short bodies.
#[must_use]
pub fn course(account: &AccountId, number: usize) -> Course {
    let created_at = created_at(number);
    let module = |module: usize| CourseModule {
        title: format!("Part {module}: {}", words(number * MODULES + module, 3)),
        summary: format!("What to know of {} before you begin.", words(number * MODULES + module, 5)),
        content: format!("The body of the part, on {}. ", words(module, 8)),
    };
    Course {
        account: account.clone(),
        slug: slug(number),
        title: format!("{number:07}: {} for those who begin", words(number, 5)),
        tagline: format!("One line that says what to expect of {}.", words(number, 2)),
        language: "en".to_owned(),
        created_at,
        published_at: Timestamp::from_microseconds(created_at.as_microseconds() + 86_400_000_000),
        hidden: number.is_multiple_of(16),
        access_mode: None,
        modules: (1..=MODULES).map(module).collect(),
    }
}

/// The place in the list right after the newest `depth` of `count` courses.
#[must_use]
pub fn position_after(count: usize, depth: usize) -> Option<Position> {
    let last = (depth > 0).then(|| count - depth)?;
    Some(Position { created_at: created_at(last), slug: slug(last) })
}

/// Begins with the number, so that the order by slug is that of the numbers.
fn slug(number: usize) -> String {
    format!("{number:07}-{}", words(number, 3).replace(' ', "-"))
}

fn created_at(number: usize) -> Timestamp {
    let second = 1_600_000_000 + (number / OF_ONE_SECOND) as i64;
    Timestamp::from_microseconds(second * 1_000_000).expect("a year near ours")
}

/// That many words, which look like chosen at random and are the same for the same number.
fn words(number: usize, count: usize) -> String {
    static ALL: LazyLock<Vec<&str>> = LazyLock::new(|| WORDS.split(' ').collect());

    let mut state = number as u64;
    let mut next = || {
        // Two steps of splitmix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ALL[(mixed >> 32) as usize % ALL.len()]
    };
    (0..count).map(|_| next()).collect::<Vec<_>>().join(" ")
}
