//! The picture: Gray and Scott's two chemicals, of `sarek_gallery::reaction`, and kernels that add to them and colour them.

use sarek::prelude::*;
use sarek_gallery::reaction;

/// The cells of a row, and the rows.
pub const SIZE: (usize, usize) = (480, 270);

/// Pours the second chemical around a cell.
#[kernel]
fn pour(width: usize, x: usize, y: usize, radius: usize, cells: &mut [[i32; 2]]) {
    let at = global_idx_x();
    if at < cells.len() {
        let (dx, dy) = (x.abs_diff(at % width), y.abs_diff(at / width));
        if dx * dx + dy * dy < radius * radius {
            cells[at][1] = reaction::ONE / 4;
        }
    }
}

/// Looks up the colour of each cell.
#[kernel]
fn paint(cells: &[[i32; 2]], palette: &[u32], colours: &mut [u32]) {
    let at = global_idx_x();
    if at < colours.len() && at < cells.len() {
        colours[at] = palette[(cells[at][1] / 24).clamp(0, 255) as usize];
    }
}

/// All vectors stay on the device.
pub struct Simulation {
    device: Device,
    now: Vector<[i32; 2]>,
    next: Vector<[i32; 2]>,
    palette: Vector<u32>,
    /// A pixel of red, green, blue and 255, from the lowest byte, for each cell.
    pub colours: Vector<u32>,
}

impl Simulation {
    /// The chemicals at the beginning.
    pub fn new(device: &Device) -> Simulation {
        let (width, height) = SIZE;
        let cells = width * height;
        let packed = |level| {
            let [r, g, b] = reaction::colour(24 * level);
            u32::from_le_bytes([r, g, b, 255])
        };
        Simulation {
            device: device.clone(),
            now: Vector::from_vec(reaction::seeds(width, height)),
            next: Vector::from_vec(vec![[0; 2]; cells]),
            palette: Vector::from_vec((0..256).map(packed).collect()),
            colours: Vector::zeros(cells),
        }
    }

    /// Computes ten steps, and the colours.
    pub fn advance(&mut self) -> sarek::Result<()> {
        let (width, height) = SIZE;
        for _ in 0..10 {
            reaction::react(width, height, 600, 1000, &self.now, &mut self.next)
                .over(SIZE)
                .run_on(&self.device)?;
            std::mem::swap(&mut self.now, &mut self.next);
        }
        paint(&self.now, &self.palette, &mut self.colours)
            .over(width * height)
            .run_on(&self.device)
    }

    /// Adds the second chemical at a place, in parts of the width and height.
    pub fn pour(&mut self, x: f64, y: f64) -> sarek::Result<()> {
        let (width, height) = SIZE;
        let (x, y) = ((x * width as f64) as usize, (y * height as f64) as usize);
        pour(width, x, y, 5, &mut self.now)
            .over(width * height)
            .run_on(&self.device)
    }
}
