//! A class in the place of the program's main class: its main method hands itself
//! and its arguments to the worker. So the JVM's launcher works out what the
//! command line means.

const UTF8: u8 = 1;
const CLASS: u8 = 7;
const METHOD: u8 = 10;
const NAME_AND_TYPE: u8 = 12;

fn utf8(out: &mut Vec<u8>, text: &str) {
    out.push(UTF8);
    out.extend((text.len() as u16).to_be_bytes());
    out.extend(text.as_bytes());
}

fn entry(out: &mut Vec<u8>, tag: u8, parts: &[u16]) {
    out.push(tag);
    for part in parts {
        out.extend(part.to_be_bytes());
    }
}

/// The class file; `name` is the class's internal name.
pub fn class(name: &str) -> Vec<u8> {
    let mut out = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 55];
    out.extend(14u16.to_be_bytes());
    utf8(&mut out, name); // 1
    entry(&mut out, CLASS, &[1]);
    utf8(&mut out, "java/lang/Object"); // 3
    entry(&mut out, CLASS, &[3]);
    utf8(&mut out, "main"); // 5
    utf8(&mut out, "([Ljava/lang/String;)V");
    utf8(&mut out, "Code"); // 7
    utf8(&mut out, "java/lang/PhotofinishWorker");
    entry(&mut out, CLASS, &[8]); // 9
    utf8(&mut out, "serve");
    utf8(&mut out, "(Ljava/lang/Class;[Ljava/lang/String;)V"); // 11
    entry(&mut out, NAME_AND_TYPE, &[10, 11]);
    entry(&mut out, METHOD, &[9, 12]); // 13
    // public super; this, super; no interfaces, no fields, one method
    for n in [0x21u16, 2, 4, 0, 0, 1] {
        out.extend(n.to_be_bytes());
    }
    // public static main, with one attribute
    for n in [0x9u16, 5, 6, 1, 7] {
        out.extend(n.to_be_bytes());
    }
    let code = [0x12, 2, 0x2a, 0xb8, 0, 13, 0xb1]; // ldc, aload_0, invokestatic, return
    out.extend((12 + code.len() as u32).to_be_bytes());
    for n in [2u16, 1] {
        out.extend(n.to_be_bytes());
    }
    out.extend((code.len() as u32).to_be_bytes());
    out.extend(code);
    // no handlers, no attributes of the code, none of the class
    out.extend([0; 6]);
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_a_class_file() {
        let bytes = super::class("com/shop/Main");
        let class = classfile::ClassFile::parse(&bytes).unwrap();
        assert_eq!(class.name(), "com/shop/Main");
    }
}
