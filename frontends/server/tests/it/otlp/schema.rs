//! What a collector reads: the messages of OTLP, by the numbers that their schema gives their fields.

use std::collections::BTreeMap;

use serde_json::Value;

/// A span, with ids as hexadecimal digits.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) trace: String,
    pub(crate) id: String,
    /// Empty at the beginning of a trace.
    pub(crate) parent: String,
    pub(crate) name: String,
    pub(crate) kind: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) attributes: BTreeMap<String, Value>,
    pub(crate) status: u64,
    pub(crate) flags: u64,
}

/// An `ExportTraceServiceRequest`.
#[derive(Clone, Debug)]
pub(crate) struct Export {
    pub(crate) resource: BTreeMap<String, Value>,
    pub(crate) scope: String,
    pub(crate) spans: Vec<Span>,
}

impl Export {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let resource_spans = Message::read(Message::read(bytes).only(1));
        let scope_spans = Message::read(resource_spans.only(2));
        Self {
            resource: pairs(&Message::read(resource_spans.only(1)), 1),
            scope: text(Message::read(scope_spans.only(1)).only(1)),
            spans: scope_spans.all(2).map(|span| Span::read(&Message::read(span))).collect(),
        }
    }
}

impl Span {
    fn read(span: &Message<'_>) -> Self {
        let id = |field| span.all(field).flatten().map(|byte| format!("{byte:02x}")).collect();
        let statuses = span.all(15).map(|status| Message::read(status).number(3));
        Self {
            trace: id(1),
            id: id(2),
            parent: id(4),
            name: text(span.only(5)),
            kind: span.number(6),
            start: span.number(7),
            end: span.number(8),
            attributes: pairs(span, 9),
            status: statuses.sum(),
            flags: span.number(16),
        }
    }

    /// The attribute of that name, or null.
    pub(crate) fn get(&self, name: &str) -> Value {
        self.attributes.get(name).cloned().unwrap_or_default()
    }
}

/// The `KeyValue`s of a field.
fn pairs(message: &Message<'_>, field: u64) -> BTreeMap<String, Value> {
    let pair = |bytes| {
        let pair = Message::read(bytes);
        let any = Message::read(pair.only(2));
        let value = match any.0[..] {
            [(1, Content::Bytes(value))] => text(value).into(),
            [(3, Content::Number(value))] => value.into(),
            _ => panic!("{any:?}"),
        };
        (text(pair.only(1)), value)
    };
    let pairs: Vec<_> = message.all(field).map(pair).collect();
    let by_name: BTreeMap<_, _> = pairs.iter().cloned().collect();
    assert_eq!(by_name.len(), pairs.len(), "a name stands there once: {pairs:?}");
    by_name
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The fields of a message, in their order.
#[derive(Debug)]
struct Message<'m>(Vec<(u64, Content<'m>)>);

#[derive(Debug)]
enum Content<'m> {
    Number(u64),
    Bytes(&'m [u8]),
}

impl<'m> Message<'m> {
    fn read(mut bytes: &'m [u8]) -> Self {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let content = match key & 7 {
                0 => Content::Number(varint(&mut bytes)),
                1 => Content::Number(u64::from_le_bytes(bytes.split_off(..8).unwrap().try_into().unwrap())),
                2 => {
                    let length = varint(&mut bytes) as usize;
                    Content::Bytes(bytes.split_off(..length).unwrap())
                }
                5 => Content::Number(u32::from_le_bytes(bytes.split_off(..4).unwrap().try_into().unwrap()).into()),
                wire_type => panic!("there is no wire type {wire_type}"),
            };
            fields.push((key >> 3, content));
        }
        Self(fields)
    }

    fn all(&self, field: u64) -> impl Iterator<Item = &'m [u8]> {
        self.0.iter().filter(move |(number, _)| *number == field).map(move |(_, content)| match content {
            Content::Bytes(bytes) => *bytes,
            Content::Number(_) => panic!("field {field} is a number"),
        })
    }

    fn only(&self, field: u64) -> &'m [u8] {
        let mut all = self.all(field);
        let (Some(one), None) = (all.next(), all.next()) else { panic!("field {field} in {self:?}") };
        one
    }

    /// 0 where it is left out.
    fn number(&self, field: u64) -> u64 {
        let found = self.0.iter().find(|(number, _)| *number == field);
        found.map_or(0, |(_, content)| match content {
            Content::Number(number) => *number,
            Content::Bytes(_) => panic!("field {field} has bytes"),
        })
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first().unwrap();
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    panic!("a number of more than ten bytes");
}
