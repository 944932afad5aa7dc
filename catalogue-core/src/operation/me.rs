//! `GET /me`: verify a credential and read back its identity and scopes (section 4.1).

use super::{Operation, Reply, Row, Tag, example};
use crate::auth::{Authorized, IdentityView};
use crate::envelope::Success;

pub(super) const ROW: Row = Row {
    operation: Operation::GetMe,
    id: "getMe",
    path: "/me",
    summary: "Verify a credential",
    description: "Reads back the identity behind the credential and the scopes granted to it. Every valid credential \
                  may call it, whatever its scopes.",
    scope: None,
    parameters: &[],
    may_be_absent: false,
    tag: Tag::Identity,
    schema: |generator| generator.subschema_for::<Success<'static, IdentityView<'static>>>(),
    example: || Reply::Me(example::identity()),
};

pub(super) fn run(caller: &Authorized) -> Reply {
    Reply::Me(caller.identity().clone())
}
