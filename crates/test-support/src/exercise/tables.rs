//! What must hold of any text as a table that commands are given: nothing panics, and what is
//! accepted can be used and written again.

use retrace::Table;
use schedule::may_trigger::Relation;

/// A table of what methods do, for `predict --purity`; whether it is one.
pub fn purity(text: &str) -> bool {
    let mut table = Table::default();
    match table.extend(text) {
        Ok(()) => {
            // Every name of the text, as a class and as a method.
            for name in text.split_whitespace().take(50) {
                table.lookup(name, name);
                let (class, method) = name.rsplit_once('.').unwrap_or((name, "run"));
                table.lookup(&class.replace('.', "/"), method);
            }
            true
        }
        Err(bad) => {
            let lines = text.lines().count().max(1);
            assert!((1..=lines).contains(&bad.line) && !bad.what.is_empty());
            false
        }
    }
}

/// A may-trigger relation, for `detect --relation`; whether it is one.
pub fn relation(bytes: &[u8]) -> bool {
    let Ok(relation) = Relation::parse(bytes) else {
        return false;
    };
    let text = relation.to_text();
    let again = Relation::parse(text.as_bytes()).unwrap();
    assert_eq!(again.to_text(), text);
    let plan = relation.plan();
    assert_eq!(plan.is_empty(), relation.is_empty());
    for method in relation.methods().take(20) {
        let number = plan.method(method);
        assert_ne!(number, 0);
        assert_eq!(
            plan.may_trigger(number, plan.class(method)),
            relation.may_trigger(method, method)
        );
    }
    true
}
