//! Names of Java classes.

/// An internal class name (`a/b/C$D`) as stack traces write it: `a.b.C$D`.
pub fn dotted(internal: &str) -> String {
    internal.replace('/', ".")
}
