//! Two chemicals that react, live in a window. Kernels write the colours into a [`sarek::Vector`], and a shader of
//! wgpu reads them there: no pixel passes through the host.

pub mod screen;
pub mod simulation;
