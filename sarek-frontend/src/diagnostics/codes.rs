//! The codes of messages, by name.
//!
//! Each code has a handwritten page, `errors/SRKxxxx.md` in this crate's folder. The title, the reason and the examples are on the page only;
//! here is only the name of the code. A code is never reused for another mistake.
//!
//! `tests/errors.rs` checks the form of the pages and runs their examples.

use std::fmt::{self, Display};

/// A kind of mistake.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Code {
    name: &'static str,
    page: &'static str,
}

impl Code {
    /// All codes, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Code> {
        ALL.iter().copied()
    }

    /// The code that a message begins with.
    pub fn of(message: &str) -> Option<Code> {
        let (name, _) = message.split_once(':')?;
        Code::all().find(|code| code.name == name)
    }

    /// The text of its page, in Markdown.
    pub fn page(self) -> &'static str {
        self.page
    }

    /// The `why:` line of messages that give no reason of their own: the line `**Why**: ….` of the page.
    pub fn why(self) -> &'static str {
        let (_, rest) = self.page.split_once("\n**Why**: ").expect("a reason");
        let (why, _) = rest.split_once(".\n").expect("a sentence");
        why
    }
}

impl Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! codes {
    ($($constant:ident = $name:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub const $constant: Code = Code {
                name: $name,
                page: include_str!(concat!("../../errors/", $name, ".md")),
            };
        )*

        const ALL: &[Code] = &[$($constant),*];
    };
}

codes! {
    // Attributes, options and signatures of kernels.
    PLACE = "SRK0101";
    OPTION = "SRK0102";
    QUALIFIER = "SRK0103";
    RETURN_VALUE = "SRK0104";
    PARAMETER_NAME = "SRK0105";
    ARGUMENT_TYPE = "SRK0106";
    USIZE_IN_BUFFER = "SRK0107";
    ATTRIBUTE = "SRK0108";
    ITEM_KERNEL = "SRK0109";
    REQUIREMENT = "SRK0110";
    CRATE = "SRK0111";

    // Rust syntax that kernels do not have.
    SYNTAX = "SRK0201";
    EXPRESSION = "SRK0202";
    LITERAL = "SRK0203";
    PATTERN = "SRK0204";
    NESTED_ITEM = "SRK0205";
    MACRO = "SRK0206";
    REFERENCE = "SRK0207";
    RANGE = "SRK0208";
    HYGIENE = "SRK0209";
    CLOSURE = "SRK0210";
    AMBIGUOUS_NAME = "SRK0211";
    PATH = "SRK0212";
    STRAY_MACRO = "SRK0213";

    // Types and values.
    MISMATCH = "SRK0301";
    UNKNOWN_TYPE = "SRK0302";
    TYPE = "SRK0303";
    LITERAL_RANGE = "SRK0304";
    CAST = "SRK0305";
    OPERATOR = "SRK0306";
    NO_FIELD = "SRK0307";
    UNIT_VALUE = "SRK0308";
    VECTOR = "SRK0309";
    HALF = "SRK0310";
    ELEMENT = "SRK0311";
    KERNEL_TYPE = "SRK0312";
    NUMBER = "SRK0314";
    BOUND = "SRK0315";
    NOT_OF_CORE = "SRK0316";
    INVALID = "SRK0317";
    STRICT = "SRK0318";

    // Branches and loops.
    LOOP_RANGE = "SRK0401";
    BREAK = "SRK0402";
    VALUE_UNUSED = "SRK0403";
    BRANCHES = "SRK0404";
    MATCH = "SRK0405";
    UNROLL = "SRK0406";

    // Slices, arrays, shared arrays, atomics and views.
    READ_ONLY = "SRK0501";
    ASSIGNMENT = "SRK0502";
    MEMORY_AS_VALUE = "SRK0503";
    INDEX = "SRK0504";
    SLICE_METHOD = "SRK0505";
    ARRAY_LENGTH = "SRK0506";
    SHARED_PLACE = "SRK0507";
    SHARED_FORM = "SRK0508";
    SHARED_LENGTH = "SRK0509";
    SHARED_ELEMENT = "SRK0510";
    PLAIN_ATOMIC = "SRK0511";
    ATOMIC_OPERATION = "SRK0512";
    ATOMIC_TYPE = "SRK0513";

    // Barriers and races.
    DIVERGENT_BARRIER = "SRK0601";
    COLLECTIVE_CALL = "SRK0602";
    RACE = "SRK0603";
    SHARED_RACE = "SRK0604";
    LENT_MEMORY = "SRK0605";
    OPEN_SHARED = "SRK0606";

    // Functions and methods that kernels call.
    NOT_MARKED = "SRK0701";
    NO_METHOD = "SRK0702";
    ARGUMENT_COUNT = "SRK0703";
    CALLEE = "SRK0704";
    RECURSION = "SRK0705";
    FUNCTION_PARAMETER = "SRK0706";
    RESULT = "SRK0707";
    METHOD_DECLARATION = "SRK0708";
    RECEIVER = "SRK0709";

    // `native!`: text in a target's language.
    NATIVE_UNSAFE = "SRK0801";
    NATIVE_TARGET = "SRK0802";
    NATIVE_OPERAND = "SRK0803";
    NATIVE_VALUE = "SRK0804";
    NATIVE_TWICE = "SRK0805";

    // Printing and assertions.
    FORMAT = "SRK0901";
    PRINTED = "SRK0902";

    // `#[derive(KernelType)]`.
    LAYOUT = "SRK1001";
    EMPTY_TYPE = "SRK1002";

    // Launches, on the host.
    INDEX_SPACE = "SRK1101";
    NO_INDEX_SPACE = "SRK1102";

    // `#[kernel_test]`.
    TEST_OPTION = "SRK1201";
    TEST_FORM = "SRK1202";

    // `#[derive(Kind)]`.
    KIND = "SRK1301";
}
