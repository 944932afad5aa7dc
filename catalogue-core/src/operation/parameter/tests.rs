//! Parsing of a list's query.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

#[test]
fn limit_must_be_digits_within_bounds() {
    for text in ["-1", "+5", "1.5", "", " 5", "5 ", "0x5", "١", "５", "1e1"] {
        assert_eq!(
            parse_limit(text).unwrap_err(),
            InvalidParameter::new(error::LIMIT, Reason::NotAnInteger),
            "{text:?}"
        );
    }
    for text in ["0", "00", "101", "256", "99999999999999999999999"] {
        assert_eq!(
            parse_limit(text).unwrap_err(),
            InvalidParameter::new(error::LIMIT, Reason::OUT_OF_RANGE),
            "{text:?}"
        );
    }
    for (text, limit) in [("1", 1), ("50", 50), ("100", 100), ("007", 7)] {
        assert_eq!(parse_limit(text).map(Limit::get), Ok(limit));
    }
}

#[test]
fn parameter_name_may_be_percent_encoded() {
    let query = ListQuery::parse(Some("%6C%69%6D%69%74x=1&%6C%69%6D%69%74=5"));
    assert!(matches!(&query.limit, Once::Given(value) if value == "5"), "{:?}", query.limit);
}

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
