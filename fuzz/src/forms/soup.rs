//! Generates random indices under random guards and loops.

use sarek::testing::Random;

pub(super) const NAME: &str = "random indices";

/// The values that differ between threads.
const IDS: [&str; 7] = ["i", "i", "t", "r", "block_idx_x()", "thread_idx_y()", "a"];

/// The values that all threads share.
const UNIFORM: [&str; 12] = [
    "n",
    "w",
    "h",
    "m",
    "1",
    "2",
    "3",
    "4",
    "8",
    "block_dim_x()",
    "global_dim_x()",
    "grid_dim_x()",
];

const COMPARISONS: [&str; 5] = ["<", "<=", "==", ">", "!="];

struct Soup<'r> {
    random: &'r mut Random,
    /// The counters of loops in scope.
    counters: usize,
    /// The nesting depth of blocks.
    depth: usize,
    /// True inside a loop that ends when the local `a` is large enough, so `a` must not become smaller.
    grows: bool,
    /// The array that threads access: the slice `y`, or a shared array `s`.
    array: char,
}

/// The statements of a kernel.
pub(super) fn body(random: &mut Random) -> String {
    let mut soup = Soup {
        random,
        counters: 0,
        depth: 0,
        grows: false,
        array: 'y',
    };
    let (mut arrays, mut end) = ("", "");
    if soup.below(3) == 0 {
        soup.array = 's';
        arrays = "let s = shared_array::<u32, 1024>();";
        end = "barrier(); y[global_thread_id()] = s[0];";
    }
    let start = soup.term();
    let mut statements = String::new();
    for _ in 0..1 + soup.below(3) {
        let statement = soup.statement();
        statements += &statement;
        statements += soup.barrier();
    }
    format!("{arrays} let mut a = i; a = {start}; {statements} {end}")
}

impl Soup<'_> {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }

    /// An id, a mutable local, or the counter of a loop.
    fn id(&mut self) -> String {
        match self.counters > 0 && self.below(3) == 0 {
            true => format!("k{}", self.below(self.counters)),
            false => self.pick(&IDS).into(),
        }
    }

    fn uniform(&mut self) -> &'static str {
        self.pick(&UNIFORM)
    }

    fn term(&mut self) -> String {
        let (id, by) = (self.id(), self.uniform());
        match self.below(10) {
            0..=3 => id,
            4 | 5 => format!("{id} * {by}"),
            6 => format!("{id} / ({by} + 1)"),
            7 => format!("{id} % ({by} + 1)"),
            8 => format!("({id} ^ {by})"),
            _ => by.into(),
        }
    }

    fn index(&mut self) -> String {
        let terms: Vec<String> = (0..1 + self.below(3)).map(|_| self.term()).collect();
        match self.below(8) {
            0 => format!("({}) % ({} + 1)", terms.join(" + "), self.uniform()),
            1 => format!("{} - ({})", self.uniform(), terms.join(" + ")),
            _ => terms.join(" + "),
        }
    }

    fn guard(&mut self) -> String {
        let (one, comparison, other) = (self.term(), self.pick(&COMPARISONS), self.term());
        let one = match self.below(3) {
            0 => self.id(),
            _ => one,
        };
        let other = match self.below(2) {
            0 => self.uniform().into(),
            _ => other,
        };
        let more = match self.below(3) {
            0 => format!(" && {} < {}", self.id(), self.uniform()),
            _ => String::new(),
        };
        // Without the parentheses, a generic argument would begin after a cast or a name.
        format!("({one}) {comparison} ({other}){more}")
    }

    /// A barrier where all threads reach it, or nothing.
    fn barrier(&mut self) -> &'static str {
        match self.array == 's' && self.depth == 0 && self.below(2) == 0 {
            true => "barrier(); ",
            false => "",
        }
    }

    fn statement(&mut self) -> String {
        let (array, index, term) = (self.array, self.index(), self.term());
        match self.below(if self.depth < 3 { 10 } else { 5 }) {
            0 | 1 => format!("{array}[{index}] = a as u32; "),
            2 => format!("{array}[{index}] += 1; "),
            3 if !self.grows => format!("a = {index}; "),
            3 | 4 => format!("a += {term}; "),
            5 | 6 => {
                let guard = self.guard();
                format!("if {guard} {{ {} }} ", self.block())
            }
            7 => {
                let (guard, first) = (self.guard(), self.block());
                format!("if {guard} {{ {first} }} else {{ {} }} ", self.block())
            }
            8 => {
                let (counter, end) = (self.counters, self.pick(&["2", "3", "4", "m", "w"]));
                self.counters += 1;
                let (block, barrier) = (self.block(), self.barrier());
                self.counters -= 1;
                format!("for k{counter} in 0..{end} {{ {block} {barrier}}} ")
            }
            _ => {
                let (end, by) = (self.uniform(), self.uniform());
                let grows = std::mem::replace(&mut self.grows, true);
                let block = self.block();
                self.grows = grows;
                format!("while a < {end} {{ {block} a += {by} + 1; }} ")
            }
        }
    }

    fn block(&mut self) -> String {
        self.depth += 1;
        let statements = (0..1 + self.below(2)).map(|_| self.statement()).collect();
        self.depth -= 1;
        statements
    }
}
