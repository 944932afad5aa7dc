use crate::address::Address;

pub(super) fn render(_base: &Address) -> String {
    String::new()
}
