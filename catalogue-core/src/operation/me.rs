//! `GET /me`: verify a credential and read back its identity and scopes (section 4.1).

use super::body::{Reply, Success};
use super::{Authorized, Spec, Tag, example};
use crate::model::IdentityView;

pub(super) static SPEC: Spec = Spec {
    id: "getMe",
    path: "/me",
    summary: "Verify a credential",
    description: "Verifies a credential and returns its account, id and scopes.",
    scope: None,
    parameters: &[],
    may_be_absent: false,
    tag: Tag::IDENTITY,
    schema: |generator| generator.subschema_for::<Success<'static, IdentityView<'static>>>(),
    example: || Reply::of(&example::identity().view()),
};

pub(super) fn run(caller: &Authorized<'_>) -> Reply {
    Reply::of(&caller.identity().view())
}
