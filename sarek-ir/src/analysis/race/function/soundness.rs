//! Soundness test of the race check of functions: random functions with value parameters, called with values
//! that are equal or differ between threads. If the function and the call are accepted, the sanitizer finds no
//! race in the linked kernel, in any order of its threads.

use super::super::satisfied;
use super::super::shared::soundness::{Given, Writer};
use crate::analysis::contract::{Facts, Refusal, accepted};
use crate::analysis::random::Rng;
use crate::analysis::range::{ArgFact, LaunchFacts};
use crate::interp::{Host, Ids, Machine, Sanitize, Stop};
use crate::link::{Function, Links, link};
use crate::sketch::{Sketch, SketchExpr, SketchLocal};
use crate::{
    Argument, Axis, Builtin, FieldInfo, Kernel, Memory, ParamId, Root, Scalar, StructInfo, Type,
    TypeInfo, Value,
};

const USIZE: TypeInfo = TypeInfo::Scalar(Scalar::Usize);

const fn field(name: &'static str, offset: u64) -> FieldInfo {
    FieldInfo {
        name,
        ty: USIZE,
        offset,
    }
}

const PLACE: TypeInfo = TypeInfo::Struct(&StructInfo {
    name: "Place",
    fields: &[field("at", 0), field("by", 8)],
    size: 16,
    align: 8,
});

/// The number of elements of each array.
const LEN: u64 = 64;

/// The parameters of a function, in order.
struct Params {
    tile: ParamId,
    scalars: [ParamId; 2],
    table: ParamId,
    place: ParamId,
    here: ParamId,
    place_type: Type,
}

impl Params {
    fn of(s: &Sketch) -> Params {
        let place_type = s.named_type("Place");
        Params {
            tile: s.slice_mut("tile", Scalar::U32),
            scalars: ["a", "b"].map(|name| s.scalar(name, Scalar::Usize)),
            table: s.slice("table", Scalar::U32),
            place: s.value("place", place_type),
            here: s.reference("here", Scalar::Usize),
            place_type,
        }
    }
}

/// A function that works on a slice parameter, or on a shared array of its own.
fn callee(seed: u64) -> Kernel {
    let s = Sketch::new("callee");
    let mut rng = Rng(seed);
    let params = Params::of(&s);
    let memory = match rng.below(3) {
        0 => s.shared("own", Scalar::U32, LEN).into(),
        _ => params.tile.into(),
    };
    let axes = 1 + rng.below(2) as usize;
    let id = |axis: &Axis| s.let_("t", s.id(Builtin::ThreadIdx(*axis)));
    let threads = Axis::ALL[..axes].iter().map(id).collect();
    let [a, b] = params.scalars;
    let all = [
        Given::Scalar(a),
        Given::Scalar(b),
        Given::Element(params.table, rng.below(2)),
        Given::Field(params.place, params.place_type, "at"),
        Given::Field(params.place, params.place_type, "by"),
        Given::Referent(params.here),
    ];
    // Only two of them per function, so that calls are accepted often enough.
    let given = [rng.pick(&all), rng.pick(&all)];
    let changes = rng.below(2) == 0;
    let mut w = Writer::of_function(&s, rng, (a, memory), threads, given.to_vec());
    w.together(1, &[]);
    if changes {
        let root = Root::Param(params.here);
        let more = s.param_value(params.here, Scalar::Usize) + s.n(1);
        s.update(root, vec![], more);
        w.together(1, &[]);
    }
    s.barrier();
    s.finish()
}

/// A writer of calls with random arguments.
struct Caller<'s> {
    s: &'s Sketch,
    rng: Rng,
    place: Type,
    /// The parameters of the calling function; `None` for a kernel.
    own: Option<Params>,
    n: ParamId,
    table: ParamId,
    /// A value that is the same for all threads.
    same: SketchLocal<'s>,
    /// True if arguments may differ between threads.
    differs: bool,
}

impl<'s> Caller<'s> {
    fn value(&mut self) -> SketchExpr<'s> {
        let s = self.s;
        let thread = || s.id(Builtin::ThreadIdx(Axis::X));
        if self.differs && self.rng.below(4) == 0 {
            return match self.rng.below(3) {
                0 => thread(),
                1 => s.n(5) - thread(),
                _ => (thread() ^ s.n(1)) + s.n(1),
            };
        }
        match self.rng.below(5) {
            0 => s.n(self.rng.below(4)),
            1 => s.id(Builtin::BlockIdx(Axis::X)),
            2 => self.same.get(),
            3 => s
                .load(self.table, s.n(self.rng.below(2)))
                .cast(Scalar::Usize),
            _ => s.arg(self.n),
        }
    }

    fn table(&mut self) -> Memory {
        if self.rng.below(2) == 0 {
            return self.table.into();
        }
        let array = self.s.array("array", Scalar::U32, 2);
        for k in 0..2 {
            let value = self.value().cast(Scalar::U32);
            self.s.store(array, self.s.n(k), value);
        }
        array.into()
    }

    fn call(&mut self, tile: Memory) {
        let s = self.s;
        let (a, b) = (self.value(), self.value());
        let table = self.table();
        let place = match &self.own {
            Some(own) if self.rng.below(2) == 0 => s.param_value(own.place, own.place_type),
            Some(_) | None => {
                let (at, by) = (self.value(), self.value());
                s.construct(None, &[("at", at), ("by", by)], self.place)
            }
        };
        let here = self.value();
        let here = s.let_mut("here", here);
        let args = [
            Argument::Memory(tile),
            Argument::Value(a.id),
            Argument::Value(b.id),
            Argument::Memory(table),
            Argument::Value(place.id),
            Argument::Local(here.id),
        ];
        let function = s.function("callee");
        s.call_function(function, &args, None);
    }
}

/// A function that passes its own parameters, or other values, to the next function.
fn between(seed: u64) -> Kernel {
    let s = Sketch::new("between");
    let mut rng = Rng(seed ^ 0xbe7e);
    let own = Params::of(&s);
    let same = s.let_("same", s.arg(own.scalars[1]) + s.n(1));
    let tile = own.tile.into();
    let mut caller = Caller {
        s: &s,
        place: own.place_type,
        n: own.scalars[0],
        table: own.table,
        own: Some(own),
        same,
        differs: rng.below(3) == 0,
        rng,
    };
    caller.call(tile);
    s.finish()
}

/// A kernel that calls one of the two functions, once or in a loop that all threads run.
fn kernel(seed: u64) -> Kernel {
    let s = Sketch::new("caller");
    let mut rng = Rng(seed ^ 0xca11);
    let place = s.named_type("Place");
    let n = s.scalar("n", Scalar::Usize);
    let table = s.slice("table", Scalar::U32);
    let tile = s.shared("tile", Scalar::U32, LEN).into();
    let same = s.let_("same", s.arg(n) + s.n(1));
    let mut caller = Caller {
        s: &s,
        place,
        own: None,
        n,
        table,
        same,
        differs: rng.below(3) > 0,
        rng: Rng(rng.next()),
    };
    match rng.below(3) {
        0 => s.for_("k", s.n(0), s.n(2), |k, _| {
            caller.same = k;
            caller.call(tile);
        }),
        1 => {
            caller.call(tile);
            caller.call(tile);
        }
        _ => caller.call(tile),
    }
    s.finish()
}

fn of_place(functions: Vec<Function>) -> Links {
    Links {
        types: vec![PLACE],
        functions,
        ..Links::default()
    }
}

/// A function with its facts; `None` if the function itself is refused.
fn called(function: Kernel, callees: &[(Function, Facts)]) -> Option<(Function, Facts)> {
    assert_eq!(crate::validate(&function), Ok(()), "{function}");
    let (functions, facts): (Vec<_>, Vec<_>) = callees.iter().cloned().unzip();
    let facts = Facts::of(&function, &facts).ok()?;
    let found = super::check(&function, &Default::default());
    let ir = Kernel {
        preconditions: found.needs.into(),
        ..function
    };
    let (ir, links) = (Box::leak(Box::new(ir)), of_place(functions));
    Some((Function { ir, links }, facts))
}

/// The linked kernel for a seed, the reason if it is refused, and the number of parameters on which its threads
/// must agree.
fn made(seed: u64) -> Option<(Kernel, Option<Refusal>, usize)> {
    let mut of = called(callee(seed), &[])?;
    if seed.is_multiple_of(3) {
        of = called(between(seed), &[of])?;
    }
    let mut kernel = kernel(seed);
    assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
    let (function, facts) = of;
    let calls = kernel.functions.len();
    let refusal = match accepted(&kernel, &vec![facts.clone(); calls]) {
        Ok(needs) => {
            kernel.preconditions = needs.into();
            None
        }
        Err(refusal) => Some(refusal),
    };
    let kernel = link(&kernel, &of_place(vec![function; calls]));
    Some((kernel, refusal, facts.agreed.len()))
}

/// A host with a scalar, and a table of small numbers.
struct Arguments(u64);

impl Host for Arguments {
    fn scalar(&self, _: ParamId) -> Value {
        Value::Usize(self.0)
    }

    fn len(&self, _: ParamId) -> u64 {
        LEN
    }

    fn load(&mut self, _: ParamId, index: u64) -> Value {
        Value::U32(index as u32 + 1)
    }

    fn store(&mut self, _: ParamId, _: u64, _: Value) {
        unreachable!("only the shared array is written")
    }
}

fn races(kernel: &Kernel, block: [u32; 3], n: u64, seed: u64) -> bool {
    let settings = Sanitize {
        seed,
        unwritten: true,
        overflow: false,
    };
    let block_dim = block.map(u64::from);
    let ids = Ids {
        thread_idx: [0; 3],
        block_idx: [1, 0, 0],
        block_dim,
        grid_dim: [2, 1, 1],
        global_dim: [2 * block_dim[0], block_dim[1], 1],
    };
    let mut machine = Machine::sanitizing(kernel, settings);
    let ran = machine.run(&ids, block_dim, &mut Arguments(n));
    matches!(ran, Err(Stop::Found(_)))
}

#[test]
fn calls_that_are_accepted_are_clean_in_every_order() {
    let (mut ran, mut agreed, mut disagreed, mut met) = (0, 0, 0, 0);
    for seed in 0..400 {
        let Some((kernel, refusal, asked)) = made(seed) else {
            continue;
        };
        let disagrees = matches!(refusal, Some(Refusal::Disagrees(..)));
        if refusal.is_some() && !disagrees {
            continue;
        }
        let mut rng = Rng(seed ^ 0x0b5e);
        let n = rng.below(4);
        let block = [1 + rng.below(6) as u32, 1 + rng.below(2) as u32, 1];
        let args = [ArgFact::Scalar(Value::Usize(n)), ArgFact::Len(LEN)];
        let facts = LaunchFacts {
            grid: [2, 1, 1],
            block,
            extent: [2 * u64::from(block[0]), block[1].into(), 1],
            args: &args,
        };
        let runs = refusal.is_none() && satisfied(&kernel, &kernel.preconditions, &facts);
        let found = (runs || disagrees) && (0..3).any(|order| races(&kernel, block, n, order));
        assert!(!(runs && found), "seed {seed}: {facts:?} in\n{kernel}");
        ran += u32::from(runs);
        agreed += u32::from(runs && asked > 0);
        disagreed += u32::from(disagrees);
        met += u32::from(disagrees && found);
    }
    assert!(
        ran > 30 && agreed > 3 && disagreed > 3 && met > 1,
        "{ran} ran, {agreed} of them where threads agree; {disagreed} disagree, {met} of them meet"
    );
}
