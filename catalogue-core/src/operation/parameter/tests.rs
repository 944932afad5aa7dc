//! Parsing of a list's query.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

proptest! {
    #[test]
    fn query_parser_matches_form_urlencoded(pieces in vec(select(vec![
        "&", "&", "&", "=", "=", "cursor", "limit", "%6Cimit", "limi%74", "c%75rsor", "%63", "+", "%", "%zz", "%ff", "x", "1",
        "li", "mit", "cur", "sor", ";", "%3D", "%26",
    ]), 0..16)) {
        let query = pieces.concat();
        let given = |expected| {
            let pairs = form_urlencoded::parse(query.as_bytes()).filter(move |(name, _)| name == expected);
            pairs.map(|(_, value)| value.into_owned()).collect::<Vec<_>>()
        };
        let list = ListQuery::parse(Some(&query));
        for (name, once) in [("cursor", &list.cursor), ("limit", &list.limit)] {
            match once {
                Once::Absent => prop_assert_eq!(given(name), [""; 0]),
                Once::Given(value) => prop_assert_eq!(given(name), [&**value]),
                Once::Repeated => prop_assert!(given(name).len() > 1),
            }
        }
    }
}
