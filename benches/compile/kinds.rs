//! Ten medium-sized kernels of different kinds. [`super`] compiles copies of this file, which differ in [`COPY`].

use sarek::prelude::*;

/// The number of the copy. Without it, the compiler could merge equal copies.
const COPY: u32 = 0;

/// The number of rows and of columns of a tile.
const TILE: usize = 16;

/// A tiled matrix product in shared memory.
#[kernel(block = (16, 16))]
pub fn product(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let ta = shared_array::<[f32; TILE], TILE>();
    let tb = shared_array::<[f32; TILE], TILE>();
    let tx = thread_idx_x();
    let ty = thread_idx_y();
    let col = global_idx_x();
    let row = global_idx_y();
    let mut sum = COPY as f32;
    let mut first = 0;
    while first < n {
        ta[ty][tx] = if row < n && first + tx < n {
            a[row * n + first + tx]
        } else {
            0.0
        };
        tb[ty][tx] = if col < n && first + ty < n {
            b[(first + ty) * n + col]
        } else {
            0.0
        };
        barrier();
        for k in 0..TILE {
            sum += ta[ty][k] * tb[k][tx];
        }
        barrier();
        first += TILE;
    }
    if row < n && col < n {
        c[row * n + col] = sum;
    }
}

/// Accelerations of bodies, with tiles of bodies in shared memory.
#[kernel(block = 256)]
pub fn accelerations(bodies: &[f32], result: &mut [f32]) {
    let tile = shared_array::<[f32; 4], 256>();
    let t = thread_idx_x();
    let i = global_idx_x();
    let n = bodies.len() / 4;
    let mut x = 0.0;
    let mut y = 0.0;
    let mut z = 0.0;
    if i < n {
        x = bodies[4 * i];
        y = bodies[4 * i + 1];
        z = bodies[4 * i + 2];
    }
    let mut ax = 0.0;
    let mut ay = 0.0;
    let mut az = 0.0;
    let mut first = 0;
    while first < n {
        let j = first + t;
        if j < n {
            for part in 0..4 {
                tile[t][part] = bodies[4 * j + part];
            }
        }
        barrier();
        for k in 0..(n - first).min(256) {
            let dx = tile[k][0] - x;
            let dy = tile[k][1] - y;
            let dz = tile[k][2] - z;
            let inverse = (dx * dx + dy * dy + dz * dz + COPY as f32).rsqrt();
            let scale = tile[k][3] * inverse * inverse * inverse;
            ax += dx * scale;
            ay += dy * scale;
            az += dz * scale;
        }
        barrier();
        first += 256;
    }
    if i < n {
        result[3 * i] = ax;
        result[3 * i + 1] = ay;
        result[3 * i + 2] = az;
    }
}

/// The inclusive prefix sum of each block.
#[kernel]
pub fn scan(x: &[u32], y: &mut [u32]) {
    let from = shared_array::<u32, 1024>();
    let to = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let i = global_idx_x();
    from[t] = if i < x.len() { x[i] } else { COPY };
    barrier();
    let mut d = 1;
    while d < block_dim_x() {
        to[t] = if t >= d {
            from[t].wrapping_add(from[t - d])
        } else {
            from[t]
        };
        barrier();
        from[t] = to[t];
        barrier();
        d *= 2;
    }
    if i < x.len() {
        y[i] = from[t];
    }
}

/// A histogram of the low bits.
#[kernel(block = 256)]
pub fn histogram(x: &[u32], bins: &[Atomic<u32>]) {
    let own = shared_array::<Atomic<u32>, 256>();
    let t = thread_idx_x();
    own[t].store(0);
    barrier();
    let mut i = global_idx_x();
    while i < x.len() {
        own[(x[i] ^ COPY) as usize % 256].fetch_add(1);
        i += grid_dim_x() * 256;
    }
    barrier();
    bins[t].fetch_add(own[t].load());
}

/// The number of iterations until a point escapes, as a colour.
#[kernel]
pub fn mandelbrot(width: usize, height: usize, limit: u32, pixels: &mut [u32]) {
    let col = global_idx_x();
    let row = global_idx_y();
    if col < width && row < height {
        let cx = -2.0 + 3.0 * (col as f32 + 0.5) / width as f32;
        let cy = -1.0 + 2.0 * (row as f32 + 0.5) / height as f32;
        let mut x = 0.0f32;
        let mut y = 0.0f32;
        let mut count = COPY;
        while count < limit && x * x + y * y <= 4.0 {
            let next = x * x - y * y + cx;
            y = 2.0 * x * y + cy;
            x = next;
            count += 1;
        }
        let shade = (255.0 * (count as f32 / limit as f32).sqrt()) as u32;
        let colour = if count < limit {
            shade << 16 | shade << 8 | 255
        } else {
            0
        };
        pixels[row * width + col] = colour;
    }
}

/// A Jacobi step on the inner points of a grid. The border is copied.
#[kernel]
pub fn stencil(width: usize, height: usize, old: &[f32], new: &mut [f32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x >= width || y >= height {
        return;
    }
    let at = y * width + x;
    let inner = x > 0 && x + 1 < width && y > 0 && y + 1 < height;
    new[at] = if inner {
        let sides = old[at - 1] + old[at + 1] + old[at - width] + old[at + width];
        let corners =
            old[at - width - 1] + old[at - width + 1] + old[at + width - 1] + old[at + width + 1];
        0.5 * old[at] + 0.1 * sides + 0.025 * corners + COPY as f32
    } else {
        old[at]
    };
}

/// A sphere.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Sphere {
    /// Its centre.
    pub centre: [f32; 3],
    /// Its radius.
    pub radius: f32,
}

/// The nearest intersection of a ray.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Hit {
    /// The distance from the origin.
    pub distance: f32,
    /// The number of the sphere, starting at 1.
    pub sphere: u32,
}

/// The dot product of two vectors.
#[device]
pub fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The nearest sphere that a ray from the origin hits.
#[kernel]
pub fn nearest(spheres: &[Sphere], directions: &[[f32; 3]], hits: &mut [Hit]) {
    let i = global_idx_x();
    if i < hits.len() {
        let direction = directions[i];
        let mut best = Hit {
            distance: 1.0e30,
            sphere: COPY,
        };
        for s in 0..spheres.len() {
            let sphere = spheres[s];
            let along = dot(sphere.centre, direction);
            let gap = dot(sphere.centre, sphere.centre) - along * along;
            let depth = sphere.radius * sphere.radius - gap;
            if depth > 0.0 {
                let distance = along - depth.sqrt();
                if distance > 0.0 && distance < best.distance {
                    best.distance = distance;
                    best.sphere = s as u32 + 1;
                }
            }
        }
        hits[i] = best;
    }
}

/// An instruction of a small virtual machine.
#[derive(Clone, Copy, KernelType)]
#[repr(C, u32)]
pub enum Step {
    /// Adds a number.
    Add(f32),
    /// Multiplies by a number.
    Scale(f32),
    /// Clamps the number.
    Clamp {
        /// The lower bound.
        least: f32,
        /// The upper bound.
        most: f32,
    },
    /// Takes the square root of a positive number.
    Root,
    /// Ends the program.
    Stop,
}

/// Runs a program for each element.
#[kernel]
pub fn run(program: &[Step], x: &mut [f32]) {
    let i = global_idx_x();
    if i < x.len() {
        let mut value = x[i];
        let mut left = COPY + 1000;
        for at in 0..program.len() {
            let step = program[at];
            value = match step {
                Step::Add(more) if more != 0.0 => value + more,
                Step::Scale(by) => value * by,
                Step::Clamp { least, most } => value.max(least).min(most),
                Step::Root if value > 0.0 => value.sqrt(),
                Step::Add(_) | Step::Root => value,
                Step::Stop => {
                    left = 0;
                    value
                }
            };
            if left == 0 {
                break;
            }
            left -= 1;
        }
        x[i] = value;
    }
}

/// A layer of half-precision weights, with a bias and a soft limit.
#[kernel]
pub fn layer(inputs: usize, weights: &[f16], bias: &[f16], x: &[f16], y: &mut [f16]) {
    let row = global_idx_x();
    if row < y.len() {
        let mut sum = bias[row].to_f32();
        for k in 0..inputs {
            sum += weights[row * inputs + k].to_f32() * x[k].to_f32();
        }
        let limited = sum / (1.0 + sum.abs() + COPY as f32);
        let kept = f16::from_f32(limited);
        y[row] = if kept > f16::ZERO {
            kept
        } else {
            kept * bias[row]
        };
    }
}

/// A particle.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Particle {
    /// The position.
    pub at: [f32; 2],
    /// The velocity.
    pub speed: [f32; 2],
}

/// A step of a particle that bounces between walls at 0 and 1.
#[kernel]
pub fn particles(time: f32, #[item] particle: &mut Particle, #[item] bounces: &mut u32) {
    for axis in 0..2 {
        particle.at[axis] += particle.speed[axis] * time;
        if particle.at[axis] < 0.0 || particle.at[axis] > 1.0 {
            particle.speed[axis] = -particle.speed[axis];
            *bounces += COPY + 1;
        }
    }
    let speed = particle.speed[0] * particle.speed[0] + particle.speed[1] * particle.speed[1];
    assert!(speed < 100.0, "too fast for the walls");
}
