//! What one macro is called with, and the file that it is kept in.

use std::fmt;

use crate::tree::{Tree, print, read};

/// A macro of sarek's.
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
    /// All of them.
    pub const ALL: [Macro; 6] = [
        Macro::Kernel,
        Macro::Device,
        Macro::KernelTest,
        Macro::Derive,
        Macro::Native,
        Macro::Superstep,
    ];

    /// Its name.
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
    /// Which one.
    pub of: Macro,
    /// What an attribute is given.
    pub attribute: Vec<Tree>,
    /// The item, or what stands in the parentheses.
    pub item: Vec<Tree>,
}

impl Input {
    /// The call in a file of this text.
    ///
    /// # Errors
    /// What is missing in it.
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
