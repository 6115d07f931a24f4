//! Random methods with loops over arrays, as Java text.

use fastrand::Rng;
use std::fmt::Write as _;

const DEEPEST: usize = 3;

fn pick<'t>(random: &mut Rng, from: &[&'t str]) -> &'t str {
    from[random.usize(..from.len())]
}

/// A class with methods `m0`, `m1` and so on.
pub fn class(number: u64, methods: u64) -> String {
    let mut text = format!(
        "public final class Methods{number} {{
    static int[] shared = new int[8];
    static double[] wide = new double[8];
    static final Object lock = new Object();
    static volatile int v;
    static Methods{number} made = new Methods{number}(null);
    static int seed;
    static int fuel;

    final int[] held;
    int plain;
    long far;

    Methods{number}(int[] held) {{
        this.held = held;
    }}

    static int next() {{
        seed = seed * 1103515245 + 12345;
        return seed >>> 16;
    }}

    static void make(int[] a) {{
        made = new Methods{number}(a);
    }}

    static synchronized int locked(int[] a, int i) {{
        return a[i & 3];
    }}

    private int total() {{
        int sum = 0;
        for (int k = 0; k < held.length; k++) sum += held[k] + (k > 0 ? held[k - 1] : shared[k]);
        return sum;
    }}

    private int sum(int[] a, int i) {{
        int sum = plain;
        for (int k = 0; k < (i & 3); k++) sum += a[k];
        return sum;
    }}
"
    );
    for method in 0..methods {
        let mut random = Rng::with_seed(number << 32 | method);
        let how = pick(
            &mut random,
            &["static", "static", "static", "static synchronized"],
        );
        let _ = writeln!(
            text,
            "    {how} int m{method}(int[] a, int[] b, int[][] g, int n) {{\n        int x = 0;\n        var o = made;"
        );
        block(&mut random, &mut text, 0);
        let _ = writeln!(text, "        return x;\n    }}");
    }
    text.push_str("}\n");
    text
}

/// Runs them all; a line of what was checked for each.
pub fn driver(classes: u64, methods: u64) -> String {
    let mut calls = String::new();
    for class in 0..classes {
        let _ = writeln!(calls, "        run(Methods{class}.class, {methods});");
    }
    format!(
        r#"public final class Driver {{
    static void run(Class<?> methods, int count) throws Exception {{
        for (int m = 0; m < count; m++) {{
            int[][] g = {{new int[5], new int[8], null}};
            int[] a = new int[8];
            int[] b = new int[6];
            var fuel = methods.getDeclaredField("fuel");
            var seed = methods.getDeclaredField("seed");
            var shared = methods.getDeclaredField("shared");
            fuel.setInt(null, 60);
            seed.setInt(null, m);
            shared.set(null, new int[8]);
            var wide = methods.getDeclaredField("wide");
            wide.set(null, new double[8]);
            Photofinish.span = 0;
            Photofinish.seen.clear();
            Photofinish.unfrozen.clear();
            Photofinish.names.clear();
            Object[] all = {{a, b, g, g[0], g[1], shared.get(null), wide.get(null)}};
            for (int i = 0; i < all.length; i++) Photofinish.names.put(all[i], i);
            var made = methods.getDeclaredField("made");
            Photofinish.names.put(made.get(null), all.length);
            String end = "returned";
            try {{
                var method = methods.getDeclaredMethod("m" + m, int[].class, int[].class, int[][].class, int.class);
                end += " " + method.invoke(null, a, b, g, 8);
            }} catch (java.lang.reflect.InvocationTargetException e) {{
                end = e.getCause().toString();
                if (e.getCause() instanceof AssertionError) throw e;
            }}
            System.out.println(methods.getName() + " " + m + " " + end + " " + Photofinish.seen);
        }}
    }}

    public static void main(String[] args) throws Exception {{
{calls}        System.out.println(Photofinish.ranges + " ranges");
    }}
}}

final class Other {{
    static void order() {{
        Photofinish.span++;
    }}
}}
"#
    )
}

fn block(random: &mut Rng, text: &mut String, depth: usize) {
    let most = if depth == 0 { 6 } else { 4 };
    for _ in 0..1 + random.u64(..most) {
        statement(random, text, depth);
    }
}

fn indent(text: &mut String, depth: usize) {
    for _ in 0..depth + 2 {
        text.push_str("    ");
    }
}

fn line(text: &mut String, depth: usize, what: &str) {
    indent(text, depth);
    text.push_str(what);
    text.push('\n');
}

fn array(random: &mut Rng, depth: usize) -> String {
    match random.u64(..8) {
        0 | 1 => "a".to_owned(),
        2 | 3 => "b".to_owned(),
        4 => "shared".to_owned(),
        5 => "wide".to_owned(),
        _ => {
            let moving = index(depth, random.u64(..9));
            format!("g[{}]", pick(random, &["0", "1", "1", "x & 1", &moving]))
        }
    }
}

/// An index; mostly one that moves with the innermost loop.
fn index(depth: usize, which: u64) -> String {
    let i = match depth {
        0 => "x & 3".to_owned(),
        _ => format!("i{}", depth - 1),
    };
    match which {
        0..=2 => i,
        3 => format!("({i}) - 2147483640"),
        4 => format!("({i}) + 1"),
        5 => format!("({i}) * 2"),
        6 => format!("n - 1 - ({i})"),
        7 => "n - 4".to_owned(),
        _ => "x & 7".to_owned(),
    }
}

fn statement(random: &mut Rng, text: &mut String, depth: usize) {
    let kinds = if depth < DEEPEST { 26 } else { 17 };
    let kind = random.u64(..kinds);
    let element = format!(
        "{}[{}]",
        array(random, depth),
        index(depth, random.u64(..9))
    );
    match kind {
        0..=3 => line(text, depth, &format!("x += {element};")),
        4..=7 => line(text, depth, &format!("{element} = x + 1;")),
        8 => line(text, depth, &format!("{element} += x;")),
        9 => {
            let what = pick(
                random,
                &[
                    "Other.order();",
                    "a = b;",
                    "b = shared;",
                    "x += next() & 1;",
                    "g[x & 1] = b;",
                    "x += v;",
                    "v = x;",
                    "make(a);",
                    "if (made.held != null) x += made.held.length;",
                    "x += locked(b, x);",
                    "x += made.sum(a, x);",
                    "if (made.held != null) x += made.total();",
                    "made.plain += x & 1;",
                    "x += o.plain;",
                    "o.plain = x;",
                    "if (next() % 3 == 0) x += o.plain; else o.plain += x;",
                    "o = made;",
                    "o.far = o.plain + 1;",
                    "switch (x & 3) { case 0: x += a[0]; break; case 1: x++; default: b[1] = x; }",
                ],
            );
            line(text, depth, what);
        }
        10 => line(
            text,
            depth,
            &format!("if (next() % 3 == 0) x += {element};"),
        ),
        11 => line(text, depth, &format!("if (next() % 4 == 0) {element} = 7;")),
        12 if depth > 0 => {
            let how = pick(random, &["break;", "continue;", "return x;"]);
            line(text, depth, &format!("if (next() % 5 == 0) {how}"));
        }
        12 | 13 => line(text, depth, &format!("{element} = {element} + 1;")),
        14..=16 if depth > 0 => {
            let next = format!(
                "{}[i{}]",
                pick(random, &["a", "b", "shared", "wide"]),
                depth - 1
            );
            line(
                text,
                depth,
                &format!("x += (int) {next} + (int) {element};"),
            );
        }
        14..=16 => line(text, depth, "x += n;"),
        17 => {
            line(text, depth, "synchronized (lock) {");
            statement(random, text, depth);
            statement(random, text, depth);
            line(text, depth, "}");
        }
        18 => {
            let e = format!("e{}", text.len());
            line(text, depth, "try {");
            statement(random, text, depth);
            statement(random, text, depth);
            line(text, depth, &format!("}} catch (RuntimeException {e}) {{"));
            statement(random, text, depth);
            line(text, depth, "}");
        }
        _ => {
            let i = format!("i{depth}");
            let head = match random.u64(..10) {
                3 => format!("for (int {i} = 2147483640; {i} > 0; {i}++) {{"),
                4 => format!("for (int {i} = n; {i} < n; {i}++) {{"),
                5 => format!(
                    "for (int {i} = x & 3, j{depth} = 7; {i} < j{depth}; {i}++, j{depth}--) {{"
                ),
                6 => format!("for (int {i} = 0; {i} < n; {i} += 1 + (x & 1)) {{"),
                0 => format!("for (int {i} = n - 1; {i} >= 0; {i}--) {{"),
                1 => format!("for (int {i} = 1; {i} < n; {i} += 2) {{"),
                2 => format!("for (int {i} = 0; {i} < 40; {i}++) {{"),
                _ => format!("for (int {i} = 0; {i} < n; {i}++) {{"),
            };
            line(text, depth, &head);
            line(text, depth + 1, "if (--fuel < 0) return x;");
            block(random, text, depth + 1);
            line(text, depth, "}");
        }
    }
}
