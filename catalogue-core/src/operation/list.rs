//! [`ListCall`]: what all paged lists have in common (section 4.2, decisions R7, R8 and A18).

use super::Authorized;
use super::body::{ListBody, Reply};
use super::parameter::ListQuery;
use crate::cursor::{Cursor, CursorPosition};
use crate::error::{ApiError, InvalidParameter};
use crate::model::AccountId;
use crate::storage::{Limit, PageRequest};

/// The parameters of one request for a page of a list, whose positions are `P`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ListCall<P> {
    pub(super) page: PageRequest<P>,
    /// The limit where the caller named one; the next page's address names it again.
    named_limit: Option<Limit>,
}

impl<P: CursorPosition> ListCall<P> {
    pub(super) fn parse(caller: &Authorized<'_>, query: Option<&str>) -> Result<Self, ApiError> {
        let query = ListQuery::parse(query);
        let named_limit = query.limit()?;
        let decode = |text| Cursor::decode(caller.account(), text).ok_or(InvalidParameter::CURSOR);
        let after = query.cursor()?.map(decode).transpose()?;
        Ok(Self { page: PageRequest { limit: named_limit.unwrap_or_default(), after }, named_limit })
    }

    /// The page, and the address of the next one below `path`, which starts after `next`.
    pub(super) fn reply(
        &self,
        account: &AccountId,
        path: &str,
        body: ListBody,
        next: Option<&P>,
    ) -> Result<Reply, ApiError> {
        let unknown = || ApiError::Internal("the storage lists an item at a position that none can have".into());
        let cursor = next.map(|next| Cursor::encode(account, next).ok_or_else(unknown)).transpose()?;
        let address = cursor.as_ref().map(|cursor| {
            let cursor = cursor.as_str();
            match self.named_limit {
                Some(limit) => format!("{path}?cursor={cursor}&limit={}", limit.get()),
                None => format!("{path}?cursor={cursor}"),
            }
        });
        Ok(Reply { body: body.finish(cursor.as_ref()), next: address, revision: None })
    }
}

/// The first page, with the default limit.
impl<P> Default for ListCall<P> {
    fn default() -> Self {
        Self { page: PageRequest::default(), named_limit: None }
    }
}

/// A second list, the modules of a course by their numbers: all that another paged list takes.
#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use serde_json::Value;

    use super::*;
    use crate::model::{CredentialKind, Identity, Scopes};
    use crate::operation::Operation;
    use crate::operation::body::write;
    use crate::storage::Position;
    use crate::storage::{List, Rows};
    use crate::timestamp::Timestamp;

    const PATH: &str = "/courses/bread/modules";

    enum ModuleList {}

    struct ModuleRow<'r> {
        number: u32,
        title: &'r str,
    }

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct ModuleNumber(u32);

    impl List for ModuleList {
        type Row<'r> = ModuleRow<'r>;
        type Position = ModuleNumber;
    }

    impl CursorPosition for ModuleNumber {
        const LAYOUT: u8 = 2;

        fn write(&self, bytes: &mut Vec<u8>) -> Option<()> {
            bytes.extend_from_slice(&self.0.to_be_bytes());
            (self.0 > 0).then_some(())
        }

        fn read(bytes: &[u8]) -> Option<Self> {
            let number = u32::from_be_bytes(bytes.try_into().ok()?);
            (number > 0).then_some(Self(number))
        }
    }

    fn write_item(row: &ModuleRow<'_>, json: &mut Vec<u8>) {
        json.extend_from_slice(br#"{"number":"#);
        write(json, &row.number);
        json.extend_from_slice(br#","title":"#);
        write(json, row.title);
        json.push(b'}');
    }

    fn run(call: &ListCall<ModuleNumber>, titles: &[String], caller: &Authorized<'_>) -> Result<Reply, ApiError> {
        let mut body = ListBody::with_capacity(call.page.limit.get());
        let mut write = |row: ModuleRow<'_>| body.push(|json| write_item(&row, json));
        let mut rows = Rows::<ModuleList>::new(call.page.limit, &mut write);
        let after = call.page.after.as_ref().map_or(0, |after| after.0);
        for (number, title) in (1..).zip(titles).skip(after as usize).take(call.page.rows()) {
            let _ = rows.push(ModuleRow { number, title }, || ModuleNumber(number));
        }
        let next = rows.next();
        call.reply(caller.account(), PATH, body, next.as_ref())
    }

    fn caller() -> Authorized<'static> {
        static IDENTITY: LazyLock<Identity> =
            LazyLock::new(|| Identity::api_key(AccountId::new("acc"), "key", Scopes::from_names(["read:courses"])));
        Operation::ListCourses.authorize(&IDENTITY, &[CredentialKind::ApiKey]).unwrap()
    }

    /// The pages from the one with that query to the last, by the addresses of the next ones.
    fn walk(titles: &[String], query: Option<&str>) -> Vec<Vec<Value>> {
        let (caller, mut query, mut pages) = (caller(), query.map(str::to_owned), Vec::new());
        loop {
            let call = ListCall::parse(&caller, query.as_deref()).unwrap();
            let reply = run(&call, titles, &caller).unwrap();
            let body: Value = serde_json::from_slice(&reply.body).unwrap();
            pages.push(body["data"].as_array().unwrap().clone());
            let Some(next) = reply.next else {
                assert_eq!(body["meta"]["nextCursor"], Value::Null);
                return pages;
            };
            let next = next.strip_prefix(PATH).and_then(|next| next.strip_prefix('?')).unwrap();
            assert!(next.contains(body["meta"]["nextCursor"].as_str().unwrap()));
            query = Some(next.to_owned());
        }
    }

    #[test]
    fn the_pages_of_a_second_list_are_the_whole_list() {
        let titles: Vec<_> = (1..=120).map(|number| format!("\"Module\" {number}")).collect();
        let queries = [1, 2, 7, 40, 60, 100].map(|limit| (Some(format!("limit={limit}")), limit));
        for (query, limit) in [(None, Limit::DEFAULT.get())].into_iter().chain(queries) {
            let pages = walk(&titles, query.as_deref());
            assert_eq!(pages.len(), titles.len().div_ceil(limit), "{query:?}");
            let items: Vec<_> = pages.into_iter().flatten().collect();
            let expected =
                (1..).zip(&titles).map(|(number, title)| serde_json::json!({ "number": number, "title": title }));
            assert_eq!(items, expected.collect::<Vec<_>>(), "{query:?}");
        }
        assert_eq!(walk(&[], None), [Vec::<Value>::new()]);
    }

    #[test]
    fn a_list_refuses_the_cursors_of_another() {
        fn accepts<P: CursorPosition>(cursor: &Cursor) -> bool {
            let call = ListCall::<P>::parse(&caller(), Some(&format!("cursor={}", cursor.as_str())));
            let invalid = matches!(call, Err(ApiError::InvalidParameter(InvalidParameter::CURSOR)));
            assert_ne!(call.is_ok(), invalid);
            call.is_ok()
        }

        let course = Position { created_at: Timestamp::MIN, slug: "slug".to_owned() };
        let course = Cursor::encode(caller().account(), &course).unwrap();
        let module = Cursor::encode(caller().account(), &ModuleNumber(7)).unwrap();
        assert!(accepts::<Position>(&course) && accepts::<ModuleNumber>(&module));
        assert!(!accepts::<ModuleNumber>(&course) && !accepts::<Position>(&module));
    }

    #[test]
    fn an_item_at_a_place_where_none_can_be_is_a_fault_of_the_storage() {
        let reply =
            ListCall::default().reply(caller().account(), PATH, ListBody::with_capacity(0), Some(&ModuleNumber(0)));
        assert!(matches!(reply, Err(ApiError::Internal(_))));
    }
}
