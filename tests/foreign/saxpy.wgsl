// y = a x + y, for naga. The numbers of its bindings are arbitrary.
struct Numbers {
    n: u32,
    a: f32,
}
@group(0) @binding(0) var<uniform> numbers: Numbers;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;

override SRK_BLOCK_X: u32 = 64u;

@compute @workgroup_size(SRK_BLOCK_X)
fn saxpy(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i < numbers.n) {
        y[i] = numbers.a * x[i] + y[i];
    }
}
