//! Generates *cooperative* `#[device]` functions, in which the threads of a block exchange values through a shared array. The array is a
//! parameter, or declared in the function.
//!
//! Each exchange begins and ends with a barrier, so a call acts as a barrier for its caller.

use sarek_ir::Scalar;

use super::control::of_variable;
use super::{Gen, Rule};
use crate::tree::{Block, Effect, Function, Node};

/// Such a function: the types of its thread-specific parameters, and the element type of its array parameter, if it has one. It also takes one uniform
/// `u32`.
#[derive(Clone, Debug)]
pub(super) struct CooperativeFn {
    name: String,
    takes: Vec<Scalar>,
    borrowed: Option<Scalar>,
    yields: Scalar,
    /// The number of statements that inlining a call adds.
    size: usize,
}

pub(super) const RULES: &[Rule<Node>] = &[Rule {
    weight: 30,
    fits: |g, _| g.converged && g.cooperative_fns.iter().any(|c| is_callable(g, c)),
    make: call,
}];

fn is_callable(g: &Gen, cooperative: &CooperativeFn) -> bool {
    let is_small = cooperative.size + g.called <= 80;
    is_small
        && cooperative
            .borrowed
            .is_none_or(|elem| !g.flat_arrays(elem).is_empty())
}

const HEAD: [&str; 2] = [
    "let t = (thread_idx_z() * block_dim_y() + thread_idx_y()) * block_dim_x() + thread_idx_x();",
    "let n = block_dim_x() * block_dim_y() * block_dim_z();",
];

impl Gen {
    /// True if a thread may end before the others. If a function declares a shared array, it may not: each thread there stores one element and
    /// reads that of another thread.
    pub(super) fn may_end(&self) -> bool {
        let has_tile = self.cooperative_fns.iter().any(|c| c.borrowed.is_none());
        (self.budget < 20 || self.traits.shared_memory) && !self.in_function && !has_tile
    }

    /// Makes such a function and returns its text.
    pub(super) fn cooperative_fn(&mut self, at: usize) -> String {
        let outer = (
            std::mem::take(&mut self.scope),
            std::mem::replace(&mut self.in_function, true),
            std::mem::replace(&mut self.converged, false),
            self.budget,
        );
        let called = std::mem::take(&mut self.called);
        let elem = self.shared_type();
        let borrowed = self.once_in(2).then_some(elem);
        let takes: Vec<_> = (0..1 + self.below(2)).map(|_| self.ty(|_| true)).collect();
        let mut params = vec![];
        params.extend(borrowed.map(|elem| format!("tile: &mut [{elem}]")));
        params.push("agreed: u32".into());
        for (i, ty) in takes.iter().enumerate() {
            params.push(format!("p{i}: {ty}"));
            self.bind(&format!("p{i}"), *ty, of_variable(*ty), false);
        }
        self.bind("agreed", Scalar::U32, of_variable(Scalar::U32), false);
        let mut body: Block = HEAD.map(Node::leaf).into();
        if borrowed.is_none() {
            let text = format!(
                "let tile = shared_array::<{elem}, {}>();",
                super::shared_memory::MOST
            );
            body.push(Node::leaf(text));
        }
        self.bind("t", Scalar::Usize, super::within(256.0), false);
        self.bind("n", Scalar::Usize, super::within(256.0), false);
        self.statements(&mut body);
        self.exchange(elem, &mut body);
        match self.below(4) {
            0 => body.push(self.nested("if agreed & 3 != 1 {#}", elem)),
            1 => body.push(self.nested("for _ in 0..agreed & 3 {#}", elem)),
            2 => {
                self.statements(&mut body);
                self.exchange(elem, &mut body);
            }
            _ => {}
        }
        let yields = self.ty(|_| true);
        self.statements(&mut body);
        let value = self.settled(yields);
        body.push(Node::new("@", vec![value], vec![]));
        let name = format!("c{at}");
        let head = format!(
            "#[device]\npub unsafe fn {name}({}) -> {yields}",
            params.join(", ")
        );
        (self.scope, self.in_function, self.converged, self.budget) = outer;
        self.forget();
        self.cooperative_fns.push(CooperativeFn {
            name,
            takes,
            borrowed,
            yields,
            size: crate::tree::statements(&body) + std::mem::replace(&mut self.called, called),
        });
        format!("{}\n", Function { head, body })
    }

    /// A few statements without communication between threads.
    fn statements(&mut self, body: &mut Block) {
        self.budget = 1 + self.below(2);
        while self.budget > 0 {
            body.push(self.statement());
        }
    }

    /// Each thread stores an element and reads that of another thread.
    fn exchange(&mut self, elem: Scalar, body: &mut Block) {
        let (value, name, by) = (self.settled(elem), self.name(), self.below(40));
        let text = format!(
            "barrier(); tile[t] = @; barrier(); let mut {name} = tile[(t + {by}) % n]; barrier();"
        );
        body.push(Node::new(text, vec![value], vec![]));
        self.bind(&name, elem, of_variable(elem), true);
    }

    /// An exchange in a uniform branch or loop, whose result is assigned to a variable outside of it.
    fn nested(&mut self, text: &str, elem: Scalar) -> Node {
        let outer = self.scope.iter().rfind(|v| v.mutable && v.ty == elem);
        let outer = outer.expect("that of the first exchange").name.clone();
        let scope = self.scope.clone();
        let mut inside = vec![];
        self.exchange(elem, &mut inside);
        let name = self.scope.last().expect("just bound").name.clone();
        inside.push(Node::leaf(format!("{outer} = {name};")));
        self.scope = scope;
        Node::new(text, vec![], vec![inside])
    }
}

fn call(g: &mut Gen, _: Scalar) -> Node {
    let fitting: Vec<_> = g
        .cooperative_fns
        .iter()
        .filter(|c| is_callable(g, c))
        .cloned()
        .collect();
    let callee = g.pick(&fitting).clone();
    let mut exprs = vec![g.uniform_value(Scalar::U32)];
    exprs.extend(
        callee
            .takes
            .iter()
            .map(|ty| g.settled(*ty))
            .collect::<Vec<_>>(),
    );
    g.called += callee.size;
    // The arguments are bound first, since none of them may read the mutably borrowed array.
    let (name, ty) = (g.name(), callee.yields);
    let types = std::iter::once(&Scalar::U32).chain(&callee.takes);
    let mut arguments: Vec<_> = (0..exprs.len()).map(|i| format!("{name}_{i}")).collect();
    let bound = arguments.iter().zip(types);
    let bound: String = bound
        .map(|(arg, ty)| format!("let {arg}: {ty} = @; "))
        .collect();
    let mut effects = vec![Effect::Barrier];
    if let Some(elem) = callee.borrowed {
        let arrays = g.flat_arrays(elem);
        let (number, borrowed) = g.pick(&arrays).clone();
        arguments.insert(0, borrowed);
        effects.extend([
            Effect::Own(number),
            Effect::Barrier,
            Effect::Any(number),
            Effect::Barrier,
        ]);
    }
    g.bind(&name, ty, of_variable(ty), false);
    let text = format!(
        "{bound}let {name}: {ty} = unsafe {{ {}({}) }};",
        callee.name,
        arguments.join(", ")
    );
    Node::new(text, exprs, vec![]).with_effects(&effects)
}
