//! The tests' kernels in the backends' languages.

use sarek_ir::write::{Slot, SlotKind, Source, SourceFile, Wgsl};
use sarek_ir::{Axis, ParamId, Scalar};

const CUDA: &str = "#define KERNEL extern \"C\" __global__ void\n#define GLOBAL\n\
     #define ID (blockIdx.x * blockDim.x + threadIdx.x)\ntypedef unsigned int uint;\n\
     typedef unsigned long long ulong;\n";
const OPENCL: &str = "#define KERNEL kernel void\n#define GLOBAL global\n\
     #define ID ((uint)get_global_id(0))\n";

/// The kernel in the backend's language: C, common to CUDA and OpenCL, or WGSL.
fn source(backend: &str, c: &str, wgsl: &str, slots: &[Slot]) -> Source {
    let text = match backend {
        "cuda" => format!("{CUDA}{c}"),
        "opencl" => format!("{OPENCL}{c}"),
        "wgpu" => wgsl_text(wgsl),
        other => panic!("no text for {other}"),
    };
    Source {
        text,
        entry: "entry".into(),
        slots: slots.to_vec(),
        ..Source::default()
    }
}

/// The WGSL text. `ENTRY` stands for the attributes of the entry point, whose name is `entry`.
fn wgsl_text(wgsl: &str) -> String {
    let [x, y, z] = Wgsl::BLOCK;
    let entry = format!("@compute @workgroup_size({x}, {y}, {z})\nfn entry");
    format!(
        "override {x}: u32;\noverride {y}: u32;\noverride {z}: u32;\n{}",
        wgsl.replace("ENTRY", &entry)
    )
}

fn buffer(param: u32, ty: Scalar, mutable: bool) -> Slot {
    let param = ParamId(param);
    Slot {
        kind: SlotKind::Buffer { param, mutable },
        ty,
    }
}

fn scalar(param: u32, ty: Scalar) -> Slot {
    Slot {
        kind: SlotKind::Scalar(ParamId(param)),
        ty,
    }
}

fn extent() -> Slot {
    Slot {
        kind: SlotKind::Extent(Axis::X),
        ty: Scalar::U32,
    }
}

/// `y[i] += a * x[i]`; arguments `a`, `x`, `y`, the extent.
pub fn saxpy(backend: &str) -> Source {
    source(
        backend,
        "KERNEL entry(float a, GLOBAL const float* x, GLOBAL float* y, uint n) {
            uint i = ID;
            if (i < n) y[i] = a * x[i] + y[i];
        }",
        "struct Scalars { a: f32, n: u32 }
        @group(0) @binding(0) var<storage, read> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        @group(0) @binding(2) var<uniform> s: Scalars;
        ENTRY(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x < s.n { y[id.x] = s.a * x[id.x] + y[id.x]; }
        }",
        &[
            scalar(0, Scalar::F32),
            buffer(1, Scalar::F32, false),
            buffer(2, Scalar::F32, true),
            extent(),
        ],
    )
}

/// Adds `k + 1` to the first element of the `k`th of `count` buffers of `u32`.
pub fn number(backend: &str, count: u32) -> Source {
    let list = |f: &dyn Fn(u32) -> String, separator| {
        (0..count).map(f).collect::<Vec<_>>().join(separator)
    };
    let c = format!(
        "KERNEL entry({}) {{ if (ID == 0) {{ {} }} }}",
        list(&|k| format!("GLOBAL uint* b{k}"), ", "),
        list(&|k| format!("b{k}[0] += {};", k + 1), " ")
    );
    let wgsl = format!(
        "{}\nENTRY(@builtin(global_invocation_id) id: vec3<u32>) {{ if id.x == 0u {{ {} }} }}",
        list(
            &|k| format!("@group(0) @binding({k}) var<storage, read_write> b{k}: array<u32>;"),
            "\n"
        ),
        list(&|k| format!("b{k}[0] += {}u;", k + 1), " ")
    );
    let slots: Vec<Slot> = (0..count).map(|k| buffer(k, Scalar::U32, true)).collect();
    source(backend, &c, &wgsl, &slots)
}

/// Writes its scalars' bits: `a: u32, b: u64, c: f32` to `[a, low b, high b, bits of c]`.
pub fn scalars(backend: &str) -> Source {
    let bits = match backend {
        "cuda" => "__float_as_uint(c)",
        _ => "as_uint(c)",
    };
    source(
        backend,
        &format!(
            "KERNEL entry(uint a, GLOBAL uint* out, ulong b, float c) {{
                if (ID == 0) {{
                    out[0] = a; out[1] = (uint)b; out[2] = (uint)(b >> 32); out[3] = {bits};
                }}
            }}"
        ),
        "struct Scalars { a: u32, b: u64, c: f32 }
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<uniform> s: Scalars;
        ENTRY(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x == 0u {
                out[0] = s.a; out[1] = u32(s.b); out[2] = u32(s.b >> 32u);
                out[3] = bitcast<u32>(s.c);
            }
        }",
        &[
            scalar(0, Scalar::U32),
            buffer(1, Scalar::U32, true),
            scalar(2, Scalar::U64),
            scalar(3, Scalar::F32),
        ],
    )
}

/// Steps a generator `rounds` times on each element: a kernel of any duration.
pub fn churn(backend: &str) -> Source {
    source(
        backend,
        "KERNEL entry(GLOBAL uint* v, uint rounds, uint n) {
            uint i = ID;
            if (i < n) {
                uint x = v[i];
                for (uint k = 0; k < rounds; k++) x = x * 1664525u + 1013904223u;
                v[i] = x;
            }
        }",
        "struct Scalars { rounds: u32, n: u32 }
        @group(0) @binding(0) var<storage, read_write> v: array<u32>;
        @group(0) @binding(1) var<uniform> s: Scalars;
        ENTRY(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x < s.n {
                var x = v[id.x];
                for (var k = 0u; k < s.rounds; k++) { x = x * 1664525u + 1013904223u; }
                v[id.x] = x;
            }
        }",
        &[
            buffer(0, Scalar::U32, true),
            scalar(1, Scalar::U32),
            extent(),
        ],
    )
}

/// The result of [`churn`] for a value.
pub fn churned(x: u32, rounds: u32) -> u32 {
    (0..rounds).fold(x, |x, _| x.wrapping_mul(1664525).wrapping_add(1013904223))
}

/// A text with two kernels: `entry` adds 1 to each element, `double` doubles it.
pub fn two(backend: &str) -> Source {
    source(
        backend,
        "KERNEL entry(GLOBAL uint* v, uint n) {
            uint i = ID;
            if (i < n) v[i] += 1;
        }
        KERNEL double_(GLOBAL uint* v, uint n) {
            uint i = ID;
            if (i < n) v[i] *= 2;
        }",
        "struct Scalars { n: u32 }
        @group(0) @binding(0) var<storage, read_write> v: array<u32>;
        @group(0) @binding(1) var<uniform> s: Scalars;
        ENTRY(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x < s.n { v[id.x] += 1u; }
        }
        @compute @workgroup_size(SRK_BLOCK_X, SRK_BLOCK_Y, SRK_BLOCK_Z)
        fn double_(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x < s.n { v[id.x] *= 2u; }
        }",
        &[buffer(0, Scalar::U32, true), extent()],
    )
}

/// A kernel that stores `3 * v[i] + 4` in each element. The factor is a constant of a header; the function is a text of
/// its own, and the summand an option or a constant of that text alone.
pub fn several(backend: &str) -> Source {
    let (header, unit) = match backend {
        "wgpu" => (
            SourceFile::header("factor.h", "wgsl", "const FACTOR = 3u;"),
            SourceFile::unit(
                "scale",
                "wgsl",
                "const SUMMAND = 4u;\nfn scale(x: u32) -> u32 { return FACTOR * x + SUMMAND; }",
            ),
        ),
        _ => (
            SourceFile::header("factor.h", backend, "#define FACTOR 3"),
            SourceFile::unit(
                "scale",
                backend,
                "#include \"factor.h\"\n#ifdef __CUDACC__\n__device__\n#endif\n\
                 unsigned scale(unsigned x) { return FACTOR * x + SUMMAND; }",
            )
            .with_options(["-DSUMMAND=4"]),
        ),
    };
    let files = vec![header, unit];
    let main = source(
        backend,
        "#include \"factor.h\"
        #ifdef __CUDACC__
        __device__
        #endif
        unsigned scale(unsigned x);
        #ifdef SUMMAND
        #error this option is for the other text
        #endif
        KERNEL entry(GLOBAL uint* v, uint n) {
            uint i = ID;
            if (i < n) v[i] = scale(v[i]) + FACTOR - 3;
        }",
        "#include \"factor.h\"
        struct Scalars { n: u32 }
        @group(0) @binding(0) var<storage, read_write> v: array<u32>;
        @group(0) @binding(1) var<uniform> s: Scalars;
        ENTRY(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x < s.n { v[id.x] = scale(v[id.x]) + FACTOR - 3u; }
        }",
        &[buffer(0, Scalar::U32, true), extent()],
    );
    Source { files, ..main }
}

/// An empty kernel.
pub fn nothing(backend: &str) -> Source {
    source(backend, "KERNEL entry() {}", "ENTRY() {}", &[])
}

/// Uses a name that is not declared: `undeclared_thing`.
pub fn broken(backend: &str) -> Source {
    source(
        backend,
        "KERNEL entry(GLOBAL uint* v) { v[0] = undeclared_thing; }",
        "@group(0) @binding(0) var<storage, read_write> v: array<u32>;
        ENTRY() { v[0] = undeclared_thing; }",
        &[buffer(0, Scalar::U32, true)],
    )
}
