//! Two chemicals that react, live in a window: `cargo run --release -p sarek-window`.
//!
//! Hold the mouse button to pour the second chemical. `--frames N` stops the reaction after N frames, and says so.

use std::error::Error;
use std::sync::Arc;

use sarek_window::screen::Screen;
use sarek_window::simulation::{SIZE, Simulation};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, WindowEvent};
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::window::{Window, WindowId};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// The program: its window opens when the event loop has begun.
struct App {
    open: Option<(Screen, Simulation)>,
    /// The number of frames still to compute, if limited.
    frames: Option<u32>,
    /// The pointer in the window, in parts of its width and height.
    pointer: (f64, f64),
    pressed: bool,
    failed: Option<Box<dyn Error>>,
}

impl App {
    fn open(&mut self, events: &ActiveEventLoop) -> Fallible<()> {
        let (width, height) = (2 * SIZE.0 as u32, 2 * SIZE.1 as u32);
        let attributes = Window::default_attributes()
            .with_title("sarek: two chemicals")
            .with_inner_size(PhysicalSize::new(width, height));
        let window = Arc::new(events.create_window(attributes)?);
        let screen = Screen::new(window, SIZE)?;
        println!("drawing on {}", screen.device.name());
        let simulation = Simulation::new(&screen.device);
        self.open = Some((screen, simulation));
        Ok(())
    }

    fn draw(&mut self) -> Fallible<()> {
        let Some((screen, simulation)) = &mut self.open else {
            return Ok(());
        };
        if self.pressed {
            simulation.pour(self.pointer.0, self.pointer.1)?;
        }
        if self.frames != Some(0) {
            simulation.advance()?;
        }
        let drawn = screen.draw(&simulation.colours)?;
        if let Some(frames) = &mut self.frames
            && drawn
            && *frames > 0
        {
            *frames -= 1;
            if *frames == 0 {
                println!("all frames are drawn");
            }
        }
        screen.window.request_redraw();
        Ok(())
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.open.is_none()
            && let Err(error) = self.open(events)
        {
            self.failed = Some(error);
            events.exit();
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some((screen, _)) = &mut self.open else {
            return;
        };
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::Resized(size) => screen.resize(size),
            WindowEvent::CursorMoved { position, .. } => {
                let size = screen.window.inner_size();
                self.pointer = (
                    position.x / f64::from(size.width.max(1)),
                    position.y / f64::from(size.height.max(1)),
                );
            }
            WindowEvent::MouseInput { state, .. } => self.pressed = state == ElementState::Pressed,
            WindowEvent::RedrawRequested => {
                if let Err(error) = self.draw() {
                    self.failed = Some(error);
                    events.exit();
                }
            }
            _ => {}
        }
    }
}

fn main() -> Fallible<()> {
    let mut words = std::env::args().skip(1);
    let frames = match (words.next().as_deref(), words.next()) {
        (None, _) => None,
        (Some("--frames"), Some(number)) => Some(number.parse()?),
        _ => return Err("the only option is `--frames N`".into()),
    };
    let mut app = App {
        open: None,
        frames,
        pointer: (0.5, 0.5),
        pressed: false,
        failed: None,
    };
    EventLoop::new()?.run_app(&mut app)?;
    app.failed.map_or(Ok(()), Err)
}
