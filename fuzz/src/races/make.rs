//! Generates kernels that call functions and methods in which threads access one shared array, at indices computed from arguments.
//!
//! Nothing prevents two threads from accessing the same element, so most of these kernels race and are refused.

use sarek::testing::Random;

/// A kernel with the items before it.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// A struct, its methods, and functions.
    pub items: String,
    /// `fn race(y: &mut [u32], table: &[u32], n: usize)`, for blocks of eight threads.
    pub kernel: String,
}

/// The kind of a parameter other than the shared array.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Param {
    Index,
    Word,
    Place,
    Maybe,
    Pair,
    Table,
    Behind,
}

const PARAMS: [Param; 7] = [
    Param::Index,
    Param::Word,
    Param::Place,
    Param::Maybe,
    Param::Pair,
    Param::Table,
    Param::Behind,
];

impl Param {
    fn declared(self, name: &str) -> String {
        let ty = match self {
            Param::Index => "usize",
            Param::Word => "u32",
            Param::Place => "Place",
            Param::Maybe => "Option<u32>",
            Param::Pair => "(u32, u32)",
            Param::Table => "&[u32]",
            Param::Behind => "&mut usize",
        };
        format!("{name}: {ty}")
    }

    /// The expressions that read it as an index.
    fn read(self, name: &str) -> Vec<String> {
        match self {
            Param::Index => vec![name.into()],
            Param::Word => vec![format!("{name} as usize")],
            Param::Place => vec![format!("{name}.at as usize"), format!("{name}.by as usize")],
            Param::Maybe => vec![],
            Param::Pair => vec![format!("{name}.0 as usize"), format!("{name}.1 as usize")],
            Param::Table => vec![format!("{name}[0] as usize")],
            Param::Behind => vec![format!("*{name}")],
        }
    }
}

/// A function or method to call.
#[derive(Clone)]
struct Function {
    name: String,
    params: Vec<Param>,
    is_borrowed: bool,
    is_method: bool,
}

struct Maker {
    random: Random,
    functions: Vec<Function>,
    /// The index expressions in scope.
    values: Vec<String>,
    /// The `Option` variables in scope.
    options: Vec<String>,
    /// The `&mut usize` variables in scope.
    behind: Vec<String>,
    /// The slices and local arrays in scope.
    tables: Vec<String>,
    /// True if arguments may differ between threads.
    differs: bool,
    names: u32,
}

/// Generates the candidate of a seed.
pub fn candidate(seed: u64) -> Candidate {
    let mut maker = Maker {
        random: Random::new(seed),
        functions: vec![],
        values: vec![],
        options: vec![],
        behind: vec![],
        tables: vec![],
        differs: false,
        names: 0,
    };
    let mut items = String::from(
        "#[derive(Clone, Copy, KernelType)] #[repr(C)] struct Place { at: u32, by: u32 }\n",
    );
    for _ in 0..1 + maker.below(3) {
        let item = maker.function();
        items.push_str(&item);
    }
    maker.differs = maker.below(3) > 0;
    let kernel = maker.kernel();
    Candidate { items, kernel }
}

impl Maker {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    fn name(&mut self, letter: char) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    /// A function, or a method in its own `impl` block.
    fn function(&mut self) -> String {
        let (is_borrowed, is_method) = (self.below(3) > 0, self.below(3) == 0);
        let name = self.name('f');
        let params: Vec<Param> = (0..1 + self.below(2)).map(|_| self.pick(&PARAMS)).collect();
        let (mut declared, mut values) = (vec![], vec![]);
        (self.options, self.behind, self.tables) = (vec![], vec![], vec![]);
        if is_method {
            declared.push(self.pick(&["self".to_string(), "&self".to_string()]));
            values.extend(Param::Place.read("self"));
        }
        declared.extend(is_borrowed.then(|| "tile: &mut [u32]".to_string()));
        for (at, param) in params.iter().enumerate() {
            let name = format!("p{at}");
            declared.push(param.declared(&name));
            values.extend(param.read(&name));
            match param {
                Param::Maybe => self.options.push(name),
                Param::Behind => self.behind.push(name),
                Param::Table => self.tables.push(name),
                Param::Index | Param::Word | Param::Place | Param::Pair => {}
            }
        }
        self.values = values;
        let body = self.body(is_borrowed);
        let text = format!("fn {name}({}) -> u32 {{ {body} }}", declared.join(", "));
        self.functions.push(Function {
            name,
            params,
            is_borrowed,
            is_method,
        });
        match is_method {
            true => format!("#[device] impl Place {{ {text} }}\n"),
            false => format!("#[device] {text}\n"),
        }
    }

    fn body(&mut self, is_borrowed: bool) -> String {
        let mut body = String::from("let t = thread_idx_x(); let mut x = t as u32; ");
        if !is_borrowed {
            body.push_str("let tile = shared_array::<u32, 64>(); tile[t] = x; barrier(); ");
        }
        for _ in 0..1 + self.below(3) {
            let statement = self.statement();
            body.push_str(&statement);
            if self.below(4) > 0 {
                body.push_str("barrier(); ");
            }
        }
        body + "barrier(); x"
    }

    fn statement(&mut self) -> String {
        let (value, index) = (self.value(), self.index());
        match self.below(11) {
            0 | 1 => format!("tile[{index}] = x; "),
            2 => format!("x += tile[{index}]; "),
            3 | 4 => {
                let guard = self.guard();
                format!("if {guard} {{ tile[{index}] = x; }} ")
            }
            5 => format!("for k in 0..{value} {{ tile[t * ({value}) + k] = x; }} "),
            6 => format!("for k in 0..4 {{ tile[k * 8 + t + {value}] = x; }} "),
            7 => format!(
                "let other = t ^ ({value}); if other > t {{ let kept = tile[t]; tile[t] = tile[other]; tile[other] = kept; }} "
            ),
            8 => {
                let other = self.index();
                format!(
                    "for _ in 0..({value}) & 3 {{ tile[{index}] = x; barrier(); x += tile[{other}]; barrier(); }} "
                )
            }
            9 if !self.options.is_empty() => {
                let options = self.options.clone();
                let option = self.pick(&options);
                format!("if let Some(at) = {option} {{ tile[t + at as usize] = x; }} ")
            }
            9 if !self.behind.is_empty() => {
                let behind = self.behind.clone();
                format!("*{} += 1; ", self.pick(&behind))
            }
            10 if !self.functions.is_empty() => self.call(),
            _ => {
                let name = self.name('s');
                self.values.push(name.clone());
                format!("let {name} = ({value}) + 1; ")
            }
        }
    }

    /// A value in scope, mostly a parameter, or at times a literal.
    fn value(&mut self) -> String {
        let values = self.values.clone();
        match values.is_empty() || self.below(4) == 0 {
            true => self.below(5).to_string(),
            false => self.pick(&values),
        }
    }

    fn index(&mut self) -> String {
        let value = self.value();
        match self.below(9) {
            0..=2 => "t".into(),
            3 | 4 => format!("t + ({value})"),
            5 => format!("t * 4 + ({value})"),
            6 => format!("({value}) - t"),
            7 => format!("({value}) * 8 + t"),
            _ => value,
        }
    }

    fn guard(&mut self) -> String {
        let value = self.value();
        match self.below(4) {
            0 => format!("t == {value}"),
            1 => format!("t < {value}"),
            2 => format!("t >= {value}"),
            _ => format!("t < 4 && ({value}) < 4"),
        }
    }

    /// An argument or a part of one. It is uniform, or at times differs between threads.
    fn argument(&mut self) -> String {
        const OF_THREADS: [&str; 4] = ["t", "7 - t", "(t ^ 1)", "(x & 3) as usize"];
        match self.differs && self.below(4) == 0 {
            true => self.pick(&OF_THREADS).into(),
            false => self.value(),
        }
    }

    /// A call, with the `let` statements for its arguments.
    fn call(&mut self) -> String {
        let functions = self.functions.clone();
        let function = self.pick(&functions);
        let (mut before, mut arguments) = (String::new(), vec![]);
        arguments.extend(function.is_borrowed.then(|| "tile".to_string()));
        for param in &function.params {
            let argument = match param {
                Param::Index => self.argument(),
                Param::Word => format!("({}) as u32", self.argument()),
                Param::Place => self.place(),
                Param::Maybe => format!("Some(({}) as u32)", self.argument()),
                Param::Pair => format!(
                    "(({}) as u32, ({}) as u32)",
                    self.argument(),
                    self.argument()
                ),
                Param::Table => match self.tables.clone() {
                    tables if !tables.is_empty() && self.below(3) > 0 => self.pick(&tables),
                    _ => format!("&[({}) as u32, 1]", self.argument()),
                },
                Param::Behind => {
                    let (name, value) = (self.name('m'), self.argument());
                    before.push_str(&format!("let mut {name} = {value}; "));
                    format!("&mut {name}")
                }
            };
            arguments.push(argument);
        }
        let (name, arguments) = (&function.name, arguments.join(", "));
        let call = match function.is_method {
            true => {
                let (place, value) = (self.name('o'), self.place());
                before.push_str(&format!("let {place}: Place = {value}; "));
                format!("{place}.{name}({arguments})")
            }
            false => format!("{name}({arguments})"),
        };
        let result = self.name('r');
        format!("{before}let {result} = {call}; x += {result}; ")
    }

    fn place(&mut self) -> String {
        let (at, by) = (self.argument(), self.argument());
        format!("Place {{ at: ({at}) as u32, by: ({by}) as u32 }}")
    }

    fn kernel(&mut self) -> String {
        let values = ["n", "u", "block_idx_x()", "table[0] as usize"];
        self.values = values.map(str::to_string).into();
        (self.options, self.behind) = (vec![], vec![]);
        self.tables = vec!["table".into()];
        let mut body = String::new();
        for _ in 0..1 + self.below(2) {
            let call = match self.below(4) {
                0 => {
                    self.values.push("k".into());
                    let call = self.call();
                    self.values.pop();
                    format!("for k in 0..2 {{ {call} }} ")
                }
                1 => format!("if n < 3 {{ {} }} ", self.call()),
                _ => self.call(),
            };
            body.push_str(&call);
        }
        format!(
            "fn race(y: &mut [u32], table: &[u32], n: usize) {{ let tile = shared_array::<u32, 64>(); let t = thread_idx_x(); \
             let mut x = t as u32; let u = n + 1; tile[t] = x; barrier(); {body} y[global_idx_x()] = x; }}"
        )
    }
}
