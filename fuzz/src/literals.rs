//! Generates kernels of unsuffixed literals, whose types only rustc can infer: from a function's parameter, from a method's impl, or from a
//! later use. rustc compiles them, and the oracle is the user's own function.
//!
//! Most literal expressions give a different number in any other type than the right one.

use std::fmt::Write as _;

use sarek::testing::Random;

use crate::case::{Case, Launch, Shape};

/// The items before each kernel. `U` is replaced by the type of the literals.
const ITEMS: &str = "\
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Two<T> { pub a: T, pub b: T }

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Wrap<T>(pub T, pub T);

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Deep<T> { pub two: Two<T>, pub k: T }

#[derive(Clone, Copy, KernelType)]
#[repr(C, u32)]
pub enum Pick<T> { One(T), Both { a: T, b: T } }

#[device]
impl Wrap<U> {
    pub fn inner(self) -> U { self.0 - self.1 }
    pub fn with(&self, by: U, and: Two<U>) -> U { self.0 - self.1 - by + and.b }
}

#[device]
impl<T: Num> Two<T> {
    pub fn first(self) -> T { self.a }
    pub fn swapped(self) -> Two<T> { Two { a: self.b, b: self.a } }
}

#[device]
pub fn take(x: U) -> U { x }

#[device]
pub fn two(of: Two<U>) -> U { of.a - of.b }

#[device]
pub fn deep(of: Deep<U>) -> U { of.two.a - of.two.b + of.k }

#[device]
pub fn pick(of: Pick<U>) -> U { match of { Pick::One(a) => a, Pick::Both { a, b } => a - b } }

#[device]
pub fn same<T: Num>(x: T) -> T { x }

#[device]
pub fn mix<T: Num>(a: T, of: Two<T>) -> T { a + of.a - of.b }

#[device]
pub fn pair(of: (U, u32)) -> U { of.0 }

#[device]
pub fn nested(of: (u32, (U, U))) -> U { of.1.0 - of.1.1 }

#[device]
pub fn some(of: Option<U>) -> U { match of { Some(x) => x, None => take(7 as U) } }

#[device]
pub fn done(of: Result<U, u32>) -> U { match of { Ok(x) => x, Err(_) => take(8 as U) } }

#[device]
pub fn array(of: [U; 3]) -> U { of[0] - of[1] + of[2] }

#[device]
pub fn rows(of: [(u32, U); 2]) -> U { of[0].1 - of[1].1 }

#[device]
pub fn any<const N: usize>(of: [U; N]) -> U { of[N - 1] }

#[device]
pub fn apply(f: impl Fn(U) -> U, x: U) -> U { f(x) }

#[device]
pub fn made() -> Two<U> { Two { a: 9 as U, b: 2 as U } }

";

/// The types that the literals of a kernel may have.
const TYPES: [&str; 7] = ["u64", "i64", "u32", "i32", "u16", "f32", "f64"];

/// The kernel of a seed.
pub fn case(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let ty = TYPES[random.below(TYPES.len() as u64) as usize];
    let mut gen_ = Gen {
        random,
        ty,
        names: 0,
        before: String::new(),
    };
    let mut function =
        format!("pub fn k(x: &[u32], y: &mut [{ty}]) {{\n    let i = global_idx_x();\n");
    for at in 0..8 {
        let value = gen_.value(3);
        let before = std::mem::take(&mut gen_.before);
        let _ = writeln!(function, "{before}    y[8 * i + {at}] = {value};");
    }
    function += "}\n";
    Case {
        items: replaced(ITEMS, ty),
        options: String::new(),
        function,
        launch: Launch {
            seed,
            shape: Shape::Over([2, 1, 1]),
            scalars: vec![],
            lens: vec![2, 16],
            views: vec![],
            items: vec![],
            generics: vec![],
            host: false,
        },
    }
}

/// Replaces the word `U` in the text by a type's name.
fn replaced(text: &str, ty: &str) -> String {
    let mut words = String::new();
    let mut last = ' ';
    let chars: Vec<char> = text.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let next = chars.get(at + 1).copied().unwrap_or(' ');
        let is_word = *c == 'U' && !last.is_alphanumeric() && !next.is_alphanumeric();
        match is_word {
            true => words += ty,
            false => words.push(*c),
        }
        last = *c;
    }
    words
}

struct Gen {
    random: Random,
    ty: &'static str,
    names: usize,
    /// The statements to insert before the current one.
    before: String,
}

impl Gen {
    fn below(&mut self, n: u64) -> u64 {
        self.random.below(n)
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// A literal, or an operation on literals, that has a different value in another type.
    fn literal(&mut self) -> String {
        let all: &[&str] = match self.ty {
            "u64" => &[
                "70_000 * 70_000",
                "1 << 40",
                "5",
                "!0 >> 1",
                "12_345_678_901",
                "(3 - 2) << 35",
                "!1 / 3",
            ],
            "i64" => &[
                "-70_000 * 70_000",
                "1 << 40",
                "-5",
                "-12_345_678_901 / 7",
                "-(1 << 36)",
                "!0 << 33",
            ],
            "u32" => &[
                "3_000_000_000 / 7",
                "!0 >> 1",
                "5",
                "70_000 * 70_000",
                "!0 / 3",
                "0xFFFF_FFFF % 10",
            ],
            "i32" => &[
                "70_000 * 70_000",
                "-7 / 2",
                "5",
                "!0 >> 1",
                "-9 % 4",
                "-100_000 * 50_000",
            ],
            "u16" => &[
                "60_000 / 7",
                "!0 >> 1",
                "5",
                "300 * 300",
                "!0 / 3",
                "65_535 % 100",
            ],
            // Exact in both types and in any order of additions. A wrong type is found at linking instead.
            _ => &["0.25 + 0.5", "-2.0 / 4.0", "1.5", "3.0 * 0.125", "-0.75"],
        };
        let at = self.below(all.len() as u64) as usize;
        match self.below(4) {
            0 => format!("{{ {} }}", all[at]),
            1 => format!("({})", all[at]),
            _ => all[at].to_owned(),
        }
    }

    /// An expression whose type follows from its context.
    fn open(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.literal();
        }
        let depth = depth - 1;
        match self.below(12) {
            0 => format!("same({})", self.open(depth)),
            1 => {
                let (a, of) = (self.open(depth), self.record(depth));
                format!("mix({a}, {of})")
            }
            2 => format!("{}.a", self.record(depth)),
            3 => {
                let (name, value) = (self.name(), self.open(depth));
                let _ = writeln!(self.before, "    let {name} = {value};");
                name
            }
            4 => {
                let (f, add, value) = (self.name(), self.literal(), self.open(depth));
                let ty = self.ty;
                let _ = writeln!(self.before, "    let {f} = |v: {ty}| v + ({add});");
                format!("{f}({value})")
            }
            5 => {
                let (f, value) = (self.name(), self.literal());
                let _ = writeln!(self.before, "    let {f} = |_v: u32| {value};");
                format!("{f}(x[i])")
            }
            6 => {
                let (a, b) = (self.open(depth), self.open(depth));
                format!("(if x[i] & 1 == 0 {{ {a} }} else {{ {b} }})")
            }
            7 => {
                let (p, q, a, b) = (self.name(), self.name(), self.open(depth), self.literal());
                let _ = writeln!(self.before, "    let ({p}, {q}) = ({a}, {b});");
                format!("({p} + {q})")
            }
            8 => {
                let (a, b, k) = (self.open(depth), self.literal(), self.below(2));
                format!("[{a}, {b}][{k}]")
            }
            9 => format!(
                "(match x[i] & 3 {{ 0 => {}, 1 | 2 => {}, _ => {} }})",
                self.literal(),
                self.open(depth),
                self.literal()
            ),
            _ => self.literal(),
        }
    }

    /// A generic struct whose type argument follows from its context.
    fn record(&mut self, depth: u32) -> String {
        let (a, b) = (self.open(depth.saturating_sub(1)), self.literal());
        let made = format!("Two {{ a: {a}, b: {b} }}");
        match self.below(6) {
            0 => {
                let name = self.name();
                let _ = writeln!(self.before, "    let {name} = {made};");
                name
            }
            1 => {
                let (name, value) = (self.name(), self.literal());
                let _ = writeln!(
                    self.before,
                    "    let mut {name} = {made};\n    {name}.b = {value};"
                );
                name
            }
            2 => {
                let base = self.name();
                let _ = writeln!(self.before, "    let {base} = {made};");
                format!("(Two {{ a: {}, ..{base} }})", self.literal())
            }
            3 => format!("({made}).swapped()"),
            _ => format!("({made})"),
        }
    }

    /// An expression of the literals' type, which only the signature of a callee determines.
    fn value(&mut self, depth: u32) -> String {
        let which = self.below(19);
        if let 1 | 2 | 17 = which {
            let record = self.record(depth);
            return match which {
                1 => format!("two({record})"),
                2 => format!("two({{ {record} }})"),
                _ => format!("({record}).first()"),
            };
        }
        let (a, b) = (self.open(depth), self.literal());
        match which {
            0 => format!("take({a})"),
            3 => format!("Wrap({a}, {b}).inner()"),
            4 => {
                let (by, and) = (self.literal(), self.record(1));
                format!("Wrap({a}, {b}).with({by}, {and})")
            }
            5 => format!(
                "deep(Deep {{ two: Two {{ a: {a}, b: {b} }}, k: {} }})",
                self.literal()
            ),
            6 => format!("pick(Pick::Both {{ a: {a}, b: {b} }})"),
            7 => format!("pick(Pick::One({a}))"),
            8 => format!("pair(({a}, {}))", self.below(9)),
            9 => format!("nested(({}, ({a}, {b})))", self.below(9)),
            10 => format!("some(Some({a}))"),
            11 => format!("done(Ok({a}))"),
            12 => format!("array([{a}, {b}, {}])", self.literal()),
            13 => format!("rows([(1, {a}), (2, {b})])"),
            14 => format!("any([{a}, {b}])"),
            15 => format!("apply(|v| v + ({b}), {a})"),
            16 => {
                let name = self.name();
                let _ = writeln!(
                    self.before,
                    "    let mut {name} = Two {{ a: {a}, b: {b} }};\n    if x[i] & 1 == 0 {{ {name} = made(); }}"
                );
                format!("({name}.a - {name}.b)")
            }
            _ => {
                let (s, n) = (self.name(), 1 + self.below(4));
                let _ = writeln!(
                    self.before,
                    "    let mut {s} = {b};\n    for _ in 0..{n} {{ {s} = {s} + {s}; }}"
                );
                format!("array([{s}, {a}, {s}])")
            }
        }
    }
}
