//! Statements that race, as the agent is told of them.

use driver::options::Statement;
use findings::finding::{Frame, Location};

/// All accesses to what may be this location.
pub(crate) fn accesses(location: &Location) -> Statement {
    match location {
        Location::Field { field, .. } => Statement::Field {
            name: field.clone(),
        },
        Location::Array { array, .. } => Statement::Elements {
            of: match array.strip_suffix("[]").unwrap_or(array) {
                "int" => 'I',
                "long" => 'J',
                "float" => 'F',
                "double" => 'D',
                "char" => 'C',
                "short" => 'S',
                "byte" | "boolean" => 'B',
                _ => 'L',
            },
        },
    }
}

pub(super) fn statement(frame: &Frame) -> Option<Statement> {
    Some(Statement::Exact {
        class: frame.class.replace('.', "/"),
        method: frame.method.clone(),
        desc: frame.desc.clone()?,
        bci: frame.bci?,
    })
}

/// The same with reads that may see older writes, where a location is meant.
pub(crate) fn weak(statement: Statement) -> Statement {
    match statement {
        Statement::Field { name } => Statement::WeakField { name },
        Statement::Elements { of } => Statement::WeakElements { of },
        other => other,
    }
}
