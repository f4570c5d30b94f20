//! Links and runs kernels with structs, enums and calls.

use super::{Function, Links, link};
use crate::interp::{Host, Ids, Machine};
use crate::sketch::Sketch;
use crate::{
    Argument, Axis, Builtin, CallTarget, EnumInfo, FieldInfo, Kernel, LinkId, Memory, ParamId,
    Root, Scalar, Step, StructInfo, Type, TypeInfo, Unroll, Value, VariantInfo, leaves,
};

const fn field(name: &'static str, ty: TypeInfo, offset: u64) -> FieldInfo {
    FieldInfo { name, ty, offset }
}

const F32: TypeInfo = TypeInfo::Scalar(Scalar::F32);
const U32: TypeInfo = TypeInfo::Scalar(Scalar::U32);
const F64: TypeInfo = TypeInfo::Scalar(Scalar::F64);

const POINT: TypeInfo = TypeInfo::Struct(&StructInfo {
    name: "Point",
    fields: &[field("x", F32, 0), field("y", F32, 4)],
    size: 8,
    align: 4,
});

/// Scalars of two sizes, padding, and an array.
const MIXED: TypeInfo = TypeInfo::Struct(&StructInfo {
    name: "Mixed",
    fields: &[
        field("tag", U32, 0),
        field("wide", F64, 8),
        field("each", TypeInfo::Array(&U32, 3), 16),
    ],
    size: 32,
    align: 8,
});

const SHAPE: TypeInfo = TypeInfo::Enum(&EnumInfo {
    name: "Shape",
    variants: &[
        VariantInfo {
            name: "Dot",
            tag: Value::U32(0),
            fields: &[],
        },
        VariantInfo {
            name: "Circle",
            tag: Value::U32(1),
            fields: &[field("r", F32, 4)],
        },
        VariantInfo {
            name: "Square",
            tag: Value::U32(2),
            fields: &[field("side", U32, 4)],
        },
    ],
    size: 8,
});

/// Slices as lists of values.
struct Memories(Vec<Vec<Value>>, Vec<u64>);

impl Host for Memories {
    fn scalar(&self, param: ParamId) -> Value {
        self.0[param.index()][0]
    }

    fn len(&self, slice: ParamId) -> u64 {
        self.1[slice.index()]
    }

    fn load(&mut self, slice: ParamId, index: u64) -> Value {
        self.0[slice.index()][index as usize]
    }

    fn store(&mut self, slice: ParamId, index: u64, value: Value) {
        self.0[slice.index()][index as usize] = value;
    }
}

/// Links a kernel and runs one thread of it.
fn run(kernel: &Kernel, links: &Links, memories: &mut Memories) -> Kernel {
    assert_eq!(crate::validate(kernel), Ok(()), "{kernel}");
    let closed = link(kernel, links);
    assert!(closed.is_closed());
    assert_eq!(crate::validate(&closed), Ok(()), "{closed}");
    let ids = Ids {
        thread_idx: [0; 3],
        block_idx: [0; 3],
        block_dim: [1; 3],
        grid_dim: [1; 3],
        global_dim: [1; 3],
    };
    let ran = Machine::new(&closed).run(&ids, [1; 3], memories);
    assert_eq!(ran, Ok(()), "{closed}");
    closed
}

fn types(types: &[TypeInfo]) -> Links {
    Links {
        types: types.to_vec(),
        ..Links::default()
    }
}

fn f(v: f32) -> Value {
    Value::f32(v)
}

#[test]
fn a_struct_of_one_scalar_type_is_a_slice_of_it() {
    let s = Sketch::new("k");
    let point = s.named_type("Point");
    let v = s.slice_mut("v", point);
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    let p = s.let_any("p", point, Some(s.load_as(v, i.get(), point)));
    let sum =
        s.field(s.read_any(p.id), "x", Scalar::F32) + s.field(s.read_any(p.id), "y", Scalar::F32);
    let index = s.n(1).id;
    let site = None;
    let memory = Memory::Slice(v);
    let root = Root::Element {
        memory,
        index,
        site,
    };
    s.update(root, vec![Step::Field(s.name("y"))], sum);
    let kernel = s.finish();
    let mut memories = Memories(vec![vec![f(1.0), f(2.0), f(5.0), f(6.0)]], vec![4]);
    let closed = run(&kernel, &types(&[POINT]), &mut memories);
    assert_eq!(memories.0[0], [f(1.0), f(2.0), f(5.0), f(3.0)]);
    let text = closed.to_string();
    assert!(text.contains("v: &mut [f32]"), "{text}");
    assert!(text.contains("v[1usize * 2usize + 1usize]"), "{text}");
}

#[test]
fn scalars_of_several_sizes_are_put_together_from_units() {
    let s = Sketch::new("k");
    let mixed = s.named_type("Mixed");
    let v = s.slice_mut("v", mixed);
    let m = s.let_any("m", mixed, Some(s.load_as(v, s.n(1), mixed)));
    let wide = s.field(s.read_any(m.id), "wide", Scalar::F64);
    s.update(
        Root::Local(m.id),
        vec![Step::Field(s.name("wide"))],
        wide + s.lit(Value::f64(0.5)),
    );
    let index = s.n(2).id;
    let site = None;
    let steps = vec![Step::Field(s.name("each")), Step::Index { index, site }];
    s.update(Root::Local(m.id), steps, s.lit(Value::U32(77)));
    let (memory, index) = (Memory::Slice(v), s.n(0).id);
    let root = Root::Element {
        memory,
        index,
        site,
    };
    s.update(root, vec![], s.read_any(m.id));
    let kernel = s.finish();
    let word = |v: u32| Value::U32(v);
    let bits = 2.25f64.to_bits();
    let mut words = vec![word(0); 16];
    words[8] = word(9);
    words[10] = word(bits as u32);
    words[11] = word((bits >> 32) as u32);
    words[12..15].copy_from_slice(&[word(1), word(2), word(3)]);
    let mut memories = Memories(vec![words], vec![16]);
    run(&kernel, &types(&[MIXED]), &mut memories);
    let bits = 2.75f64.to_bits();
    let expected = [9, 0, bits as u32, (bits >> 32) as u32, 1, 2, 77, 0].map(word);
    assert_eq!(memories.0[0][..8], expected);
}

#[test]
fn variants_share_their_bytes() {
    use crate::Compound;
    let s = Sketch::new("k");
    let shape = s.named_type("Shape");
    let v = s.slice_mut("v", shape);
    let from = s.let_any("from", shape, Some(s.load_as(v, s.n(0), shape)));
    let is_circle = Compound::IsVariant {
        value: s.read_any(from.id).id,
        variant: s.name("Circle"),
    };
    let to = s.let_any("to", shape, None);
    s.if_else(
        s.compound(is_circle, Scalar::Bool),
        || {
            let radius = Compound::Payload {
                value: s.read_any(from.id).id,
                variant: s.name("Circle"),
                name: s.name("r"),
            };
            let r = s.compound(radius, Scalar::F32);
            let side = r.cast(Scalar::U32);
            s.set(to, s.construct(Some("Square"), &[("side", side)], shape));
        },
        || s.set(to, s.construct(Some("Circle"), &[("r", s.f32(4.0))], shape)),
    );
    let (memory, index, site) = (Memory::Slice(v), s.n(1).id, None);
    let root = Root::Element {
        memory,
        index,
        site,
    };
    s.update(root, vec![], s.read_any(to.id));
    let kernel = s.finish();
    for (before, after) in [
        ([1, 7.0f32.to_bits()], [2, 7]),
        ([2, 3], [1, 4.0f32.to_bits()]),
        ([0, 0], [1, 4.0f32.to_bits()]),
    ] {
        let mut words: Vec<Value> = before.map(Value::U32).to_vec();
        words.extend([9, 9].map(Value::U32));
        let mut memories = Memories(vec![words], vec![4]);
        run(&kernel, &types(&[SHAPE]), &mut memories);
        assert_eq!(memories.0[0][2..], after.map(Value::U32));
    }
}

#[test]
fn a_value_is_evaluated_before_it_is_assigned() {
    let s = Sketch::new("k");
    let point = s.named_type("Point");
    let v = s.slice_mut("v", point);
    let p = s.let_any("p", point, Some(s.load_as(v, s.n(0), point)));
    let (x, y) = (
        s.field(s.read_any(p.id), "x", Scalar::F32),
        s.field(s.read_any(p.id), "y", Scalar::F32),
    );
    s.set(p, s.construct(None, &[("x", y), ("y", x)], point));
    let (memory, index, site) = (Memory::Slice(v), s.n(0).id, None);
    let root = Root::Element {
        memory,
        index,
        site,
    };
    s.update(root, vec![], s.read_any(p.id));
    let kernel = s.finish();
    let mut memories = Memories(vec![vec![f(1.0), f(2.0)]], vec![2]);
    run(&kernel, &types(&[POINT]), &mut memories);
    assert_eq!(memories.0[0], [f(2.0), f(1.0)]);
}

#[test]
fn parameters_of_several_parts_become_scalars() {
    let s = Sketch::new("k");
    let mixed = s.named_type("Mixed");
    let m = s.value("m", mixed);
    let v = s.slice_mut("v", Scalar::F64);
    let wide = s.field(s.param_value(m, mixed), "wide", Scalar::F64);
    s.store(v, s.n(0), wide);
    let kernel = s.finish();
    let args = [
        Value::U32(1),
        Value::f64(2.5),
        Value::U32(3),
        Value::U32(4),
        Value::U32(5),
    ];
    let mut memories = args.map(|v| vec![v]).to_vec();
    memories.push(vec![Value::f64(0.0)]);
    let mut memories = Memories(memories, vec![0, 0, 0, 0, 0, 1]);
    run(&kernel, &types(&[MIXED]), &mut memories);
    assert_eq!(memories.0[5], [Value::f64(2.5)]);
    let offsets: Vec<u64> = leaves(&MIXED).iter().map(|leaf| leaf.offset).collect();
    assert_eq!(offsets, [0, 8, 16, 20, 24]);
}

/// `fn pick(p: Point, n: &mut u32) -> f32 { *n += 1; if p.x < 0.0 { return p.y; } p.x }`, or with the `return` in a loop.
fn pick(in_loop: bool) -> &'static Kernel {
    let s = Sketch::new("pick");
    let point = s.named_type("Point");
    let p = s.value("p", point);
    let n = s.reference("n", Scalar::U32);
    let result = s.let_any("result", Scalar::F32, None);
    s.set_result(result);
    let more = s.param_value(n, Scalar::U32) + s.lit(Value::U32(1));
    s.update(Root::Param(n), vec![], more);
    let part = |name| s.field(s.param_value(p, point), name, Scalar::F32);
    let early = || {
        s.if_(part("x").lt(s.f32(0.0)), || {
            s.set(result, part("y"));
            s.return_();
        });
    };
    match in_loop {
        true => s.for_("i", s.n(0), s.n(3), |_, _| early()),
        false => early(),
    }
    s.set(result, part("x"));
    Box::leak(Box::new(s.finish()))
}

#[test]
fn calls_become_bodies() {
    for in_loop in [false, true] {
        let s = Sketch::new("k");
        let point = s.named_type("Point");
        let v = s.slice("v", point);
        let out = s.slice_mut("out", Scalar::F32);
        let count = s.let_mut("count", s.lit(Value::U32(0)));
        let pick_path = s.function("pick");
        for i in 0..2 {
            let got = s.let_any("got", Scalar::F32, None);
            let args = [
                Argument::Value(s.load_as(v, s.n(i), point).id),
                Argument::Local(count.id),
            ];
            s.call_function(pick_path, &args, Some(got));
            s.store(out, s.n(i), got.get());
        }
        s.store(out, s.n(2), count.get().cast(Scalar::F32));
        let kernel = s.finish();
        let links = Links {
            functions: vec![Function {
                ir: pick(in_loop),
                links: types(&[POINT]),
            }],
            ..types(&[POINT])
        };
        let points = [-1.0, 2.0, 3.0, 4.0].map(f).to_vec();
        let mut memories = Memories(vec![points, vec![f(0.0); 3]], vec![4, 3]);
        let closed = run(&kernel, &links, &mut memories);
        assert_eq!(memories.0[1], [f(2.0), f(3.0), f(2.0)], "{closed}");
        let loops = closed.to_string().contains("loop");
        assert_eq!(loops, in_loop, "{closed}");
    }
}

#[test]
fn sites_of_calls_come_after_the_kernels_own() {
    let f = Sketch::new("first");
    let x = f.slice("x", Scalar::F32);
    let result = f.let_any("result", Scalar::F32, None);
    f.set_result(result);
    f.set(result, f.load(x, f.n(0)));
    let mut first = f.finish();
    first.file = "helper.rs".into();
    let first: &'static Kernel = Box::leak(Box::new(first));

    let s = Sketch::new("k");
    let v = s.slice("v", Scalar::F32);
    let out = s.slice_mut("out", Scalar::F32);
    let path = s.function("first");
    let got = s.let_any("got", Scalar::F32, None);
    s.call_function(path, &[Argument::Memory(Memory::Slice(v))], Some(got));
    s.store(out, s.n(0), got.get());
    let kernel = s.finish();
    let links = Links {
        functions: vec![Function {
            ir: first,
            links: Links::default(),
        }],
        ..Links::default()
    };
    let mut memories = Memories(
        vec![vec![Value::f32(8.0)], vec![Value::f32(0.0)]],
        vec![1, 1],
    );
    let closed = run(&kernel, &links, &mut memories);
    assert_eq!(memories.0[1], [Value::f32(8.0)]);
    let kinds: Vec<_> = closed
        .sites
        .iter()
        .map(|s| (closed.file_of(s.loc), s.kind.clone()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("", crate::SiteKind::Index(Memory::Slice(out))),
            ("helper.rs", crate::SiteKind::Index(Memory::Slice(v))),
        ]
    );
    let variant = crate::write::default_variant(&closed, &crate::write::Cuda);
    let source = crate::write::render(&closed, &crate::write::Cuda, &variant).expect("it is plain");
    let text = source.with_line_markers("k.rs", "k.cuda").text;
    let helper =
        "#line 1 \"helper.rs\"\n    f32 result;\n    result = v[0ull];\n#line 2 \"k.rs\"\n";
    assert!(text.contains(helper), "{text}");
    assert!(text.contains("#line 1 \"k.rs\""), "{text}");
    // Special characters in file names do not end the quoted name.
    let text = source
        .with_line_markers("k\n#define a\"b.rs", "k.cuda")
        .text;
    assert!(text.contains("#line 1 \"k?#define a\\\"b.rs\"\n"), "{text}");
}

/// `f(2) + f(0) + f(1) + f(2)`
fn sum_of() -> &'static Kernel {
    let s = Sketch::new("sum");
    let f = s.callable("f", &[Scalar::Usize.into()], Scalar::U32.into());
    let result = s.let_any("result", Scalar::U32, None);
    s.set_result(result);
    let got = s.let_any("got", Scalar::U32, None);
    let call = |k: crate::ExprId| {
        s.call_with(
            CallTarget::Callable(f),
            &[Argument::Value(k)],
            &[],
            Some(got),
        )
    };
    call(s.n(2).id);
    s.set(result, got.get());
    s.for_("k", s.n(0), s.n(3), |k, _| {
        call(k.get().id);
        s.set(result, result.get() + got.get());
    });
    Box::leak(Box::new(s.finish()))
}

#[test]
fn closures_stand_where_they_are_called() {
    let s = Sketch::new("k");
    let (v, out) = (s.slice("v", Scalar::U32), s.slice_mut("out", Scalar::U32));
    let number = |n| s.lit(Value::U32(n));
    let by = s.let_("by", number(10));
    let count = s.let_mut("count", number(0));
    let closure = s.closure("k", Scalar::Usize, Scalar::U32, |k| {
        s.set(count, count.get() + number(1));
        s.load(v, k.get()) * by.get()
    });
    let got = s.let_any("got", Scalar::U32, None);
    let sum = s.function("sum");
    s.call_with(CallTarget::Function(sum), &[], &[closure], Some(got));
    s.store(out, s.n(0), got.get());
    s.store(out, s.n(1), count.get());
    let kernel = s.finish();
    let text = kernel.to_string();
    assert!(text.contains("sum(|k: usize| -> value: u32 {"), "{text}");
    let links = Links {
        functions: vec![Function {
            ir: sum_of(),
            links: Links::default(),
        }],
        ..Links::default()
    };
    let given = [1, 2, 3].map(Value::U32).to_vec();
    let mut memories = Memories(vec![given, vec![Value::U32(0); 2]], vec![3, 2]);
    let closed = run(&kernel, &links, &mut memories);
    assert_eq!(memories.0[1], [90, 4].map(Value::U32), "{closed}");
    // The site is the closure's own, wherever the closure is called.
    assert_eq!(closed.sites.len(), kernel.sites.len());
    assert_eq!(closed.to_string().matches("!0").count(), 2, "{closed}");
}

#[test]
fn a_type_parameter_is_what_the_instance_says() {
    let s = Sketch::new("k");
    let t: Type = s.named_type("T");
    let v = s.slice_mut("v", t);
    let value = s.let_any("value", t, Some(s.load_as(v, s.n(1), t)));
    let (memory, index, site) = (Memory::Slice(v), s.n(0).id, None);
    let root = Root::Element {
        memory,
        index,
        site,
    };
    s.update(root, vec![], s.read_any(value.id));
    let kernel = s.finish();
    let mut scalars = Memories(vec![vec![f(1.0), f(2.0)]], vec![2]);
    run(&kernel, &types(&[F32]), &mut scalars);
    assert_eq!(scalars.0[0], [f(2.0), f(2.0)]);
    let mut points = Memories(vec![[1.0, 2.0, 3.0, 4.0].map(f).to_vec()], vec![4]);
    run(&kernel, &types(&[POINT]), &mut points);
    assert_eq!(points.0[0], [3.0, 4.0, 3.0, 4.0].map(f));
}

#[test]
fn arrays_in_constants_are_read_element_by_element() {
    let s = Sketch::new("k");
    let mixed = s.named_type("Mixed");
    let out = s.slice_mut("out", Scalar::U32);
    let (elem, len) = (Scalar::U32.into(), crate::Length::Fixed(3));
    let array = s.type_of(crate::TypeDef::Array { elem, len });
    let rule = || s.link("RULE", mixed);
    for i in 0..3 {
        let (base, index) = (s.field(rule(), "each", array).id, s.n(i).id);
        let site = None;
        let index = crate::Compound::Index { base, index, site };
        s.store(out, s.n(i), s.compound(index, Scalar::U32));
    }
    s.store(out, s.n(3), s.field(rule(), "tag", Scalar::U32));
    // At a variable index, the element is in a table, one for all uses of the constant.
    let index = s.load(out, s.n(4)).cast(Scalar::Usize);
    let (base, index, site) = (s.field(rule(), "each", array).id, index.id, None);
    let element = crate::Compound::Index { base, index, site };
    s.store(out, s.n(4), s.compound(element, Scalar::U32));
    let number = Value::U32;
    let value = [number(5), Value::f64(2.5), number(7), number(8), number(9)];
    let links = Links {
        constants: vec![value.to_vec(); 5],
        ..types(&[MIXED])
    };
    let mut memories = Memories(vec![vec![number(1); 5]], vec![5]);
    let closed = run(&s.finish(), &links, &mut memories);
    assert_eq!(memories.0[0], [7, 8, 9, 5, 8].map(number), "{closed}");
    assert_eq!(
        (closed.tables.len(), closed.locals.len()),
        (1, 0),
        "{closed}"
    );
}

#[test]
fn a_parameter_that_is_given_on_is_not_copied() {
    let f = Sketch::new("f");
    let (x, n) = (f.slice_mut("x", Scalar::U32), f.scalar("n", Scalar::U32));
    f.store(x, f.n(0), f.arg(n));
    let function: &'static Kernel = Box::leak(Box::new(f.finish()));
    let s = Sketch::new("k");
    let (out, m) = (s.slice_mut("out", Scalar::U32), s.scalar("m", Scalar::U32));
    let path = s.function("f");
    let args = [
        Argument::Memory(Memory::Slice(out)),
        Argument::Value(s.arg(m).id),
    ];
    s.call_function(path, &args, None);
    let links = Links {
        functions: vec![Function {
            ir: function,
            links: Links::default(),
        }],
        ..Links::default()
    };
    let mut memories = Memories(vec![vec![Value::U32(0)], vec![Value::U32(6)]], vec![1, 0]);
    let closed = run(&s.finish(), &links, &mut memories);
    assert_eq!(memories.0[0], [Value::U32(6)]);
    assert!(closed.locals.is_empty(), "{closed}");
}

#[test]
fn what_is_printed_becomes_its_scalars() {
    use crate::print::{HostPrinter, Printer};
    let s = Sketch::new("k");
    let mixed = s.named_type("Mixed");
    let shape = s.named_type("Shape");
    let v = s.slice("v", mixed);
    let shapes = s.slice("shapes", shape);
    let args = [
        s.load_as(v, s.n(1), mixed),
        s.load_as(shapes, s.n(0), shape),
        s.n(7),
    ];
    s.print(vec![], &args);
    let mut kernel = s.finish();
    kernel.prints.to_mut()[0].printer = Printer::Link(0);
    assert!(!kernel.is_closed());
    let printer = HostPrinter(|values| Some(format!("{values:?}")));
    let links = Links {
        printers: vec![printer],
        ..types(&[MIXED, SHAPE])
    };
    let closed = link(&kernel, &links);
    assert_eq!(crate::validate(&closed), Ok(()), "{closed}");
    let print = &closed.prints[0];
    assert_eq!(print.printer, Printer::Host(printer));
    let scalars: Vec<Scalar> = closed
        .list(print.args)
        .map(|a| closed.scalar_of(a))
        .collect();
    use Scalar::{F32, F64, U32, Usize};
    assert_eq!(scalars, [U32, F64, U32, U32, U32, U32, F32, U32, Usize]);
    let values = [Value::U32(1), Value::Bool(true)];
    assert_eq!(print.text(&values), format!("{values:?}"));
}

/// A hint follows its loop, and a linked factor becomes a number.
#[test]
fn hints_are_linked_with_their_loops() {
    let s = Sketch::new("k");
    let times = s.link("N", Scalar::Usize);
    s.for_("i", s.n(0), times, |_, outer| {
        s.unroll(outer, Unroll::Link(LinkId(0)));
        s.loop_(|inner| s.break_(inner));
        s.while_(s.lit(Value::Bool(false)), |inner| {
            s.unroll(inner, Unroll::Whole)
        });
    });
    let kernel = s.finish();
    let links = Links {
        constants: vec![vec![Value::Usize(4)]],
        ..Links::default()
    };
    let closed = link(&kernel, &links).to_string();
    assert!(closed.contains("#[unroll(4)] for"), "{closed}");
    assert!(closed.contains("#[unroll] while"), "{closed}");
    assert_eq!(closed.matches("unroll").count(), 2, "{closed}");
}

/// Otherwise proofs and natively compiled bodies would each use the struct's first scalar in a different way.
#[test]
#[should_panic(expected = "is a scalar")]
fn a_struct_is_no_number() {
    let s = Sketch::new("k");
    let point = s.named_type("Point");
    let v = s.slice_mut("v", point);
    let p = s.let_any("p", point, Some(s.load_as(v, s.n(0), point)));
    s.let_("sum", s.read_any(p.id) + s.f32(1.0));
    link(&s.finish(), &types(&[POINT]));
}
