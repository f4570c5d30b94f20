//! Pieces of target text.

use crate::Origin;

/// The precedence of an expression's outermost operator, as common to all targets. Operators whose precedence differs
/// between targets, or that a target wants in parentheses, are [`Precedence::Loose`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Precedence {
    /// Bit operations, shifts, `&&`, `||` and the conditional: always in parentheses as an operand.
    Loose,
    /// A comparison.
    Compare,
    /// `+` and `-`.
    Add,
    /// `*`, `/` and `%`.
    Mul,
    /// A prefix operator or a C cast.
    Unary,
    /// A name, a literal, a call, an element.
    Primary,
}

/// A target expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    /// The text.
    pub text: String,
    /// The precedence of its outermost operator.
    pub precedence: Precedence,
    /// True if the target sees it as a constant.
    pub constant: bool,
}

impl Text {
    /// A text that is not constant.
    pub fn new(precedence: Precedence, text: impl Into<String>) -> Text {
        Text {
            text: text.into(),
            precedence,
            constant: false,
        }
    }

    /// A name, call or element.
    pub fn primary(text: impl Into<String>) -> Text {
        Text::new(Precedence::Primary, text)
    }

    /// A literal. A negative one has the precedence of a prefix operator.
    pub fn literal(text: impl Into<String>) -> Text {
        let text = text.into();
        let precedence = if text.starts_with('-') {
            Precedence::Unary
        } else {
            Precedence::Primary
        };
        Text {
            text,
            precedence,
            constant: true,
        }
    }

    /// A prefix operator or cast before an operand.
    pub fn prefix(op: &str, arg: &Text) -> Text {
        Text::new(
            Precedence::Unary,
            format!("{op}{}", arg.at_least(Precedence::Primary)),
        )
    }

    /// A left-associative infix operator.
    pub fn infix(rank: Precedence, op: &str, lhs: &Text, rhs: &Text) -> Text {
        let (left, right) = match rank {
            Precedence::Loose => (Precedence::Unary, Precedence::Unary),
            Precedence::Compare => (Precedence::Add, Precedence::Add),
            Precedence::Add => (Precedence::Add, Precedence::Mul),
            Precedence::Mul => (Precedence::Mul, Precedence::Unary),
            Precedence::Unary | Precedence::Primary => (Precedence::Primary, Precedence::Primary),
        };
        let (lhs, rhs) = (lhs.at_least(left), rhs.at_least(right));
        Text::new(rank, format!("{lhs} {op} {rhs}"))
    }

    /// `&&` or `||`, whose operands may be comparisons without parentheses.
    pub fn logic(op: &str, lhs: &Text, rhs: &Text) -> Text {
        let lhs = lhs.at_least(Precedence::Compare);
        let rhs = rhs.at_least(Precedence::Compare);
        Text::new(Precedence::Loose, format!("{lhs} {op} {rhs}"))
    }

    /// A call.
    pub fn call(function: &str, args: &[Text]) -> Text {
        let args: Vec<&str> = args.iter().map(|a| a.text.as_str()).collect();
        Text::primary(format!("{function}({})", args.join(", ")))
    }

    /// The text, in parentheses unless it binds at least as tightly as `precedence`.
    pub fn at_least(&self, precedence: Precedence) -> String {
        if self.precedence >= precedence {
            self.text.clone()
        } else {
            format!("({})", self.text)
        }
    }
}

/// The digits of a finite `f32`: the fewest that round-trip, or all digits of a whole number.
pub(super) fn f32_digits(v: f32) -> String {
    if v.fract() == 0.0 && v.abs() < 1e16 {
        format!("{:?}", f64::from(v))
    } else {
        format!("{v:?}")
    }
}

/// A range of lines that originate in the user's source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sourced {
    /// The lines, counted from 1.
    pub lines: std::ops::Range<u32>,
    /// Their origin: the user's own text, or a statement.
    pub origin: Origin,
}

/// Indented lines.
#[derive(Default)]
pub(super) struct Lines {
    text: String,
    depth: usize,
    count: u32,
    sourced: Vec<Sourced>,
    /// The origin of the statement being written.
    pub statement: Option<Origin>,
}

impl Lines {
    /// Adds a line, or several.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let first = self.count + 1;
        self.add(line);
        let Some(statement) = &self.statement else {
            return;
        };
        match self.sourced.last_mut() {
            Some(last) if last.lines.end == first && last.origin == *statement => {
                last.lines.end = self.count + 1;
            }
            _ => {
                let origin = statement.clone();
                let lines = first..self.count + 1;
                self.sourced.push(Sourced { lines, origin });
            }
        }
    }

    /// Adds lines that the user wrote.
    pub fn foreign(&mut self, text: impl AsRef<str>, origin: &Origin) {
        let first = self.count + 1;
        self.add(text);
        self.sourced.push(Sourced {
            lines: first..self.count + 1,
            origin: origin.clone(),
        });
    }

    fn add(&mut self, line: impl AsRef<str>) {
        for line in line.as_ref().lines() {
            if !line.is_empty() {
                self.text.push_str(&"    ".repeat(self.depth));
                self.text.push_str(line);
            }
            self.text.push('\n');
            self.count += 1;
        }
    }

    /// Adds a line that opens a block.
    pub fn open(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.depth += 1;
    }

    /// Adds a line that closes a block.
    pub fn close(&mut self, line: impl AsRef<str>) {
        self.depth -= 1;
        self.line(line);
    }

    /// Adds finished lines.
    pub fn append(&mut self, text: &str, sourced: Vec<Sourced>) {
        let before = self.count;
        self.text.push_str(text);
        self.count += text.lines().count() as u32;
        self.sourced.extend(sourced.into_iter().map(|s| Sourced {
            lines: s.lines.start + before..s.lines.end + before,
            ..s
        }));
    }

    /// The text, with the origins of its lines.
    pub fn finish(self) -> (String, Vec<Sourced>) {
        (self.text, self.sourced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Text {
        Text::primary(text)
    }

    #[test]
    fn digits_give_the_float_back() {
        for (v, digits) in [
            (0.1f32, "0.1"),
            (-0.0, "-0.0"),
            (2147483648.0, "2147483648.0"),
            (1e16, "1e16"),
            (f32::MAX, "3.4028235e38"),
        ] {
            assert_eq!(f32_digits(v), digits);
            assert_eq!(digits.parse::<f32>().map(f32::to_bits), Ok(v.to_bits()));
        }
    }

    #[test]
    fn parentheses_stand_where_the_meaning_needs_them() {
        let sum = Text::infix(Precedence::Add, "+", &name("a"), &name("b"));
        let product = Text::infix(Precedence::Mul, "*", &sum, &name("c"));
        assert_eq!(product.text, "(a + b) * c");
        let sum = Text::infix(Precedence::Add, "-", &product, &sum);
        assert_eq!(sum.text, "(a + b) * c - (a + b)");
        let bits = Text::infix(Precedence::Loose, "&", &sum, &name("m"));
        assert_eq!(bits.text, "((a + b) * c - (a + b)) & m");
        let minus = Text::prefix("-", &Text::literal("-1.0f"));
        assert_eq!(minus.text, "-(-1.0f)");
    }
}
