//! A granted scope that looks like a misspelt one of section 5.4 is a warning, once.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use catalogue_core::AccountId;
use catalogue_core::auth::{Identity, Scopes};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::NoSubscriber;
use tracing::{Dispatch, Event, Metadata, Subscriber};

/// The fields of what is logged.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0 += &format!(" {field}={value:?}");
    }
}

/// What is logged while a host names callers with those scopes.
fn logged(scopes: &[&str]) -> Vec<String> {
    let log = Log::default();
    // With one subscriber alone, the thread that is first at an event decides, which may be another test's, who hears of it.
    let _second = Dispatch::new(NoSubscriber::default());
    tracing::subscriber::with_default(log.clone(), || {
        for id in ["session_1", "session_2"] {
            let scopes = Scopes::from_names(scopes.iter().copied());
            drop(Identity::session(AccountId::new("acc_1"), id, scopes));
        }
    });
    std::mem::take(&mut *log.0.lock().unwrap())
}

#[test]
fn a_misspelt_scope_is_told_once() {
    let lines = logged(&["read:course", "read:everything"]);
    let warning = "WARN message=a granted scope opens nothing here; where read:courses is meant, write it so \
                   scope=\"read:course\"";
    assert_eq!(lines, [warning]);
    assert_eq!(logged(&["read:course"]), [""; 0]);
}

#[test]
fn those_of_the_specification_and_of_a_host_are_not_told_of() {
    assert_eq!(logged(&["read:courses", "read:profile", "write:courses", "admin"]), [""; 0]);
}
