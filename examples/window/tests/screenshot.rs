//! The window under a virtual display: its pixels are those that the CPU computes.
//!
//! It needs `Xvfb` and `xwd`. Where they are absent, it says so and passes, unless `SAREK_REQUIRE_XVFB=1`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sarek::Device;
use sarek_window::simulation::{SIZE, Simulation};

const FRAMES: u32 = 3;

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a virtual display of 1024 x 600 pixels. It writes its number to its output.
fn display() -> Option<(Running, String)> {
    let mut server = Command::new("Xvfb");
    server.args([
        "-displayfd",
        "1",
        "-screen",
        "0",
        "1024x600x24",
        "-nolisten",
        "tcp",
    ]);
    server.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Running(server.spawn().ok()?);
    let mut number = String::new();
    let output = server.0.stdout.as_mut().expect("its output");
    BufReader::new(output)
        .read_line(&mut number)
        .expect("its number");
    Some((server, format!(":{}", number.trim())))
}

/// The pixels of a display as 0xRRGGBB, row by row, and the length of a row.
fn screenshot(display: &str) -> (Vec<u32>, usize) {
    let mut xwd = Command::new("xwd");
    let dump = xwd.args(["-root", "-silent", "-display", display]).output();
    let dump = dump.expect("xwd").stdout;
    // The header, in big-endian words: its length, then among others width, height, bits of a pixel, bytes of a row, colours.
    let word =
        |at: usize| u32::from_be_bytes(dump[4 * at..][..4].try_into().expect("a word")) as usize;
    let (width, height, colours) = (word(4), word(5), word(19));
    assert_eq!(
        (word(7), word(11), word(12)),
        (0, 32, 4 * width),
        "little-endian pixels of 32 bits"
    );
    let pixels = dump[word(0) + 12 * colours..][..4 * width * height].chunks_exact(4);
    let pixel = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("a pixel")) & 0xff_ffff;
    (pixels.map(pixel).collect(), width)
}

/// The picture after all frames, by the CPU, as 0xRRGGBB.
fn expected() -> Vec<u32> {
    let mut simulation = Simulation::new(&Device::of("native").expect("the CPU"));
    for _ in 0..FRAMES {
        simulation.advance().expect("a frame");
    }
    let colours = simulation.colours.into_vec().expect("colours");
    let swapped = |colour: &u32| colour.swap_bytes() >> 8;
    colours.iter().map(swapped).collect()
}

/// The number of pixels that differ from the picture, drawn twice as large at the window's place.
fn difference(screen: &[u32], row: usize, picture: &[u32], (left, top): (usize, usize)) -> usize {
    let (width, height) = SIZE;
    let places = (0..4 * width * height).map(|at| (at % (2 * width), at / (2 * width)));
    let differs = |&(x, y): &(usize, usize)| {
        screen[(top + y) * row + left + x] != picture[y / 2 * width + x / 2]
    };
    places.filter(differs).count()
}

#[test]
fn the_window_shows_the_picture() {
    let required = std::env::var_os("SAREK_REQUIRE_XVFB").is_some();
    let Some((_server, display)) = display() else {
        assert!(!required, "Xvfb is not installed");
        println!("not tested: Xvfb is not installed");
        return;
    };
    if Device::of("wgpu").is_err() {
        println!("not tested: no device of wgpu");
        return;
    }
    let mut window = Command::new(env!("CARGO_BIN_EXE_sarek-window"));
    window.args(["--frames", &FRAMES.to_string()]);
    window
        .env("DISPLAY", &display)
        .env_remove("WAYLAND_DISPLAY");
    let mut window = Running(window.stdout(Stdio::piped()).spawn().expect("the window"));
    let output = BufReader::new(window.0.stdout.take().expect("its output"));
    let drawn = output
        .lines()
        .map_while(Result::ok)
        .any(|line| line == "all frames are drawn");
    assert!(drawn, "the window closed early");
    let picture = expected();
    let start = Instant::now();
    loop {
        let (screen, row) = screenshot(&display);
        let wrong = difference(&screen, row, &picture, (0, 0));
        if wrong == 0 {
            break;
        }
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{wrong} pixels of the window are wrong"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}
