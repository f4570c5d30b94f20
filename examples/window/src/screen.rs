//! A window's surface, and the pipeline that draws a vector of colours on it. The vector's buffer is bound to the shader.

use std::error::Error;
use std::sync::Arc;

use sarek::interop::wgpu::{bind, device_and_queue, instance_and_adapter, wgpu};
use sarek::{Device, Vector};
use winit::dpi::PhysicalSize;
use winit::window::Window;

const SHADER: &str = "
    override WIDTH: u32;
    override HEIGHT: u32;

    @group(0) @binding(0) var<storage, read> colours: array<u32>;

    struct Corner {
        @builtin(position) position: vec4f,
        @location(0) place: vec2f,
    }

    // One triangle that covers the window; places run from (0, 0) at the top left to (1, 1).
    @vertex fn corner(@builtin(vertex_index) index: u32) -> Corner {
        let place = vec2f(f32(index & 1), f32(index >> 1)) * 2;
        return Corner(vec4f(place.x * 2 - 1, 1 - place.y * 2, 0, 1), place);
    }

    @fragment fn colour(@location(0) place: vec2f) -> @location(0) vec4f {
        let size = vec2u(WIDTH, HEIGHT);
        let cell = min(vec2u(place * vec2f(size)), size - 1);
        return unpack4x8unorm(colours[cell.y * WIDTH + cell.x]);
    }
";

/// A window, its surface, and what draws on it.
pub struct Screen {
    /// The device whose vectors are drawn.
    pub device: Device,
    /// The window of the surface.
    pub window: Arc<Window>,
    own: wgpu::Device,
    queue: wgpu::Queue,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    pipeline: Option<wgpu::RenderPipeline>,
    /// The colours of a row, and the rows.
    picture: (usize, usize),
}

impl Screen {
    /// The surface of a window for a picture, on the first of sarek's devices that can present there.
    pub fn new(window: Arc<Window>, picture: (usize, usize)) -> Result<Screen, Box<dyn Error>> {
        let (instance, _) = instance_and_adapter(&Device::of("wgpu")?)?;
        let surface = instance.create_surface(window.clone())?;
        let devices = Device::all().into_iter();
        let (device, adapter) = devices
            .filter_map(|device| Some((instance_and_adapter(&device).ok()?.1, device)))
            .find_map(|(adapter, device)| {
                adapter
                    .is_surface_supported(&surface)
                    .then_some((device, adapter))
            })
            .ok_or("no device can draw in this window")?;
        let PhysicalSize { width, height } = window.inner_size();
        let mut config = surface
            .get_default_config(&adapter, width.max(1), height.max(1))
            .ok_or("the surface has no format")?;
        // The colours are in the screen's own scale, so no conversion is due.
        config.format = config.format.remove_srgb_suffix();
        let (own, queue) = device_and_queue(&device)?;
        surface.configure(&own, &config);
        Ok(Screen {
            device,
            window,
            own,
            queue,
            surface,
            config,
            pipeline: None,
            picture,
        })
    }

    /// Adapts the surface to the window.
    pub fn resize(&mut self, size: PhysicalSize<u32>) {
        (self.config.width, self.config.height) = (size.width.max(1), size.height.max(1));
        self.surface.configure(&self.own, &self.config);
    }

    /// Draws the colours, and presents them. True if the window took them.
    pub fn draw(&mut self, colours: &Vector<u32>) -> sarek::Result<bool> {
        use wgpu::CurrentSurfaceTexture::{Lost, Outdated, Suboptimal, Success};
        let frame = match self.surface.get_current_texture() {
            Success(frame) | Suboptimal(frame) => frame,
            other => {
                if matches!(other, Outdated | Lost) {
                    self.surface.configure(&self.own, &self.config);
                }
                return Ok(false);
            }
        };
        let lent = colours.lend(&self.device.stream())?;
        let (layout, group) = bind(&[&lent], wgpu::ShaderStages::FRAGMENT)?;
        let pipeline = match self.pipeline.take() {
            Some(pipeline) => pipeline,
            None => self.pipeline(&layout),
        };
        let view = frame
            .texture
            .create_view(&wgpu::TextureViewDescriptor::default());
        let mut commands = self.own.create_command_encoder(&Default::default());
        let mut pass = commands.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations::default(),
            })],
            ..Default::default()
        });
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.draw(0..3, 0..1);
        drop(pass);
        self.queue.submit([commands.finish()]);
        self.window.pre_present_notify();
        self.queue.present(frame);
        self.pipeline = Some(pipeline);
        Ok(true)
    }

    fn pipeline(&self, layout: &wgpu::BindGroupLayout) -> wgpu::RenderPipeline {
        let module = self.own.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(SHADER.into()),
        });
        let layout = self
            .own
            .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                bind_group_layouts: &[Some(layout)],
                ..Default::default()
            });
        let (width, height) = self.picture;
        self.own
            .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: None,
                layout: Some(&layout),
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some("corner"),
                    compilation_options: Default::default(),
                    buffers: &[],
                },
                primitive: Default::default(),
                depth_stencil: None,
                multisample: Default::default(),
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some("colour"),
                    compilation_options: wgpu::PipelineCompilationOptions {
                        constants: &[("WIDTH", width as f64), ("HEIGHT", height as f64)],
                        ..Default::default()
                    },
                    targets: &[Some(self.config.format.into())],
                }),
                multiview_mask: None,
                cache: None,
            })
    }
}
