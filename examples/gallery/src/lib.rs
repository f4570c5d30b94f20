//! The gallery: small programs that draw. Each module is one picture, with its kernels at the top.
//!
//! `cargo run --release -p sarek-gallery -- NAME` draws one; without a name, it lists them.

/// Defines a kernel twice: strict, with the same floats on all devices that promise exact arithmetic, and loose, for the others.
macro_rules! strict_and_loose {
    ($(#[$doc:meta])* fn $strict:ident, $loose:ident $arguments:tt $body:block) => {
        $(#[$doc])*
        #[kernel(strict)]
        fn $strict $arguments $body

        $(#[$doc])*
        #[kernel]
        fn $loose $arguments $body
    };
}

mod boids;
mod colour;
mod contours;
mod filters;
mod fluid;
mod galaxy;
mod heat;
mod kmeans;
mod life;
mod mandelbrot;
mod paths;
pub mod reaction;
mod sorting;
mod spectrum;
mod waves;

use sarek::Device;

/// Pixels of three bytes, row by row from the top.
pub type Pixels = Vec<[u8; 3]>;

/// The agreement between the pictures of two devices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Agreement {
    /// The kernels compute with integers, so all devices draw the same bytes.
    Exact,
    /// The kernels compute with floats, and are strict on all devices but wgpu's: these draw the same bytes. wgpu draws at
    /// most this part of the pixels with a visible difference (more than 8 of 255).
    Within(f32),
}

/// Draws a picture at a width and a height, with a number of steps.
pub type Draw = fn(&Device, usize, usize, usize) -> sarek::Result<Pixels>;

/// An entry of the gallery.
pub struct Example {
    /// Its name on the command line.
    pub name: &'static str,
    /// A description in a few words.
    pub about: &'static str,
    /// The usual width and height.
    pub size: (usize, usize),
    /// The usual number of steps of a simulation, paths of a pixel or iterations; 1 for other pictures.
    pub steps: usize,
    /// The agreement of two devices.
    pub agreement: Agreement,
    /// Draws it.
    pub draw: Draw,
}

use Agreement::{Exact, Within};

/// All pictures, by name.
#[rustfmt::skip]
pub const EXAMPLES: &[Example] = &[
    Example { name: "boids", about: "a flock: each bird looks at its neighbours", size: (960, 540), steps: 300, agreement: Within(0.01), draw: boids::draw },
    Example { name: "contours", about: "lines of equal height, by marching squares", size: (960, 540), steps: 1, agreement: Exact, draw: contours::draw },
    Example { name: "filters", about: "a foggy picture, its histogram equalised, and its edges", size: (960, 540), steps: 1, agreement: Exact, draw: filters::draw },
    Example { name: "fluid", about: "flow past a cylinder, by the lattice Boltzmann method", size: (640, 240), steps: 7000, agreement: Within(0.01), draw: fluid::draw },
    Example { name: "galaxy", about: "two galaxies meet: gravity between all pairs of stars", size: (960, 540), steps: 86, agreement: Within(0.01), draw: galaxy::draw },
    Example { name: "heat", about: "heat spreads in a plate with cold holes", size: (960, 540), steps: 3000, agreement: Exact, draw: heat::draw },
    Example { name: "kmeans", about: "a picture in eight colours, found by k-means", size: (960, 540), steps: 12, agreement: Exact, draw: kmeans::draw },
    Example { name: "life", about: "Conway's game of life, coloured by age", size: (960, 540), steps: 270, agreement: Exact, draw: life::draw },
    Example { name: "mandelbrot", about: "four steps of a zoom into the Mandelbrot set", size: (960, 540), steps: 600, agreement: Within(0.02), draw: mandelbrot::draw },
    Example { name: "paths", about: "glass, metal and chalk, by path tracing", size: (960, 540), steps: 64, agreement: Within(0.02), draw: paths::draw },
    Example { name: "reaction", about: "patterns of two reacting chemicals (Gray and Scott)", size: (960, 540), steps: 6000, agreement: Exact, draw: reaction::draw },
    Example { name: "sorting", about: "odd-even transposition sort: each column is a pass", size: (960, 540), steps: 1, agreement: Exact, draw: sorting::draw },
    Example { name: "spectrum", about: "the spectrogram of a song of chirps, by FFT", size: (960, 512), steps: 1, agreement: Exact, draw: spectrum::draw },
    Example { name: "waves", about: "waves behind two slits", size: (960, 540), steps: 1900, agreement: Exact, draw: waves::draw },
];

/// The entry of a name.
pub fn find(name: &str) -> Option<&'static Example> {
    EXAMPLES.iter().find(|example| example.name == name)
}

/// True if the device runs strict kernels, whose floats have the same bits on all devices.
fn is_strict(device: &Device) -> bool {
    device.info().features.strict
}
