//! `GET /courses`: list the caller's own courses, newest first, without module bodies (section 4.2).

use super::parameter::{InvalidParameter, ListQuery, Parameter};
use super::{Operation, Reply, Row, Tag, example};
use crate::auth::{Authorized, Scope};
use crate::cursor::Cursor;
use crate::envelope::SuccessPage;
use crate::error::ApiError;
use crate::list_body::ListBody;
use crate::model::CourseListItem;
use crate::paging::{Limit, PageRequest};
use crate::storage::{AtRevision, CourseStorage};

pub(super) const ROW: Row = Row {
    operation: Operation::ListCourses,
    id: "listCourses",
    path: "/courses",
    summary: "List your courses",
    description: "Lists the caller's own courses, newest first, without module bodies; unpublished and hidden ones \
                  too. While `meta.nextCursor` is a string, passing it as `cursor` returns the next page; when it is \
                  null, there is no further page.",
    scope: Some(Scope::ReadCourses),
    parameters: &[Parameter::Cursor, Parameter::Limit],
    may_be_absent: false,
    tag: Tag::Courses,
    schema: |generator| generator.subschema_for::<SuccessPage<'static, CourseListItem>>(),
    example: || Reply::Courses(example::course_list()),
};

/// The parameters of one request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CoursesRequest {
    page: PageRequest,
    /// The limit where the caller named one; the next page's address names it again.
    named_limit: Option<Limit>,
}

/// One page of the list.
#[derive(Debug)]
pub(crate) struct CourseList {
    pub(crate) body: ListBody,
    /// Where the next page starts; `None` when there is no further one.
    pub(crate) next: Option<Cursor>,
    pub(crate) named_limit: Option<Limit>,
}

impl CoursesRequest {
    pub(super) fn parse(caller: &Authorized, query: Option<&str>) -> Result<Self, ApiError> {
        let query = ListQuery::parse(query);
        let named_limit = query.limit()?;
        let after = query
            .cursor()?
            .map(|text| Cursor::decode(caller.account(), text).ok_or(InvalidParameter::CURSOR))
            .transpose()?;
        Ok(Self { page: PageRequest { limit: named_limit.unwrap_or_default(), after }, named_limit })
    }

    /// How many bytes its texts take up.
    pub(super) fn weight(&self) -> usize {
        self.page.after.as_ref().map_or(0, |after| after.slug.len())
    }
}

pub(super) async fn run(
    courses: &dyn CourseStorage,
    caller: &Authorized,
    request: CoursesRequest,
) -> Result<AtRevision<Reply>, ApiError> {
    let mut body = ListBody::with_capacity(request.page.limit.get());
    let read = courses.visit_courses(caller.account(), &request.page, &mut |row| body.push(row)).await?;
    let next = match &read.value {
        None => None,
        Some(position) => {
            let cursor = Cursor::encode(caller.account(), position);
            Some(cursor.ok_or_else(|| ApiError::Internal("the storage lists a slug that no course can have".into()))?)
        }
    };
    let list = CourseList { body, next, named_limit: request.named_limit };
    Ok(AtRevision { value: Reply::Courses(list), revision: read.revision })
}
