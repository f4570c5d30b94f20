//! Colours and random numbers of the pictures.

/// A map from 0 to 1 through the given colours.
pub fn ramp(stops: &[[u8; 3]], t: f32) -> [u8; 3] {
    let at = t.clamp(0.0, 1.0) * (stops.len() - 1) as f32;
    let low = (at as usize).min(stops.len() - 2);
    let part = at - low as f32;
    let mix = |a: u8, b: u8| (f32::from(a) + part * (f32::from(b) - f32::from(a))).round() as u8;
    let (a, b) = (stops[low], stops[low + 1]);
    [mix(a[0], b[0]), mix(a[1], b[1]), mix(a[2], b[2])]
}

/// Black over red and yellow to white.
pub const FIRE: &[[u8; 3]] = &[
    [4, 3, 20],
    [87, 16, 110],
    [187, 55, 84],
    [249, 142, 9],
    [252, 255, 200],
];

/// Night over blue to foam.
pub const SEA: &[[u8; 3]] = &[
    [3, 8, 30],
    [10, 50, 110],
    [30, 130, 180],
    [130, 210, 220],
    [250, 255, 250],
];

/// From blue over white to red, for signed values.
pub const SIGNED: &[[u8; 3]] = &[
    [20, 50, 140],
    [110, 160, 220],
    [245, 245, 245],
    [230, 130, 90],
    [140, 20, 30],
];

/// Thirty-two bits that look random (the finaliser of MurmurHash3, Appleby 2011).
pub fn hash(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x85eb_ca6b);
    x ^= x >> 13;
    x = x.wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

/// A random number from 0 to 1.
pub fn unit(seed: u32) -> f32 {
    (hash(seed) >> 8) as f32 / (1 << 24) as f32
}

/// A hilly landscape in fixed numbers: value noise of four octaves, from 0 to 255.
pub fn hills(x: usize, y: usize, scale: usize, seed: u32) -> u32 {
    let mut sum = 0;
    let mut size = scale.max(8);
    for octave in 0..4u32 {
        let corner = |cx: usize, cy: usize| {
            hash(seed ^ (cx as u32 * 7919 + cy as u32 * 104_729 + octave)) >> 24
        };
        let (cx, cy) = (x / size, y / size);
        let (fx, fy) = ((x % size) as u32, (y % size) as u32);
        let smooth = |f: u32| {
            let t = f * 256 / size as u32;
            t * t * (768 - 2 * t) / 65536
        };
        let (sx, sy) = (smooth(fx), smooth(fy));
        let top = corner(cx, cy) * (256 - sx) + corner(cx + 1, cy) * sx;
        let bottom = corner(cx, cy + 1) * (256 - sx) + corner(cx + 1, cy + 1) * sx;
        let value = (top * (256 - sy) + bottom * sy) / 65536;
        sum += value >> (octave + 1);
        size = (size / 2).max(1);
    }
    sum
}

/// A meadow below hills and an evening sky.
pub fn meadow(x: usize, y: usize, width: usize, height: usize) -> [u8; 3] {
    let noise = hills(x, y, height / 5, 5) as f32 / 255.0;
    let ridge = height / 3 + height * hills(x, 0, width / 5, 8) as usize / 1400;
    let down = y as f32 / height as f32;
    if y < ridge {
        let sun =
            (x as f32 / width as f32 - 0.7).hypot((down - 0.25) * height as f32 / width as f32);
        if sun < 0.05 {
            return [255, 240, 190];
        }
        return ramp(
            &[[40, 60, 130], [200, 120, 120], [255, 200, 140]],
            1.8 * down + 0.15 * noise,
        );
    }
    ramp(
        &[[50, 60, 90], [60, 110, 70], [150, 170, 60], [90, 60, 30]],
        (down - 0.35) + 0.5 * noise,
    )
}
