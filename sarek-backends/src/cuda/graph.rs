//! CUDA graphs.
//!
//! The driver captures a graph from a private stream: the usual calls queue the operations, but none of them runs. So
//! launches and copies have only one implementation.

use std::any::Any;
use std::ptr;
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError, graph, stream};
use cudarc::driver::sys::{
    CUDA_KERNEL_NODE_PARAMS, CUgraph, CUgraphExec, CUgraphInstantiate_flags, CUgraphNode, CUresult,
    CUstreamCaptureMode, CUstreamCaptureStatus, cuGraphExecKernelNodeSetParams_v2,
    cuStreamGetCaptureInfo_v2,
};
use sarek_runtime::Result;
use sarek_runtime::backend::{BackendGraph, BackendStream, GraphOp, Launch};

use super::device::Shared;
use super::foreign;
use super::stream::{Stream, with_arguments};
use crate::jit;

/// An executable graph. The framework keeps the memory and programs that it uses alive.
pub(super) struct Graph {
    shared: Arc<Shared>,
    exec: CUgraphExec,
    /// The captured graph, to which the nodes belong.
    captured: Captured,
    /// The node of each operation, if the driver returns it.
    nodes: Vec<Option<CUgraphNode>>,
}

// SAFETY: see `Shared`; the framework launches a graph from one thread at a time.
unsafe impl Send for Graph {}
// SAFETY: as above.
unsafe impl Sync for Graph {}

impl Graph {
    pub fn new(shared: &Arc<Shared>, operations: &[GraphOp<'_>]) -> Result<Graph> {
        let to_error = |call| move |error: DriverError| shared.error(call, error);
        let capturing = Stream::on(shared.clone(), shared.private_stream()?);
        // Relaxed: other calls of this thread and of others do not concern this stream.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is live and private.
        unsafe { stream::begin_capture(capturing.raw(), mode) }
            .map_err(to_error("cuStreamBeginCapture"))?;
        let mut nodes = Vec::with_capacity(operations.len());
        let queued = operations.iter().try_for_each(|op| {
            // SAFETY: the caller's promise of all operations.
            unsafe { queue(&capturing, op) }?;
            nodes.push(last_node(&capturing));
            Ok(())
        });
        // SAFETY: the stream is being captured; this ends the capture regardless of what was queued.
        let captured = unsafe { stream::end_capture(capturing.raw()) };
        let captured = captured.map_err(to_error("cuStreamEndCapture"));
        let captured = match (queued, captured) {
            (Ok(()), captured) => Captured(captured?),
            (Err(error), captured) => {
                drop(captured.map(Captured));
                return Err(error);
            }
        };
        // SAFETY: the graph is live.
        let exec = unsafe { graph::instantiate(captured.0, CUgraphInstantiate_flags(0)) };
        Ok(Graph {
            exec: exec.map_err(to_error("cuGraphInstantiate"))?,
            captured,
            nodes,
            shared: shared.clone(),
        })
    }
}

/// # Safety
/// As for [`BackendDevice::graph`], of this operation.
unsafe fn queue(stream: &Stream, operation: &GraphOp<'_>) -> Result<()> {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        match operation {
            GraphOp::Launch(launch) => stream.launch(launch).map(|_| true),
            GraphOp::Zero(to) => stream.zero(to).map(|()| true),
            GraphOp::Copy { to, from } => stream.copy(to, from),
        }
    };
    match outcome? {
        true => Ok(()),
        false => Err(jit::foreign(
            "the CUDA device",
            "a copy between ranges that overlap",
        )),
    }
}

/// The last node of a stream that is being captured; `None` if the driver cannot return it.
fn last_node(stream: &Stream) -> Option<CUgraphNode> {
    if !foreign::driver_knows(11030) {
        return None;
    }
    let (mut status, mut id, mut graph) = (NOT_CAPTURING, 0, ptr::null_mut());
    let (mut last, mut count) = (ptr::null(), 0);
    // SAFETY: the stream is live, and all places are valid to write.
    let to_error = unsafe {
        cuStreamGetCaptureInfo_v2(
            stream.raw(),
            &mut status,
            &mut id,
            &mut graph,
            &mut last,
            &mut count,
        )
    };
    // The next operation on the stream would depend on exactly one node: the last.
    let is_one = to_error == CUresult::CUDA_SUCCESS && status == CAPTURING && count == 1;
    // SAFETY: the driver keeps the list, which has one entry, until the next operation on the stream.
    is_one.then(|| unsafe { *last })
}

const NOT_CAPTURING: CUstreamCaptureStatus = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
const CAPTURING: CUstreamCaptureStatus = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE;

/// A captured graph.
struct Captured(CUgraph);

impl Drop for Captured {
    fn drop(&mut self) {
        // SAFETY: the graph is live and not used after this.
        let _ = unsafe { graph::destroy(self.0) };
    }
}

// SAFETY: the driver's graph was recorded from these operations.
unsafe impl BackendGraph for Graph {
    unsafe fn replay(&self, stream: &dyn BackendStream) -> Result<()> {
        let Some(stream) = (stream as &dyn Any).downcast_ref::<Stream>() else {
            return Err(jit::foreign(&self.shared.name, "another backend's stream"));
        };
        self.shared.bind()?;
        // SAFETY: both are live and of one device; the objects that the graph uses live as long.
        unsafe { result::graph::launch(self.exec, stream.raw()) }
            .map_err(|error| self.shared.error("cuGraphLaunch", error))
    }

    unsafe fn set_launch(&self, operation: usize, launch: &Launch<'_>) -> bool {
        // On any failure, the caller builds a new graph, which reports the cause.
        self.set(operation, launch).unwrap_or(false)
    }
}

impl Graph {
    fn set(&self, operation: usize, launch: &Launch<'_>) -> Result<bool> {
        let Some(Some(node)) = self.nodes.get(operation) else {
            return Ok(false);
        };
        // The nodes belong to the captured graph.
        debug_assert!(!self.captured.0.is_null());
        self.shared.bind()?;
        with_arguments(&self.shared, launch, |function, dynamic, pointers| {
            let params = CUDA_KERNEL_NODE_PARAMS {
                func: function,
                gridDimX: launch.grid[0],
                gridDimY: launch.grid[1],
                gridDimZ: launch.grid[2],
                blockDimX: launch.space.block[0],
                blockDimY: launch.space.block[1],
                blockDimZ: launch.space.block[2],
                sharedMemBytes: dynamic,
                kernelParams: pointers.as_mut_ptr(),
                extra: ptr::null_mut(),
                kern: ptr::null_mut(),
                ctx: ptr::null_mut(),
            };
            // SAFETY: the graph and its node are live. Each parameter has a pointer to a value of its size, which is
            // copied. Programs and memory live as long as the graph, see `BackendDevice::graph`.
            let set = unsafe { cuGraphExecKernelNodeSetParams_v2(self.exec, *node, &params) };
            Ok(set == CUresult::CUDA_SUCCESS)
        })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if self.shared.bind().is_ok() {
            // SAFETY: no one can launch it any more; if it still runs, the driver destroys it afterwards.
            let _ = unsafe { graph::exec_destroy(self.exec) };
        }
    }
}
