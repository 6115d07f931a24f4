//! What the initialiser of a class does, as far as that decides whether a JVM can make another execution of the program with
//! the same classes: the static fields are put back to what they were when the initialiser had ended, with all
//! that it had made, and it does not run again. So it must have changed nothing else, and nobody must see that it does not run.
//!
//! What it reads may be anything: an execution is a single thread until it starts another one, so that what a class finds
//! that is initialised there is the same in every execution. (Whoever uses this has to see to that: [`Initialiser::Own`] is of use
//! before a second thread only.)
//!
//! # What it claims
//! [`Initialiser::Own`]: the initialiser, with all methods that it may call, writes to static fields of its own class and to what it
//! has made itself, and to nothing else; it takes no monitor, starts no thread, writes no output, does not look at
//! clocks. It reasons like this. What the initialiser may write to is what it has references to. They come from what it makes,
//! from the class's own static fields, which hold the same, and from other classes' static fields, of which only those
//! are allowed that hold something immutable, or a constant of an enumeration, whose fields must not be written to then.
//! Methods of the program are followed: of virtual calls all that the classes have of which objects are made there (rapid type analysis:
//! Bacon & Sweeney, OOPSLA 1996). Of the JDK's, those of a list are allowed, which change what they are given and no
//! more. Lambdas are made and not called: what could call them is not on the list.
//!
//! Not complete: whatever is not understood is [`Initialiser::Other`].

use classfile::{ClassFile, Code, Constant, MemberRef, acc, op};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initialiser {
    /// There is none.
    Absent,
    /// It gives values to constants that cannot change. Nobody can tell when it ran.
    Constants,
    /// It changes what is its own.
    Own,
    /// It may do something else: this.
    Other(String),
}

/// Class files by internal name: the program's, and none of the JDK's.
pub type Lookup<'l> = &'l dyn Fn(&str) -> Option<Arc<[u8]>>;

/// Methods that are followed.
const MOST_METHODS: usize = 500;

/// What the initialiser of a class does.
pub fn initialiser(name: &str, classes: Lookup<'_>) -> Initialiser {
    let mut walk = Walk::new(name, classes);
    let about = walk.with_class(name, |class| {
        let has_any = class.method_index("<clinit>", "()V").is_some();
        (has_any, calls_by_reflection(class))
    });
    match about {
        None => return Initialiser::Other("its class file is not known".to_owned()),
        // The JDK counts such calls by the method, and makes a class after some of them.
        Some((_, true)) => return Initialiser::Other("its class calls by reflection".to_owned()),
        Some((false, false)) => return Initialiser::Absent,
        Some((true, false)) => {}
    }
    match walk.all() {
        Err(why) => Initialiser::Other(why),
        Ok(()) if walk.is_constant => Initialiser::Constants,
        Ok(()) => Initialiser::Own,
    }
}

type Method = (String, String, String);

struct Walk<'l> {
    own: &'l str,
    classes: Lookup<'l>,
    bytes: BTreeMap<String, Option<Arc<[u8]>>>,
    seen: BTreeSet<Method>,
    todo: Vec<Method>,
    /// Classes of the program of which objects are made.
    made: BTreeSet<String>,
    /// Names and descriptors of virtual calls.
    called: BTreeSet<(String, String)>,
    /// Enumerations of which constants are read.
    read: BTreeSet<String>,
    /// Classes whose fields are written.
    written: BTreeSet<String>,
    is_constant: bool,
}

/// What the JDK's collections call on what they hold.
const CALLED_BACK: &[(&str, &str)] = &[
    ("equals", "(Ljava/lang/Object;)Z"),
    ("hashCode", "()I"),
    ("toString", "()Ljava/lang/String;"),
    ("compareTo", "(Ljava/lang/Object;)I"),
];

impl<'l> Walk<'l> {
    fn new(own: &'l str, classes: Lookup<'l>) -> Walk<'l> {
        let back = { CALLED_BACK.iter() }.map(|(name, desc)| (name.to_string(), desc.to_string()));
        Walk {
            own,
            classes,
            bytes: BTreeMap::new(),
            seen: BTreeSet::new(),
            todo: vec![(own.to_owned(), "<clinit>".into(), "()V".into())],
            made: BTreeSet::new(),
            called: back.collect(),
            read: BTreeSet::new(),
            written: BTreeSet::new(),
            is_constant: true,
        }
    }

    fn file(&mut self, name: &str) -> Option<Arc<[u8]>> {
        if let Some(known) = self.bytes.get(name) {
            return known.clone();
        }
        let found = (self.classes)(name);
        self.bytes.insert(name.to_owned(), found.clone());
        found
    }

    fn with_class<T>(&mut self, name: &str, f: impl FnOnce(&ClassFile<'_>) -> T) -> Option<T> {
        let bytes = self.file(name)?;
        ClassFile::parse(&bytes).ok().map(|class| f(&class))
    }

    /// Follows everything that may be called.
    fn all(&mut self) -> Result<(), String> {
        loop {
            while let Some(method) = self.todo.pop() {
                if self.seen.len() >= MOST_METHODS {
                    return Err("it calls too many methods".into());
                }
                if self.seen.insert(method.clone()) {
                    self.method(&method)?;
                }
            }
            let known = self.seen.len();
            let read: Vec<String> = self.read.iter().cloned().collect();
            let mut receivers: Vec<String> = self.made.iter().chain(&read).cloned().collect();
            for read in &read {
                receivers.extend(self.bodies(read));
            }
            for (name, desc) in self.called.clone() {
                for class in &receivers {
                    if let Some(at) = self.resolve(class, &name, &desc) {
                        self.todo.push((at, name.clone(), desc.clone()));
                    }
                }
            }
            self.todo.retain(|method| !self.seen.contains(method));
            if self.todo.is_empty() && self.seen.len() == known {
                break;
            }
        }
        let changed = |read: &&String| {
            let inner = format!("{read}$");
            { self.written.iter() }.any(|w| w == *read || w.starts_with(&inner))
        };
        match self.read.iter().find(changed) {
            Some(read) => Err(format!("it may change a constant of {}", shown(read))),
            None => Ok(()),
        }
    }

    /// The classes of an enumeration's constants that have code of their own.
    fn bodies(&mut self, enumeration: &str) -> Vec<String> {
        let made = self.with_class(enumeration, |class| {
            let index = class.method_index("<clinit>", "()V")?;
            let code = Code::decode(class, index).ok()??;
            let news = code.insns.iter().filter(|insn| insn.op == op::NEW);
            let names = news.filter_map(|insn| class.pool.class_name(insn.cp()?));
            Some(names.map(|name| name.into_owned()).collect::<Vec<_>>())
        });
        let mut made = made.flatten().unwrap_or_default();
        made.retain(|name| {
            let above = self.with_class(name, |class| class.super_name().map(|s| s.into_owned()));
            above.flatten().is_some_and(|above| above == enumeration)
        });
        made
    }

    /// Whether a call is of the method that gives a new array with all constants of an enumeration.
    fn is_values(&mut self, class: &str, name: &str, desc: &str) -> bool {
        let is_enum = self.with_class(class, |c| c.access & acc::ENUM != 0) == Some(true);
        is_enum && name == "values" && *desc == *format!("()[L{class};")
    }

    /// The class of the program, that or one it is derived from, which has code for the method.
    fn resolve(&mut self, class: &str, name: &str, desc: &str) -> Option<String> {
        let mut todo = vec![class.to_owned()];
        let mut seen = BTreeSet::new();
        while let Some(class) = todo.pop() {
            if !seen.insert(class.clone()) {
                continue;
            }
            let (has, above) = self.with_class(&class, |c| {
                let index = c.method_index(name, desc);
                let has = index.is_some_and(|i| !c.methods[i].is(acc::ABSTRACT));
                let interfaces = c.interfaces().map(|i| i.into_owned());
                let above = interfaces.chain(c.super_name().map(|s| s.into_owned()));
                (has, above.collect::<Vec<_>>())
            })?;
            if has {
                return Some(class);
            }
            // The superclass is asked first: it is pushed last.
            todo.extend(above.into_iter().filter(|name| !is_jdk(name)));
        }
        None
    }

    fn method(&mut self, (class, name, desc): &Method) -> Result<(), String> {
        let bytes = self.file(class);
        let bytes =
            bytes.ok_or_else(|| format!("it needs {}, which is not loaded", shown(class)))?;
        let at = || format!("{}.{name}", shown(class));
        let unclear = |_| format!("{} cannot be read", at());
        let file = ClassFile::parse(&bytes).map_err(unclear)?;
        let index = file.method_index(name, desc);
        let index = index.ok_or_else(|| format!("{} is not there", at()))?;
        if file.methods[index].access & acc::SYNCHRONIZED != 0 {
            return Err(format!("{} is synchronized", at()));
        }
        let code = Code::decode(&file, index).map_err(unclear)?;
        let code = code.ok_or_else(|| format!("{} has no bytecode", at()))?;
        for insn in &code.insns {
            self.instruction(&file, insn)
                .map_err(|what| format!("{} {what}", at()))?;
        }
        Ok(())
    }

    fn instruction(&mut self, file: &ClassFile<'_>, insn: &classfile::Insn) -> Result<(), String> {
        let member = || insn.cp().and_then(|cp| file.pool.member_ref(cp));
        let unclear = || "has an instruction that is not understood".to_owned();
        match insn.op {
            op::GETSTATIC => self.reads(&member().ok_or_else(unclear)?),
            op::PUTSTATIC => self.puts(&member().ok_or_else(unclear)?),
            op::PUTFIELD => {
                let member = member().ok_or_else(unclear)?;
                self.written.insert(member.class.into_owned());
                Ok(())
            }
            op::NEW => {
                self.is_constant = false;
                let class = insn.cp().and_then(|cp| file.pool.class_name(cp));
                let class = class.ok_or_else(unclear)?;
                if !is_jdk(&class) {
                    self.made.insert(class.into_owned());
                }
                Ok(())
            }
            op::NEWARRAY | op::ANEWARRAY | op::MULTIANEWARRAY => {
                self.is_constant = false;
                Ok(())
            }
            op::INVOKEVIRTUAL | op::INVOKESPECIAL | op::INVOKESTATIC | op::INVOKEINTERFACE => {
                self.calls(insn.op, &member().ok_or_else(unclear)?)
            }
            op::INVOKEDYNAMIC => {
                self.is_constant = false;
                match makes_lambdas_only(file) {
                    true => Ok(()),
                    false => Err("makes something dynamically".into()),
                }
            }
            op::LDC | op::LDC_W | op::LDC2_W => match insn.cp().and_then(|cp| file.pool.get(cp)) {
                Some(Constant::Dynamic { .. }) | None => Err("makes something dynamically".into()),
                Some(_) => Ok(()),
            },
            op::MONITORENTER | op::MONITOREXIT => Err("takes a monitor".into()),
            op::JSR | op::JSR_W | op::RET => Err(unclear()),
            _ => Ok(()),
        }
    }

    /// How the class itself declares the field, if it does.
    fn declared(&mut self, member: &MemberRef<'_>) -> Option<u16> {
        self.with_class(&member.class, |class| {
            class.field(&member.name, &member.desc).map(|f| f.access)
        })?
    }

    fn reads(&mut self, member: &MemberRef<'_>) -> Result<(), String> {
        let is_own = member.class == self.own && self.declared(member).is_some();
        if is_own || is_jdk(&member.class) || is_immutable(&member.desc) {
            return Ok(());
        }
        let constant = self.declared(member);
        let is_constant = constant.is_some_and(|access| access & acc::ENUM != 0);
        if is_constant && *member.desc == *format!("L{};", member.class) {
            self.read.insert(member.class.clone().into_owned());
            return Ok(());
        }
        let (class, name) = (shown(&member.class), &member.name);
        Err(format!("uses what is in {class}.{name}"))
    }

    fn puts(&mut self, member: &MemberRef<'_>) -> Result<(), String> {
        let declared = self.declared(member);
        let Some(access) = declared.filter(|_| member.class == self.own) else {
            let (class, name) = (shown(&member.class), &member.name);
            return Err(format!("writes {class}.{name}"));
        };
        self.is_constant &= access & acc::FINAL != 0 && is_immutable(&member.desc);
        Ok(())
    }

    fn calls(&mut self, op: u8, member: &MemberRef<'_>) -> Result<(), String> {
        let (class, name, desc) = (&*member.class, &*member.name, &*member.desc);
        if is_jdk(class) || class.starts_with('[') {
            if !is_harmless(class, name, desc) {
                return Err(format!("calls {}.{name}", shown(class)));
            }
            // It may be the program's, which implements or overrides it.
            if matches!(op, op::INVOKEVIRTUAL | op::INVOKEINTERFACE) {
                self.called.insert((name.to_owned(), desc.to_owned()));
            }
            return Ok(());
        }
        self.is_constant = false;
        if op == op::INVOKESTATIC && class != self.own && self.is_values(class, name, desc) {
            self.read.insert(class.to_owned());
            return Ok(());
        }
        match op {
            op::INVOKESTATIC | op::INVOKESPECIAL => {
                match self.resolve(class, name, desc) {
                    Some(at) => self.todo.push((at, name.to_owned(), desc.to_owned())),
                    // Of an enumeration, for example: ordinal.
                    None => return self.inherited(class, name, desc),
                }
            }
            _ => {
                if self.resolve(class, name, desc).is_none() {
                    self.inherited(class, name, desc)?;
                }
                self.called.insert((name.to_owned(), desc.to_owned()));
            }
        }
        Ok(())
    }

    /// A method that the class has from the JDK, or that only classes derived from it have.
    fn inherited(&mut self, class: &str, name: &str, desc: &str) -> Result<(), String> {
        let mut above = class.to_owned();
        loop {
            let next = self.with_class(&above, |c| {
                let is_declared = c.method_index(name, desc).is_some();
                (is_declared, c.super_name().map(|s| s.into_owned()))
            });
            match next {
                None => return Err(format!("needs {}, which is not loaded", shown(&above))),
                Some((true, _)) => return Ok(()), // abstract: those that have it are followed
                Some((false, Some(up))) if is_jdk(&up) => {
                    return match is_harmless(&up, name, desc) || up == "java/lang/Object" {
                        true => Ok(()),
                        false => Err(format!("calls {}.{name}", shown(&up))),
                    };
                }
                Some((false, Some(up))) => above = up,
                Some((false, None)) => return Ok(()),
            }
        }
    }
}

fn calls_by_reflection(file: &ClassFile<'_>) -> bool {
    const BY: &[(&str, &str)] = &[
        ("java/lang/reflect/Method", "invoke"),
        ("java/lang/reflect/Constructor", "newInstance"),
        ("java/lang/Class", "newInstance"),
    ];
    let calls = |index: u16| {
        let member = file.pool.member_ref(index);
        member.is_some_and(|m| BY.contains(&(&*m.class, &*m.name)))
    };
    (1..file.pool.len() as u16).any(calls)
}

/// Whether all that the class makes dynamically are lambdas and concatenations of strings.
fn makes_lambdas_only(file: &ClassFile<'_>) -> bool {
    const BY: &[&str] = &[
        "java/lang/invoke/LambdaMetafactory",
        "java/lang/invoke/StringConcatFactory",
    ];
    let Some(table) = file.attribute("BootstrapMethods") else {
        return false;
    };
    let word = |at: usize| {
        let bytes = table.get(at..at + 2)?;
        Some(u16::from_be_bytes([bytes[0], bytes[1]]))
    };
    let is_known = |method: u16| {
        let Some(Constant::MethodHandle { reference, .. }) = file.pool.get(method) else {
            return false;
        };
        let member = file.pool.member_ref(reference);
        member.is_some_and(|member| BY.contains(&&*member.class))
    };
    let mut at = 2;
    for _ in 0..word(0).unwrap_or(0) {
        let (Some(method), Some(arguments)) = (word(at), word(at + 2)) else {
            return false;
        };
        if !is_known(method) {
            return false;
        }
        at += 4 + 2 * usize::from(arguments);
    }
    true
}

fn shown(class: &str) -> String {
    class.replace('/', ".")
}

fn is_jdk(class: &str) -> bool {
    classfile::is_jdk_name(class)
}

/// Whether what a variable of this type holds cannot change.
fn is_immutable(desc: &str) -> bool {
    const CLASSES: &[&str] = &[
        "Ljava/lang/String;",
        "Ljava/lang/Integer;",
        "Ljava/lang/Long;",
        "Ljava/lang/Boolean;",
        "Ljava/lang/Character;",
        "Ljava/lang/Double;",
        "Ljava/lang/Float;",
        "Ljava/lang/Short;",
        "Ljava/lang/Byte;",
        "Ljava/lang/Class;",
        "Ljava/math/BigInteger;",
        "Ljava/math/BigDecimal;",
    ];
    !desc.starts_with(['L', '[']) || CLASSES.contains(&desc)
}

/// Classes of the JDK whose methods change what they are called on and given, and nothing else.
const HARMLESS: &[&str] = &[
    "java/lang/AbstractStringBuilder",
    "java/lang/Boolean",
    "java/lang/Byte",
    "java/lang/CharSequence",
    "java/lang/Character",
    "java/lang/Comparable",
    "java/lang/Double",
    "java/lang/Enum",
    "java/lang/Float",
    "java/lang/Integer",
    "java/lang/Iterable",
    "java/lang/Long",
    "java/lang/Number",
    "java/lang/Record",
    "java/lang/Short",
    "java/lang/StrictMath",
    "java/lang/String",
    "java/lang/StringBuffer",
    "java/lang/StringBuilder",
    "java/math/BigDecimal",
    "java/math/BigInteger",
    "java/util/AbstractMap$SimpleEntry",
    "java/util/ArrayDeque",
    "java/util/ArrayList",
    "java/util/Arrays",
    "java/util/BitSet",
    "java/util/Collection",
    "java/util/Deque",
    "java/util/HashMap",
    "java/util/HashSet",
    "java/util/Hashtable",
    "java/util/Iterator",
    "java/util/LinkedHashMap",
    "java/util/LinkedHashSet",
    "java/util/LinkedList",
    "java/util/List",
    "java/util/Map",
    "java/util/Map$Entry",
    "java/util/Objects",
    "java/util/Optional",
    "java/util/PriorityQueue",
    "java/util/Queue",
    "java/util/Set",
    "java/util/SortedMap",
    "java/util/Stack",
    "java/util/TreeMap",
    "java/util/TreeSet",
    "java/util/Vector",
    "java/util/concurrent/ConcurrentHashMap",
    "java/util/concurrent/ConcurrentLinkedDeque",
    "java/util/concurrent/ConcurrentLinkedQueue",
    "java/util/concurrent/CopyOnWriteArrayList",
    "java/util/concurrent/CopyOnWriteArraySet",
    "java/util/concurrent/atomic/AtomicBoolean",
    "java/util/concurrent/atomic/AtomicInteger",
    "java/util/concurrent/atomic/AtomicIntegerArray",
    "java/util/concurrent/atomic/AtomicLong",
    "java/util/concurrent/atomic/AtomicLongArray",
    "java/util/concurrent/atomic/AtomicReference",
    "java/util/concurrent/atomic/AtomicReferenceArray",
];

/// Further methods of others.
const HARMLESS_METHODS: &[(&str, &str)] = &[
    ("java/lang/Class", "desiredAssertionStatus"),
    ("java/lang/Class", "getName"),
    ("java/lang/Class", "getSimpleName"),
    ("java/lang/Math", "abs"),
    ("java/lang/Math", "max"),
    ("java/lang/Math", "min"),
    ("java/lang/Object", "<init>"),
    ("java/lang/invoke/MethodHandles", "arrayElementVarHandle"),
    ("java/lang/invoke/MethodHandles", "lookup"),
    (
        "java/lang/invoke/MethodHandles$Lookup",
        "findStaticVarHandle",
    ),
    ("java/lang/invoke/MethodHandles$Lookup", "findVarHandle"),
    ("java/lang/Object", "clone"),
    ("java/lang/Object", "getClass"),
    ("java/lang/System", "arraycopy"),
    ("java/util/Collections", "emptyList"),
    ("java/util/Collections", "emptyMap"),
    ("java/util/Collections", "emptySet"),
    ("java/util/Collections", "newSetFromMap"),
    ("java/util/Collections", "synchronizedCollection"),
    ("java/util/Collections", "synchronizedList"),
    ("java/util/Collections", "synchronizedMap"),
    ("java/util/Collections", "synchronizedSet"),
    ("java/util/Collections", "unmodifiableCollection"),
    ("java/util/Collections", "unmodifiableList"),
    ("java/util/Collections", "unmodifiableMap"),
    ("java/util/Collections", "unmodifiableSet"),
    ("java/util/concurrent/ArrayBlockingQueue", "<init>"),
    (
        "java/util/concurrent/atomic/AtomicIntegerFieldUpdater",
        "newUpdater",
    ),
    (
        "java/util/concurrent/atomic/AtomicLongFieldUpdater",
        "newUpdater",
    ),
    (
        "java/util/concurrent/atomic/AtomicReferenceFieldUpdater",
        "newUpdater",
    ),
    ("java/util/concurrent/CountDownLatch", "<init>"),
    ("java/util/concurrent/CyclicBarrier", "<init>"),
    ("java/util/concurrent/LinkedBlockingDeque", "<init>"),
    ("java/util/concurrent/LinkedBlockingQueue", "<init>"),
    ("java/util/concurrent/PriorityBlockingQueue", "<init>"),
    ("java/util/concurrent/Semaphore", "<init>"),
    ("java/util/concurrent/locks/Lock", "newCondition"),
    ("java/util/concurrent/locks/ReentrantLock", "<init>"),
    ("java/util/concurrent/locks/ReentrantLock", "newCondition"),
];

/// Types of parameters through which the JDK calls the program, now or later.
const CALLING: &[&str] = &[
    "Ljava/util/function/",
    "Ljava/util/Comparator;",
    "Ljava/lang/Runnable;",
    "Ljava/util/concurrent/Callable;",
    "Ljava/lang/Thread;",
];

fn is_harmless(class: &str, name: &str, desc: &str) -> bool {
    if class.starts_with('[') {
        return name == "clone";
    }
    let parameters = desc.split(')').next().unwrap_or(desc);
    let is_listed = HARMLESS.contains(&class) || HARMLESS_METHODS.contains(&(class, name));
    let is_seeded = (class, name, desc) == ("java/util/Random", "<init>", "(J)V");
    // It ends the initialiser, if it is thrown, and that is noticed.
    let is_thrown = name == "<init>"
        && class.starts_with("java/lang/")
        && (class.ends_with("Exception") || class.ends_with("Error"));
    // Whoever waits does not wait alone.
    let waits = matches!(name, "wait" | "notify" | "notifyAll");
    let calls = CALLING.iter().any(|calling| parameters.contains(calling));
    // Identity hashes are numbers that the JVM gives out in order.
    is_seeded || is_thrown || (is_listed && !waits && !calls && !matches!(name, "hash" | "intern"))
}
