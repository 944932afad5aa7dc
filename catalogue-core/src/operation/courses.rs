//! `GET /courses`: list the caller's own courses, newest first, without module bodies (section 4.2).

use super::body::{ListBody, Reply, SuccessPage, write};
use super::parameter::{ListQuery, Parameter};
use super::{Authorized, Spec, Tag, example};
use crate::cursor::Cursor;
use crate::error::{ApiError, InvalidParameter};
use crate::model::{AccountId, CourseListItem, Scope};
use crate::storage::{CourseRow, CourseRows, CourseStorage, Limit, PageRequest, Position};

pub(super) static SPEC: Spec = Spec {
    id: "listCourses",
    path: "/courses",
    summary: "List your courses",
    description: "Lists the account's courses, newest first, including drafts and hidden ones.",
    scope: Some(Scope::ReadCourses),
    parameters: &[Parameter::Cursor, Parameter::Limit],
    may_be_absent: false,
    tag: Tag::COURSES,
    schema: |generator| generator.subschema_for::<SuccessPage<'static, CourseListItem>>(),
    example,
};

/// Parameters of one request for a page of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ListCall {
    pub(super) page: PageRequest,
    /// Limit that the caller named, if any; the next page's URL repeats it.
    named_limit: Option<Limit>,
}

impl ListCall {
    pub(super) fn parse(caller: &Authorized<'_>, query: Option<&str>) -> Result<Self, ApiError> {
        let query = ListQuery::parse(query);
        let named_limit = query.limit().map_err(ApiError::InvalidParameter)?;
        let decode = |text| Cursor::decode(caller.account(), text).ok_or(InvalidParameter::CURSOR);
        let after = query.cursor().and_then(|text| text.map(decode).transpose());
        let after = after.map_err(ApiError::InvalidParameter)?;
        Ok(Self { page: PageRequest { limit: named_limit.unwrap_or_default(), after }, named_limit })
    }

    /// Returns the page, and the URL of the next one, which starts after `next`.
    fn reply(&self, account: &AccountId, body: ListBody, next: Option<&Position>) -> Result<Reply, ApiError> {
        let unknown = || ApiError::Internal("the storage returned an item with an impossible position".into());
        let cursor = next.map(|next| Cursor::encode(account, next).ok_or_else(unknown)).transpose()?;
        let address = cursor.as_ref().map(|cursor| {
            let cursor = cursor.as_str();
            match self.named_limit {
                Some(limit) => format!("{}?cursor={cursor}&limit={}", SPEC.path, limit.get()),
                None => format!("{}?cursor={cursor}", SPEC.path),
            }
        });
        Ok(Reply { body: body.finish(cursor.as_ref()), next: address, revision: None })
    }
}

pub(super) async fn run(
    call: &ListCall,
    courses: &dyn CourseStorage,
    caller: &Authorized<'_>,
) -> Result<Reply, ApiError> {
    let mut body = ListBody::with_capacity(call.page.limit.get());
    let mut write = |row: CourseRow<'_>| body.push(|json| write_item(&row, json));
    let mut rows = CourseRows::new(call.page.limit, &mut write);
    let revision = courses.list_courses(caller.account(), &call.page, &mut rows).await?;
    let next = rows.next();
    Ok(Reply { revision, ..call.reply(caller.account(), body, next.as_ref())? })
}

/// Writes the same bytes as a serialized [`CourseListItem`], without copying the strings first.
#[inline]
fn write_item(row: &CourseRow<'_>, json: &mut Vec<u8>) {
    let &CourseRow { slug, title, language, published_at, hidden, module_count } = row;
    json.extend_from_slice(br#"{"slug":"#);
    write(json, slug);
    json.extend_from_slice(br#","title":"#);
    write(json, title);
    json.extend_from_slice(br#","language":"#);
    write(json, language);
    json.extend_from_slice(br#","publishedAt":"#);
    match published_at {
        Some(time) => time.write_json(json),
        None => json.extend_from_slice(b"null"),
    }
    let hidden: &[u8] = if hidden { br#","hidden":true,"moduleCount":"# } else { br#","hidden":false,"moduleCount":"# };
    json.extend_from_slice(hidden);
    write(json, &module_count);
    json.push(b'}');
}

fn example() -> Reply {
    let items = example::course_items();
    let mut body = ListBody::with_capacity(items.len());
    items.iter().for_each(|item| body.push(|json| write_item(&item.row(), json)));
    let reply = ListCall::default().reply(&example::identity().account, body, Some(&example::next_position()));
    reply.expect("examples have slugs")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::operation::body::PaginationMeta;
    use crate::timestamp::Timestamp;

    prop_compose! {
        fn items()(slug in ".*", title in "[ -~\\x00-\\x1f\"\\\\é🤗]*", language in ".{0,40}",
            micros in prop::option::of(Timestamp::MIN.as_microseconds()..=Timestamp::MAX.as_microseconds()),
            hidden in any::<bool>(), module_count in any::<u32>()) -> CourseListItem
        {
            let published_at = micros.and_then(Timestamp::from_microseconds);
            CourseListItem { slug, title, language, published_at, hidden, module_count }
        }
    }

    proptest! {
        #[test]
        fn list_body_equals_serde_output(items in prop::collection::vec(items(), 0..4), has_next in any::<bool>()) {
            let position = Position { created_at: Timestamp::MIN, slug: "slug".to_owned() };
            let next = has_next.then(|| Cursor::encode(&AccountId::new("acc"), &position).unwrap());
            let mut body = ListBody::with_capacity(items.len());
            items.iter().for_each(|item| body.push(|json| write_item(&item.row(), json)));
            let meta = PaginationMeta { next_cursor: next.as_ref().map(Cursor::as_str) };
            let page = serde_json::to_vec(&SuccessPage { data: &items, meta }).unwrap();
            prop_assert_eq!(&*body.finish(next.as_ref()), &*page);
        }
    }

    #[test]
    fn invalid_slug_in_next_position_is_internal_error() {
        let next = Position { created_at: Timestamp::MIN, slug: String::new() };
        let reply = ListCall::default().reply(&AccountId::new("acc"), ListBody::with_capacity(0), Some(&next));
        assert!(matches!(reply, Err(ApiError::Internal(_))));
    }
}
