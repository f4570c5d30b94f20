//! Reserved words: keywords, and words that a user's name would hide.
//!
//! Names with two underscores and names that begin with `srk_` need no table, since the namer never makes such names.

/// The names of types in every text.
#[rustfmt::skip]
pub(super) const TYPES: &[&str] = &[
    "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "usize", "isize", "f16", "bf16", "f32",
    "f64",
];

/// C99, with names that its compilers predefine, and our own.
#[rustfmt::skip]
pub(super) const C: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict",
    "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union",
    "unsigned", "void", "volatile", "while", "bool", "true", "false", "asm", "typeof", "NULL",
    "main", "size_t", "ptrdiff_t", "intptr_t", "uintptr_t", "thread",
];

/// C++20, beyond C.
#[rustfmt::skip]
pub(super) const CPP: &[&str] = &[
    "alignas", "alignof", "and", "and_eq", "asm", "bitand", "bitor", "catch", "class", "compl",
    "concept", "const_cast", "consteval", "constexpr", "constinit", "co_await", "co_return",
    "co_yield", "decltype", "delete", "dynamic_cast", "explicit", "export", "friend", "mutable",
    "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq",
    "private", "protected", "public", "reinterpret_cast", "requires", "static_assert",
    "static_cast", "template", "this", "thread_local", "throw", "try", "typeid", "typename",
    "using", "virtual", "wchar_t", "char8_t", "char16_t", "char32_t", "xor", "xor_eq",
];

/// Mathematical functions of the C dialects.
#[rustfmt::skip]
pub(super) const MATH: &[&str] = &[
    "abs", "fabs", "min", "max", "fmin", "fmax", "clamp", "sqrt", "rsqrt", "cbrt", "exp", "exp2",
    "exp10", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan",
    "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "pow", "hypot", "floor", "ceil",
    "round", "trunc", "rint", "fma", "fmod", "remainder", "copysign", "isnan", "isinf", "isfinite",
    "signbit", "sincos", "erf", "erfc", "tgamma", "lgamma", "ldexp", "frexp", "modf", "nan", "fdim",
    "logb", "ilogb", "nextafter", "remquo", "sinpi", "cospi", "tanpi", "rotate", "printf",
];

/// CUDA's variables, types and functions.
#[rustfmt::skip]
pub(super) const CUDA: &[&str] = &[
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "assert", "atomicAdd", "atomicSub",
    "atomicExch", "atomicMin", "atomicMax", "atomicInc", "atomicDec", "atomicCAS", "atomicAnd",
    "atomicOr", "atomicXor", "clock", "clock64", "llabs", "labs", "malloc", "free", "memcpy",
    "memset", "dim3", "uint3", "uint2", "uint4", "uint", "int2", "int3", "int4", "float2", "float3",
    "float4", "double2", "double3", "double4", "char1", "char2", "char3", "char4", "uchar",
    "uchar2", "uchar4", "short2", "short4", "ushort", "longlong2", "ulonglong2", "llmin", "llmax",
    "ullmin", "ullmax", "umin", "umax", "norm", "norm3d", "norm4d", "rnorm",
    "std", "fabsf", "fminf", "fmaxf", "sqrtf", "rsqrtf", "cbrtf", "expf", "exp2f",
    "exp10f", "expm1f", "logf", "log1pf", "log2f", "log10f", "sinf", "cosf", "tanf", "asinf",
    "acosf", "atanf", "atan2f", "sinhf", "coshf", "tanhf", "asinhf", "acoshf", "atanhf", "powf",
    "hypotf", "floorf", "ceilf", "roundf", "truncf", "rintf", "fmaf", "fmodf", "remainderf",
    "copysignf", "sincosf", "erff", "erfcf",
];

/// OpenCL C's keywords, types, functions and constants.
#[rustfmt::skip]
pub(super) const OPENCL: &[&str] = &[
    "kernel", "global", "local", "constant", "private", "generic", "read_only", "write_only",
    "read_write", "uniform", "pipe", "complex", "imaginary", "half", "uchar", "ushort", "uint",
    "ulong", "quad", "event_t", "sampler_t", "image1d_t", "image1d_array_t", "image1d_buffer_t",
    "image2d_t", "image2d_array_t", "image3d_t", "cl_mem_fence_flags", "get_work_dim",
    "get_global_size", "get_global_id", "get_local_size", "get_local_id", "get_num_groups",
    "get_group_id", "get_global_offset", "barrier", "mem_fence", "read_mem_fence",
    "write_mem_fence", "prefetch", "vec_step", "shuffle", "shuffle2", "select", "any", "all",
    "bitselect", "isequal", "isnotequal", "isgreater", "isgreaterequal", "isless", "islessequal",
    "islessgreater", "isnormal", "isordered", "isunordered", "add_sat", "sub_sat", "abs_diff",
    "hadd", "rhadd", "mad", "mad_hi", "mad_sat", "mad24", "mul24", "mul_hi", "upsample", "popcount",
    "clz", "ctz", "degrees", "radians", "mix", "step", "smoothstep", "sign", "cross", "dot",
    "distance", "length", "normalize", "fast_distance", "fast_length", "fast_normalize", "fract",
    "maxmag", "minmag", "nan", "pown", "powr", "rootn", "acospi", "asinpi", "atanpi", "atan2pi",
    "lgamma_r", "tgamma", "atomic_add", "atomic_sub", "atomic_xchg", "atomic_inc", "atomic_dec",
    "atomic_cmpxchg", "atom_add", "atom_sub", "atom_xchg", "atom_min", "atom_max", "atom_and", "atom_or",
    "atom_xor", "atom_cmpxchg", "atomic_min", "atomic_max", "atomic_and", "atomic_or", "atomic_xor",
    "as_char", "as_uchar", "as_short", "as_ushort", "as_int", "as_uint", "as_long", "as_ulong",
    "as_float", "as_double", "MAXFLOAT", "HUGE_VAL", "INFINITY", "NAN", "FLT_MAX", "FLT_MIN",
    "FLT_EPSILON", "INT_MAX", "INT_MIN", "UINT_MAX", "LONG_MAX", "LONG_MIN", "ULONG_MAX", "M_PI",
    "M_E", "M_PI_F", "M_E_F", "CHAR_BIT", "char2", "char3", "char4", "char8", "char16", "uchar2",
    "uchar3", "uchar4", "uchar8", "uchar16", "short2", "short3", "short4", "short8", "short16",
    "ushort2", "ushort3", "ushort4", "ushort8", "ushort16", "int2", "int3", "int4", "int8", "int16",
    "uint2", "uint3", "uint4", "uint8", "uint16", "long2", "long3", "long4", "long8", "long16",
    "ulong2", "ulong3", "ulong4", "ulong8", "ulong16", "float2", "float3", "float4", "float8",
    "float16", "double2", "double3", "double4", "double8", "double16", "half2", "half3", "half4",
    "half8", "half16", "native_cos", "native_divide", "native_exp", "native_exp2", "native_exp10",
    "native_log", "native_log2", "native_log10", "native_powr", "native_recip", "native_rsqrt",
    "native_sin", "native_sqrt", "native_tan",
];

/// WGSL's keywords, reserved words, types, enumerants and functions, and our own names.
#[rustfmt::skip]
pub(super) const WGSL: &[&str] = &[
    "alias", "break", "case", "const", "const_assert", "continue", "continuing", "default",
    "diagnostic", "discard", "else", "enable", "false", "fn", "for", "if", "let", "loop",
    "override", "requires", "return", "struct", "switch", "true", "var", "while", "NULL", "Self",
    "abstract", "active", "alignas", "alignof", "as", "asm", "asm_fragment", "async", "attribute",
    "auto", "await", "become", "cast", "catch", "class", "co_await", "co_return", "co_yield",
    "coherent", "column_major", "common", "compile", "compile_fragment", "concept", "const_cast",
    "consteval", "constexpr", "constinit", "crate", "debugger", "decltype", "delete", "demote",
    "demote_to_helper", "do", "dynamic_cast", "enum", "explicit", "export", "extends", "extern",
    "external", "fallthrough", "filter", "final", "finally", "friend", "from", "fxgroup", "get",
    "goto", "groupshared", "highp", "impl", "implements", "import", "inline", "instanceof",
    "interface", "layout", "lowp", "macro", "macro_rules", "match", "mediump", "meta", "mod",
    "module", "move", "mut", "mutable", "namespace", "new", "nil", "noexcept", "noinline",
    "nointerpolation", "non_coherent", "noncoherent", "noperspective", "null", "nullptr", "of",
    "operator", "package", "packoffset", "partition", "pass", "patch", "pixelfragment", "precise",
    "precision", "premerge", "priv", "protected", "pub", "public", "readonly", "ref", "regardless",
    "register", "reinterpret_cast", "require", "resource", "restrict", "self", "set", "shared",
    "sizeof", "smooth", "snorm", "static", "static_assert", "static_cast", "std", "subroutine",
    "super", "target", "template", "this", "thread_local", "throw", "trait", "try", "type",
    "typedef", "typeid", "typename", "typeof", "union", "unless", "unorm", "unsafe", "unsized",
    "use", "using", "varying", "virtual", "volatile", "wgsl", "where", "with", "writeonly", "yield",
    "bool", "i32", "u32", "f32", "f16", "array", "atomic", "vec2", "vec3", "vec4", "mat2x2",
    "mat2x3", "mat2x4", "mat3x2", "mat3x3", "mat3x4", "mat4x2", "mat4x3", "mat4x4", "ptr",
    "sampler", "sampler_comparison", "texture_1d", "texture_2d", "texture_2d_array", "texture_3d",
    "texture_cube", "texture_cube_array", "texture_multisampled_2d",
    "texture_depth_multisampled_2d", "texture_external", "texture_storage_1d", "texture_storage_2d",
    "texture_storage_2d_array", "texture_storage_3d", "texture_depth_2d", "texture_depth_2d_array",
    "texture_depth_cube", "texture_depth_cube_array", "read", "write", "read_write", "function",
    "private", "workgroup", "uniform", "storage", "rgba8unorm", "rgba8snorm", "rgba8uint",
    "rgba8sint", "rgba16unorm", "rgba16snorm", "rgba16uint", "rgba16sint", "rgba16float",
    "rg8unorm", "rg8snorm", "rg8uint", "rg8sint", "rg16unorm", "rg16snorm", "rg16uint", "rg16sint",
    "rg16float", "r32uint", "r32sint", "r32float", "rg32uint", "rg32sint", "rg32float",
    "rgba32uint", "rgba32sint", "rgba32float", "bgra8unorm", "r8unorm", "r8snorm", "r8uint",
    "r8sint", "r16unorm", "r16snorm", "r16uint", "r16sint", "r16float", "rgb10a2unorm",
    "rgb10a2uint", "rg11b10ufloat", "bitcast", "all", "any", "select", "arrayLength", "abs", "acos",
    "acosh", "asin", "asinh", "atan", "atanh", "atan2", "ceil", "clamp", "cos", "cosh",
    "countLeadingZeros", "countOneBits", "countTrailingZeros", "cross", "degrees", "determinant",
    "distance", "dot", "dot4U8Packed", "dot4I8Packed", "exp", "exp2", "extractBits", "faceForward",
    "firstLeadingBit", "firstTrailingBit", "floor", "fma", "fract", "frexp", "insertBits",
    "inverseSqrt", "ldexp", "length", "log", "log2", "max", "min", "mix", "modf", "normalize",
    "pow", "quantizeToF16", "radians", "reflect", "refract", "reverseBits", "round", "saturate",
    "sign", "sin", "sinh", "smoothstep", "sqrt", "step", "tan", "tanh", "transpose", "trunc",
    "dpdx", "dpdxCoarse", "dpdxFine", "dpdy", "dpdyCoarse", "dpdyFine", "fwidth", "fwidthCoarse",
    "fwidthFine", "textureDimensions", "textureGather", "textureGatherCompare", "textureLoad",
    "textureNumLayers", "textureNumLevels", "textureNumSamples", "textureSample",
    "textureSampleBias", "textureSampleCompare", "textureSampleCompareLevel", "textureSampleGrad",
    "textureSampleLevel", "textureSampleBaseClampToEdge", "textureStore", "atomicLoad",
    "atomicStore", "atomicAdd", "atomicSub", "atomicMax", "atomicMin", "atomicAnd", "atomicOr",
    "atomicXor", "atomicExchange", "atomicCompareExchangeWeak", "pack4x8snorm", "pack4x8unorm",
    "pack4xI8", "pack4xU8", "pack4xI8Clamp", "pack4xU8Clamp", "pack2x16snorm", "pack2x16unorm",
    "pack2x16float", "unpack4x8snorm", "unpack4x8unorm", "unpack4xI8", "unpack4xU8",
    "unpack2x16snorm", "unpack2x16unorm", "unpack2x16float", "storageBarrier", "textureBarrier",
    "workgroupBarrier", "workgroupUniformLoad", "subgroupAdd", "subgroupExclusiveAdd",
    "subgroupInclusiveAdd", "subgroupAll", "subgroupAnd", "subgroupAny", "subgroupBallot",
    "subgroupBroadcast", "subgroupBroadcastFirst", "subgroupElect", "subgroupMax", "subgroupMin",
    "subgroupMul", "subgroupExclusiveMul", "subgroupInclusiveMul", "subgroupOr", "subgroupShuffle",
    "subgroupShuffleDown", "subgroupShuffleUp", "subgroupShuffleXor", "subgroupXor",
    "quadBroadcast", "quadSwapDiagonal", "quadSwapX", "quadSwapY", "i64", "u64", "f64",
    "push_constant", "r64uint", "vec2f", "vec2i", "vec2u", "vec3f", "vec3i", "vec3u", "vec4f",
    "vec4i", "vec4u", "vec2h", "vec3h", "vec4h", "local_id", "group_id", "group_count", "args",
    "Args", "subgroup_size", "subgroup_lane", "modf_result", "frexp_result", "texture", "thread",
];
