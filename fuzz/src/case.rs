//! A kernel with its launch, and its file format in `corpus/`.

use std::fmt;
use std::str::FromStr;

/// A kernel with its launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The types and `#[device]` functions that precede the kernel.
    pub items: String,
    /// The options in its attribute, as in `block = 8`; usually none.
    pub options: String,
    /// The function, without its attribute.
    pub function: String,
    /// Its launch.
    pub launch: Launch,
}

/// The launch of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The seed of the arguments, see [`crate::data`].
    pub seed: u64,
    /// The index space.
    pub shape: Shape,
    /// The values of the first `usize` parameters, in order. The seed chooses those of the others.
    pub scalars: Vec<u64>,
    /// The length of each slice parameter, in order.
    pub lens: Vec<usize>,
    /// The layout of each view parameter, in order.
    pub views: Vec<Layout>,
    /// The positions of `#[item]` arguments, of which each thread takes one element.
    pub items: Vec<usize>,
    /// The generic arguments of the kernel.
    pub generics: Vec<String>,
    /// True if only host devices run it. Their subgroups have 32 threads, and their blocks may have any size.
    pub host: bool,
}

/// The layout of a strided view of a vector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The extent of each dimension.
    pub shape: Vec<usize>,
    /// The position of the first element in the vector.
    pub offset: usize,
    /// The distance between neighbouring elements along each dimension.
    pub strides: Vec<usize>,
}

impl Layout {
    /// The scalar arguments that follow the vector's in the linked kernel: shape, offset and strides.
    pub fn scalars(&self) -> impl Iterator<Item = usize> {
        let (shape, strides) = (self.shape.iter(), self.strides.iter());
        shape.chain([&self.offset]).chain(strides).copied()
    }
}

/// An index space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// `.over(extent)`
    Over([usize; 3]),
    /// `.grid(grid).block(block)`
    Grid([usize; 3], [usize; 3]),
}

impl Shape {
    /// The grid and the block. Where the device picks the block, all threads form one block here.
    pub fn blocks(self) -> ([usize; 3], [usize; 3]) {
        match self {
            Shape::Over(extent) => ([1; 3], extent),
            Shape::Grid(grid, block) => (grid, block),
        }
    }

    /// The number of threads.
    pub fn threads(self) -> usize {
        match self {
            Shape::Over(extent) => extent.iter().product(),
            Shape::Grid(grid, block) => grid.iter().chain(&block).product(),
        }
    }
}

const HEAD: &str = "// launch: ";
const PRELUDE: &str = "use sarek::prelude::*;\n\n";
const ATTRIBUTE: &str = "#[kernel";

impl Case {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// A line is missing or malformed; the text names it.
    pub fn parse(text: &str) -> Result<Case, String> {
        let head = text.lines().find_map(|line| line.strip_prefix(HEAD));
        let (before, kernel) = text
            .split_once(ATTRIBUTE)
            .ok_or("no line `#[kernel]` in it")?;
        let (options, function) = kernel.split_once("]\n").ok_or("no end of `#[kernel]`")?;
        let options = options.strip_prefix('(').and_then(|o| o.strip_suffix(')'));
        let items = before.split_once(PRELUDE).map_or("", |(_, items)| items);
        Ok(Case {
            items: items.to_owned(),
            options: options.unwrap_or_default().to_owned(),
            function: function.to_owned(),
            launch: Launch::parse(head.ok_or("no line `// launch: …` in it")?)?,
        })
    }
}

/// Writes the file: a Rust module.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = match self.options.is_empty() {
            true => String::new(),
            false => format!("({})", self.options),
        };
        writeln!(f, "{HEAD}{}", self.launch)?;
        write!(f, "{PRELUDE}{}", self.items)?;
        write!(f, "{ATTRIBUTE}{options}]\n{}", self.function)
    }
}

impl Launch {
    /// The generic arguments as they follow the kernel's name.
    pub fn instance(&self) -> String {
        match self.generics.is_empty() {
            true => String::new(),
            false => format!("::<{}>", self.generics.join(", ")),
        }
    }

    /// Parses the output of [`fmt::Display`].
    ///
    /// # Errors
    /// A part is malformed; the text quotes it.
    pub fn parse(text: &str) -> Result<Launch, String> {
        let mut launch = Launch {
            seed: 0,
            shape: Shape::Over([1; 3]),
            scalars: vec![],
            lens: vec![],
            views: vec![],
            items: vec![],
            generics: vec![],
            host: false,
        };
        let (mut grid, mut block) = (None, None);
        for part in text.split_whitespace() {
            let (key, value) = part.split_once('=').ok_or_else(|| part.to_owned())?;
            match key {
                "seed" => launch.seed = value.parse().map_err(|_| part.to_owned())?,
                "over" => launch.shape = Shape::Over(triple(value)?),
                "grid" => grid = Some(triple(value)?),
                "block" => block = Some(triple(value)?),
                "scalars" => launch.scalars = numbers(value)?,
                "lens" => launch.lens = numbers(value)?,
                "view" => launch.views.push(layout(value)?),
                "items" => launch.items = numbers(value)?,
                "generics" => launch.generics = value.split(',').map(str::to_owned).collect(),
                "for" if value == "host" => launch.host = true,
                _ => return Err(format!("unknown: `{part}`")),
            }
        }
        if let (Some(grid), Some(block)) = (grid, block) {
            launch.shape = Shape::Grid(grid, block);
        }
        Ok(launch)
    }
}

impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed={} ", self.seed)?;
        match self.shape {
            Shape::Over(extent) => write!(f, "over={}", list(&extent))?,
            Shape::Grid(grid, block) => write!(f, "grid={} block={}", list(&grid), list(&block))?,
        }
        if !self.scalars.is_empty() {
            write!(f, " scalars={}", list(&self.scalars))?;
        }
        write!(f, " lens={}", list(&self.lens))?;
        for view in &self.views {
            let scalars: Vec<usize> = view.scalars().collect();
            write!(f, " view={}", list(&scalars))?;
        }
        if !self.items.is_empty() {
            write!(f, " items={}", list(&self.items))?;
        }
        if !self.generics.is_empty() {
            write!(f, " generics={}", self.generics.join(","))?;
        }
        f.write_str(if self.host { " for=host" } else { "" })
    }
}

fn list(numbers: &[impl ToString]) -> String {
    let texts: Vec<_> = numbers.iter().map(ToString::to_string).collect();
    texts.join(",")
}

fn numbers<N: FromStr>(text: &str) -> Result<Vec<N>, String> {
    let parts = text.split(',').filter(|part| !part.is_empty());
    parts
        .map(|part| part.parse().map_err(|_| format!("not a number: `{part}`")))
        .collect()
}

fn layout(text: &str) -> Result<Layout, String> {
    let scalars: Vec<usize> = numbers(text)?;
    let rank = scalars.len() / 2;
    if scalars.len() != 2 * rank + 1 || !(2..=3).contains(&rank) {
        return Err(format!("not a view: `{text}`"));
    }
    Ok(Layout {
        shape: scalars[..rank].into(),
        offset: scalars[rank],
        strides: scalars[rank + 1..].into(),
    })
}

fn triple(text: &str) -> Result<[usize; 3], String> {
    numbers(text)?
        .try_into()
        .map_err(|_| format!("not three numbers: `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_round_trip_through_text() {
        for shape in [Shape::Over([33, 1, 1]), Shape::Grid([2, 1, 1], [8, 4, 1])] {
            let case = Case {
                items: "#[device]\nfn g() {}\n\n".into(),
                options: ["block = 8, requires(n[0] > 1)", ""][shape.threads() % 2].into(),
                function: "fn k(a: &mut [i32]) {\n    a[0] = 1;\n}\n".into(),
                launch: Launch {
                    seed: 7,
                    shape,
                    scalars: vec![7; shape.threads() % 2],
                    lens: vec![3, 99],
                    views: vec![Layout {
                        shape: vec![2, 3],
                        offset: 1,
                        strides: vec![5, 1],
                    }],
                    items: vec![1, 4],
                    generics: ["3", "i32"].map(str::to_owned).into(),
                    host: shape.threads() > 64,
                },
            };
            assert_eq!(Case::parse(&case.to_string()), Ok(case));
        }
    }
}
