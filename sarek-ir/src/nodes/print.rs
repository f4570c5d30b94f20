//! Lines that a kernel prints: templates with Rust's formats.
//!
//! A device sends the values of the arguments to the host, which puts them into the template ([`Print::text`]). So a
//! line looks the same on every device. Natively compiled bodies print with Rust's own macro. Code of the user's crate,
//! which knows the types, rebuilds compound values and formats them with the traits of those types.

mod format;

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::{List, Scalar, Value};

/// The largest number of scalars in a printed value. The limit exists because each scalar becomes statements of the
/// kernel.
pub const MAX_SCALARS: u64 = 1024;

/// One `println!` or `print!`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Print {
    /// Text and arguments in order, including the newline at the end of a line.
    pub pieces: Cow<'static, [PrintPiece]>,
    /// The arguments, without duplicates.
    pub args: List,
    /// The formatter.
    pub printer: Printer,
}

/// The formatter of a [`Print`]: makes the text from the values of the arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Printer {
    /// [`Print::pieces`] are the complete template; the arguments are scalars.
    Pieces,
    /// An entry of [`crate::link::Links::printers`], before linking: some arguments have types of the user's crate.
    Link(u32),
    /// The linked form of `Link`. The arguments are the scalars of the values, depth first: each element of an array;
    /// the tag and the fields of all variants of an enum.
    Host(HostPrinter),
}

/// A function of the user's crate that makes the text of a print. It returns `None` if the scalars form no valid value
/// of the type, which can happen in a thread that has faulted.
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

/// A piece of a print's template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PrintPiece {
    /// Text.
    Text(Cow<'static, str>),
    /// An argument.
    #[allow(missing_docs)]
    Arg { index: u32, format: Format },
}

/// The format of an argument: the part after the `:` in Rust.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// The fill character.
    pub fill: char,
    /// The alignment in the width.
    pub align: Option<Align>,
    /// `+`
    pub plus: bool,
    /// `#`
    pub alternate: bool,
    /// `0`: pads with zeros between sign and digits.
    pub zero: bool,
    /// The minimum width in characters.
    pub width: Option<u16>,
    /// Digits after the point; for a `bool`, the maximum width in characters.
    pub precision: Option<u16>,
    /// The notation.
    pub notation: Notation,
}

/// The alignment of a text in its width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Align {
    Left,
    Center,
    Right,
}

/// The formatting trait.
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
    /// All of them with their symbols in a format.
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

    /// The symbol in a format.
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

    /// Parses the part after the `:`. `None` if it is no valid format, or takes a width or precision from an argument.
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

    /// True if Rust has this notation for the type.
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

/// Writes the part after the `:`.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(align) = self.align {
            let align = match align {
                Align::Left => '<',
                Align::Center => '^',
                Align::Right => '>',
            };
            // A space is the default fill.
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
    /// The printed text for these arguments.
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

    /// The template as a literal for `format!`, with numbered arguments.
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
