//! Java source text as a syntax tree (tree-sitter): where a field, a method or a
//! statement is, and what has to be written there. Text in, text out; whether
//! the result is right Java is for the compiler to say.

use std::ops::Range;
use tree_sitter::{Node, Parser, Tree};

/// One source file.
pub struct JavaSource<'a> {
    text: &'a str,
    tree: Tree,
}

/// New text in place of a part of the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub at: Range<usize>,
    pub text: String,
}

/// The text with all edits made; they must not overlap.
pub fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.at.start);
    let mut new = String::with_capacity(text.len());
    let mut done = 0;
    for edit in edits {
        new += &text[done..edit.at.start];
        new += &edit.text;
        done = edit.at.end;
    }
    new + &text[done..]
}

impl<'a> JavaSource<'a> {
    pub fn parse(text: &'a str) -> Option<JavaSource<'a>> {
        let mut parser = Parser::new();
        let java = tree_sitter_java::LANGUAGE.into();
        parser.set_language(&java).ok()?;
        let tree = parser.parse(text, None)?;
        Some(JavaSource { text, tree })
    }

    /// Makes a field volatile. `class` is a binary name (`a.b.Outer$Inner`). Of a
    /// declaration with several fields each gets its own.
    pub fn volatile(&self, class: &str, field: &str) -> Option<Edit> {
        let body = self.class_body(class)?;
        for declaration in children(body, "field_declaration") {
            let mut cursor = declaration.walk();
            let named: Vec<Node<'_>> = declaration
                .children_by_field_name("declarator", &mut cursor)
                .collect();
            let name = |node: &Node<'_>| node.child_by_field_name("name").map(|n| self.slice(n));
            if !named.iter().any(|node| name(node) == Some(field)) {
                continue;
            }
            let kind = declaration.child_by_field_name("type")?;
            if let [_] = named[..] {
                return Some(insert(kind.start_byte(), "volatile "));
            }
            let modifiers = &self.text[declaration.start_byte()..kind.start_byte()];
            let indent = self.indent(declaration.start_byte());
            let parted = named.iter().map(|node| {
                let volatile = match name(node) == Some(field) {
                    true => "volatile ",
                    false => "",
                };
                format!(
                    "{modifiers}{volatile}{} {};",
                    self.slice(kind),
                    self.slice(*node)
                )
            });
            let text: Vec<String> = parted.collect();
            return Some(Edit {
                at: declaration.byte_range(),
                text: text.join(&format!("\n{indent}")),
            });
        }
        None
    }

    /// Makes the method that has code in a line (counted from 1) synchronized.
    pub fn synchronized(&self, method: &str, line: u32) -> Option<Edit> {
        let row = (line as usize).checked_sub(1)?;
        let is_it = |node: Node<'_>| {
            let name = node
                .child_by_field_name("name")
                .map(|name| self.slice(name));
            node.kind() == "method_declaration" && name == Some(method)
        };
        let declaration = self.innermost(row, &is_it)?;
        // Behind the modifiers: type parameters, or the type of the result.
        let behind = declaration
            .child_by_field_name("type_parameters")
            .or_else(|| declaration.child_by_field_name("type"))?;
        Some(insert(behind.start_byte(), "synchronized "))
    }

    /// Puts the statement in a line (counted from 1) into a block that holds a
    /// lock. A statement that declares a variable is left alone, since the
    /// variable would end with the block; so is a part of a larger statement.
    pub fn block(&self, line: u32, lock: &str) -> Option<Edit> {
        let row = (line as usize).checked_sub(1)?;
        let is_it =
            |node: Node<'_>| matches!(node.kind(), "expression_statement" | "return_statement");
        let last = self.innermost(row, &is_it)?;
        // Others that begin in the same line go with it.
        let mut first = last;
        while let Some(before) = first.prev_named_sibling()
            && is_it(before)
            && before.end_position().row == row
        {
            first = before;
        }
        let mut at = first.start_byte()..last.end_byte();
        let end = self.text[at.end..]
            .find('\n')
            .map_or(self.text.len(), |n| at.end + n);
        let rest = self.text[at.end..end].trim();
        let begin = self.text[..at.start].rfind('\n').map_or(0, |n| n + 1);
        let alone = self.text[begin..at.start].trim().is_empty();
        if !alone || !(rest.is_empty() || rest.starts_with("//")) {
            let text = format!("synchronized ({lock}) {{ {} }}", &self.text[at.clone()]);
            return Some(Edit { at, text });
        }
        at.end = end - (self.text[at.end..end].len() - self.text[at.end..end].trim_end().len());
        let indent = self.indent(at.start);
        let inner = self.text[at.clone()].replace('\n', "\n    ");
        let text = format!("synchronized ({lock}) {{\n{indent}    {inner}\n{indent}}}");
        Some(Edit { at, text })
    }

    fn slice(&self, node: Node<'_>) -> &'a str {
        &self.text[node.byte_range()]
    }

    /// The white space that begins the line of a byte.
    fn indent(&self, at: usize) -> &'a str {
        let begin = self.text[..at].rfind('\n').map_or(0, |n| n + 1);
        let line = &self.text[begin..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// The body of a named class, by the names around it.
    fn class_body(&self, class: &str) -> Option<Node<'_>> {
        let simple = class.rsplit('.').next()?;
        let mut body = self.tree.root_node();
        for name in simple.split('$') {
            let mut members: Vec<Node<'_>> = all_children(body);
            // Members of an enum stand below its constants.
            for below in children(body, "enum_body_declarations") {
                members.extend(all_children(below));
            }
            let found = members.into_iter().find(|node| {
                let named = node.child_by_field_name("name").map(|n| self.slice(n));
                node.kind().ends_with("_declaration") && named == Some(name)
            });
            body = found?.child_by_field_name("body")?;
        }
        let below = children(body, "enum_body_declarations").into_iter().next();
        Some(below.unwrap_or(body))
    }

    /// The innermost node of a kind that reaches over the row.
    fn innermost(&self, row: usize, is_it: &dyn Fn(Node<'_>) -> bool) -> Option<Node<'_>> {
        let mut found = None;
        let mut rest = vec![self.tree.root_node()];
        while let Some(node) = rest.pop() {
            if !(node.start_position().row..=node.end_position().row).contains(&row) {
                continue;
            }
            // Children come after their parents, so the last one is inside.
            if is_it(node) {
                found = Some(node);
            }
            rest.extend(all_children(node).into_iter().rev());
        }
        found
    }
}

fn all_children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

fn children<'t>(node: Node<'t>, kind: &str) -> Vec<Node<'t>> {
    let mut all = all_children(node);
    all.retain(|child| child.kind() == kind);
    all
}

fn insert(at: usize, text: &str) -> Edit {
    Edit {
        at: at..at,
        text: text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "package a;
class Outer {
    int x = 1;
    static final class Inner extends Thread {
        private static int x; // here
        @Deprecated
        Map<String, List<Integer>> all = null;
        private int first, second = 2;
        void run() {
            int y = x;
            return x;
        }
        int y = 3;
    }
    enum Colour { RED; int used; }
}
";

    /// The line that differs, or lines.
    fn changed(text: &str, edit: Option<Edit>) -> Option<String> {
        let new = apply(text, vec![edit?]);
        let old: Vec<&str> = text.lines().collect();
        let added = new.lines().filter(|line| !old.contains(line));
        Some(added.collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn fields_are_found_in_their_class() {
        let source = JavaSource::parse(SOURCE).unwrap();
        let made = |class: &str, field: &str| changed(SOURCE, source.volatile(class, field));
        let inner = |field: &str| made("a.Outer$Inner", field);
        assert_eq!(
            inner("x").unwrap(),
            "        private static volatile int x; // here"
        );
        let all = "        volatile Map<String, List<Integer>> all = null;";
        assert_eq!(inner("all").unwrap(), all, "behind the annotation");
        assert_eq!(
            inner("y").unwrap(),
            "        volatile int y = 3;",
            "not the local variable"
        );
        assert_eq!(made("a.Outer", "x").unwrap(), "    volatile int x = 1;");
        assert_eq!(
            made("a.Outer$Colour", "used").unwrap(),
            "    enum Colour { RED; volatile int used; }"
        );
        assert_eq!(inner("absent"), None);
        assert_eq!(made("a.Other", "x"), None);
    }

    #[test]
    fn of_several_fields_in_a_declaration_one_is_volatile() {
        let source = JavaSource::parse(SOURCE).unwrap();
        let edit = source.volatile("a.Outer$Inner", "second");
        let wanted = "        private int first;\n        private volatile int second = 2;";
        assert_eq!(changed(SOURCE, edit).unwrap(), wanted);
    }

    #[test]
    fn statements_get_a_block() {
        let text = "class A {
    int m() {
        count++;
        a.b = c.d; // why
        call(x,
            y);
        if (x) y = 1;
        a(); b();
        int z = x;
        for (int i = 0; i < x; i++) {}
        go(() -> {
            x = 2;
        });
        return x;
    }
}
";
        let source = JavaSource::parse(text).unwrap();
        let made = |line| changed(text, source.block(line, "lock"));
        let block = |inside: &str| {
            format!("        synchronized (lock) {{\n            {inside}\n        }}")
        };
        for (line, inside) in [
            (3, "count++;"),
            (4, "a.b = c.d; // why"),
            (5, "call(x,\n                y);"),
            (6, "call(x,\n                y);"),
            (8, "a(); b();"),
            (14, "return x;"),
        ] {
            assert_eq!(made(line).unwrap(), block(inside), "{line}");
        }
        let within = "        if (x) synchronized (lock) { y = 1; }";
        assert_eq!(made(7).unwrap(), within);
        let lambda = "            synchronized (lock) {\n                x = 2;\n            }";
        assert_eq!(made(12).unwrap(), lambda);
        for line in [9, 10, 15, 99] {
            assert_eq!(made(line), None, "{line}");
        }
    }

    #[test]
    fn methods_are_found_by_a_line_in_them() {
        let text = "class A {
    private final void put(int x) {
        put(x, 1);
        next(put(x));
    }
    @Override public <T> T
    put(int x, T y)
    { return y; }
    A() { x = 1; }
}
";
        let source = JavaSource::parse(text).unwrap();
        let made = |method, line| changed(text, source.synchronized(method, line));
        let plain = "    private final synchronized void put(int x) {";
        assert_eq!(made("put", 4).unwrap(), plain);
        let generic = "    @Override public synchronized <T> T";
        assert_eq!(made("put", 8).unwrap(), generic);
        assert_eq!(made("put", 1), None);
        assert_eq!(made("A", 9), None, "a constructor cannot be");
    }

    #[test]
    fn what_is_no_java_gives_nothing() {
        for text in ["", "\u{0}", "class", "class A { int x", "}}}}((((;;;; int"] {
            let source = JavaSource::parse(text).unwrap();
            for line in 0..3 {
                let _ = source.block(line, "l");
                let _ = source.synchronized("m", line);
            }
            assert_eq!(source.volatile("B", "x"), None);
        }
    }
}
