//! Lines that a kernel prints: templates with the formats of Rust.
//!
//! A device brings the values of the arguments to the host, which puts them into the template ([`Print::text`]), so
//! that a line is the same wherever it was printed. Compiled bodies print by Rust's own macro. Values of several parts are put
//! together again by code of the user's crate, which knows their types, and formatted by those types' own traits.

mod format;

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::{List, Scalar, Value};

/// So many scalars are in a printed value at the most: each of them is statements of the kernel.
pub const MAX_SCALARS: u64 = 1024;

/// One `println!` or `print!`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Print {
    /// Text and arguments, in order; the end of the line among it.
    pub pieces: Cow<'static, [PrintPiece]>,
    /// The arguments, each once.
    pub args: List,
    /// Who makes the text.
    pub printer: Printer,
}

/// Who makes the text of a [`Print`] out of the values of its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Printer {
    /// [`Print::pieces`] say all: the arguments are scalars.
    Pieces,
    /// One of [`crate::link::Links::printers`]: some arguments are of types that the user's crate knows.
    Link(u32),
    /// That one, in a linked kernel, whose arguments are the scalars of the values, depth first: of an array each element, of an
    /// enum the tag and the fields of all variants.
    Host(HostPrinter),
}

/// A function of the user's crate that makes the text of a print; `None` if a value is none of its type, as that of a thread
/// that has faulted may be.
#[derive(Clone, Copy, Debug)]
pub struct HostPrinter(pub fn(&[Value]) -> Option<String>);

impl PartialEq for HostPrinter {
    fn eq(&self, other: &HostPrinter) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

impl Eq for HostPrinter {}

impl Hash for HostPrinter {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0 as usize).hash(state);
    }
}

/// A piece of what is printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PrintPiece {
    /// Text.
    Text(Cow<'static, str>),
    /// An argument.
    #[allow(missing_docs)]
    Arg { index: u32, format: Format },
}

/// How an argument is written: what stands behind the `:` in Rust.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// What fills the width.
    pub fill: char,
    /// Where the text stands in the width.
    pub align: Option<Align>,
    /// `+`
    pub plus: bool,
    /// `#`
    pub alternate: bool,
    /// `0`: zeros between sign and digits.
    pub zero: bool,
    /// The least number of characters.
    pub width: Option<u16>,
    /// Digits behind the point; of a `bool`, the most characters.
    pub precision: Option<u16>,
    /// In which notation.
    pub notation: Notation,
}

/// Where a text stands in its width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Align {
    Left,
    Center,
    Right,
}

/// The trait by which Rust writes a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notation {
    /// `{}`
    Display,
    /// `{:?}`
    Debug,
    /// `{:x}`
    LowerHex,
    /// `{:X}`
    UpperHex,
    /// `{:o}`
    Octal,
    /// `{:b}`
    Binary,
    /// `{:e}`
    LowerExp,
    /// `{:E}`
    UpperExp,
}

impl Notation {
    /// All of them with what stands for them in a format.
    pub const ALL: [(&'static str, Notation); 8] = [
        ("", Notation::Display),
        ("?", Notation::Debug),
        ("x", Notation::LowerHex),
        ("X", Notation::UpperHex),
        ("o", Notation::Octal),
        ("b", Notation::Binary),
        ("e", Notation::LowerExp),
        ("E", Notation::UpperExp),
    ];

    /// What stands for it in a format.
    pub fn symbol(self) -> &'static str {
        let found = Notation::ALL.into_iter().find(|(_, n)| *n == self);
        found.expect("every notation stands in Notation::ALL").0
    }
}

impl Format {
    /// `{}`
    pub const PLAIN: Format = Format {
        fill: ' ',
        align: None,
        plus: false,
        alternate: false,
        zero: false,
        width: None,
        precision: None,
        notation: Notation::Display,
    };

    /// Reads what stands behind the `:`. `None` if it is no format with numbers only.
    pub fn parse(text: &str) -> Option<Format> {
        let mut format = Format::PLAIN;
        let align = |c: char| match c {
            '<' => Some(Align::Left),
            '^' => Some(Align::Center),
            '>' => Some(Align::Right),
            _ => None,
        };
        let mut chars = text.chars();
        let (first, second) = (chars.next(), chars.next());
        let mut rest = text;
        if let (Some(fill), Some(found)) = (first, second.and_then(align)) {
            (format.fill, format.align) = (fill, Some(found));
            rest = &text[fill.len_utf8() + 1..];
        } else if let Some(found) = first.and_then(align) {
            format.align = Some(found);
            rest = &text[1..];
        }
        let mut flag = |symbol: char| match rest.strip_prefix(symbol) {
            Some(after) => {
                rest = after;
                true
            }
            None => false,
        };
        (format.plus, format.alternate, format.zero) = (flag('+'), flag('#'), flag('0'));
        let number = |text: &mut &str| -> Option<u16> {
            let end = text.find(|c: char| !c.is_ascii_digit());
            let (digits, after) = text.split_at(end.unwrap_or(text.len()));
            *text = after;
            digits.parse().ok()
        };
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            format.width = Some(number(&mut rest)?);
        }
        if let Some(after) = rest.strip_prefix('.') {
            rest = after;
            format.precision = Some(number(&mut rest)?);
        }
        let known = Notation::ALL.into_iter().find(|(s, _)| *s == rest);
        format.notation = known?.1;
        Some(format)
    }

    /// Has Rust this notation for a type?
    pub fn fits(&self, ty: Scalar) -> bool {
        match self.notation {
            Notation::Display | Notation::Debug => true,
            Notation::LowerHex | Notation::UpperHex | Notation::Octal | Notation::Binary => {
                ty.is_int()
            }
            Notation::LowerExp | Notation::UpperExp => ty != Scalar::Bool,
        }
    }
}

/// What stands behind the `:`.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(align) = self.align {
            let align = match align {
                Align::Left => '<',
                Align::Center => '^',
                Align::Right => '>',
            };
            // A space is meant where no filling is given.
            let fill = (self.fill != ' ').then_some(self.fill);
            write!(f, "{}{align}", fill.map(String::from).unwrap_or_default())?;
        }
        for (flag, symbol) in [(self.plus, "+"), (self.alternate, "#"), (self.zero, "0")] {
            f.write_str(if flag { symbol } else { "" })?;
        }
        if let Some(width) = self.width {
            write!(f, "{width}")?;
        }
        if let Some(precision) = self.precision {
            write!(f, ".{precision}")?;
        }
        f.write_str(self.notation.symbol())
    }
}

impl Print {
    /// What is printed for these arguments.
    pub fn text(&self, args: &[Value]) -> String {
        match self.printer {
            Printer::Host(HostPrinter(text)) => {
                return text(args).unwrap_or_else(|| "… of a thread that has faulted\n".into());
            }
            Printer::Pieces => {}
            Printer::Link(_) => unreachable!("a kernel that runs is linked"),
        }
        let mut out = String::new();
        for piece in self.pieces.iter() {
            match piece {
                PrintPiece::Text(text) => out.push_str(text),
                PrintPiece::Arg { index, format } => {
                    out.push_str(&format.text(args[*index as usize]));
                }
            }
        }
        out
    }

    /// The template as the literal of `format!`, its arguments by number.
    pub fn template(&self) -> String {
        let mut out = String::new();
        for piece in self.pieces.iter() {
            match piece {
                PrintPiece::Text(text) => {
                    out.push_str(&text.replace('{', "{{").replace('}', "}}"));
                }
                PrintPiece::Arg { index, format } if *format == Format::PLAIN => {
                    out.push_str(&format!("{{{index}}}"));
                }
                PrintPiece::Arg { index, format } => {
                    out.push_str(&format!("{{{index}:{format}}}"));
                }
            }
        }
        out
    }
}
