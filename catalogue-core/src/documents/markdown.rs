use crate::address::Address;

pub(super) fn render(_base: &Address, _docs: &Address) -> String {
    String::new()
}
