//! Packages of the JDK, by name. Which loader defines a class says better whose it
//! is, and is asked wherever there is one; a name is all that older reports and
//! recordings have, and all that is known of a class before it is loaded.

/// Whether a class, by its internal or its binary name, is in a package of the
/// JDK's. Programs have such packages too (`javax.servlet`).
pub fn is_jdk_name(class: &str) -> bool {
    const PACKAGES: [&str; 10] = [
        "java/",
        "javax/",
        "jdk/",
        "sun/",
        "com/sun/",
        "org/ietf/jgss/",
        "org/w3c/dom/",
        "org/xml/sax/",
        "org/jcp/xml/dsig/",
        "netscape/javascript/",
    ];
    let same = |(a, b): (u8, u8)| a == b || a == b'/' && b == b'.';
    PACKAGES
        .iter()
        .any(|package| class.len() > package.len() && package.bytes().zip(class.bytes()).all(same))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_either_kind() {
        for class in ["java/lang/String", "java.lang.String", "com.sun.jndi.X"] {
            assert!(is_jdk_name(class), "{class}");
        }
        for class in ["com/sunny/App", "javafx.scene.Node", "Main", "java", ""] {
            assert!(!is_jdk_name(class), "{class}");
        }
    }
}
