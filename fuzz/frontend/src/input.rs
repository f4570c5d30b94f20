//! A macro call as an input of the fuzzer, and its file format in `fuzz/corpus/frontend`.

use std::fmt;

use crate::tree::{Tree, print, read};

/// A macro of sarek.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Macro {
    /// `#[kernel]`
    Kernel,
    /// `#[device]`
    Device,
    /// `#[kernel_test]`
    KernelTest,
    /// `#[derive(KernelType)]`
    Derive,
    /// `native!` outside of kernels
    Native,
    /// `superstep!` outside of kernels
    Superstep,
}

impl Macro {
    /// All macros.
    pub const ALL: [Macro; 6] = [
        Macro::Kernel,
        Macro::Device,
        Macro::KernelTest,
        Macro::Derive,
        Macro::Native,
        Macro::Superstep,
    ];

    /// The name in the file format.
    pub const fn name(self) -> &'static str {
        match self {
            Macro::Kernel => "kernel",
            Macro::Device => "device",
            Macro::KernelTest => "kernel_test",
            Macro::Derive => "derive",
            Macro::Native => "native",
            Macro::Superstep => "superstep",
        }
    }
}

/// A call of a macro.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// The macro.
    pub of: Macro,
    /// The arguments of an attribute.
    pub attribute: Vec<Tree>,
    /// The item below the attribute, or the arguments of a function-like macro.
    pub item: Vec<Tree>,
}

impl Input {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// A line is missing or malformed; the text names it.
    pub fn parse(text: &str) -> Result<Input, String> {
        let head = "the first line is `// macro: NAME`";
        let (line, rest) = text.split_once('\n').ok_or(head)?;
        let name = line.strip_prefix("// macro: ").ok_or(head)?.trim();
        let of = Macro::ALL.into_iter().find(|m| m.name() == name);
        let (attribute, item) = rest.split_once(ITEM).ok_or("no line `// item`")?;
        Ok(Input {
            of: of.ok_or(format!("no macro `{name}`"))?,
            attribute: read(attribute).ok_or("the attribute is no tokens")?,
            item: read(item).ok_or("the item is no tokens")?,
        })
    }
}

const ITEM: &str = "// item\n";

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "// macro: {}", self.of.name())?;
        let attribute = print(&self.attribute);
        if !attribute.is_empty() {
            writeln!(f, "{attribute}")?;
        }
        write!(f, "{ITEM}{}", print(&self.item))
    }
}
