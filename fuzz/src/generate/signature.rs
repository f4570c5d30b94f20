//! Generates the parameters, the launch, and the statements at both ends of the body.

use sarek_ir::Scalar;

use super::control::of_variable;
use super::{Form, Gen, Role, Slice, is_wide, make, within};
use crate::case::{Launch, Layout, Shape};
use crate::tree::{Block, Expr, Node};

impl Gen {
    /// Makes the signature, the first statements and the launch.
    pub(super) fn signature(&mut self, seed: u64) -> (String, Block, Launch) {
        let shape = self.shape();
        self.traits.fixed_block = matches!(shape, Shape::Grid(..));
        let (declared, generics, mut params) = self.generics();
        let least = if self.traits.shared_memory { 2 } else { 0 };
        for at in 0..least + self.below(4) {
            params.push(self.scalar_param(at));
        }
        let (mut lens, mut views, mut items) = (vec![], vec![], vec![]);
        for role in self.roles() {
            let slice = self.slice_param(role);
            if slice.form == Form::Item {
                // To the runtime, a view is one parameter and one for each scalar of its layout.
                let views = views.iter().map(|view: &Layout| view.scalars().count());
                items.push(params.len() + views.sum::<usize>());
            }
            params.push(self.slice_text(&slice));
            lens.push(match slice.form {
                Form::Slice => self.len(role, shape.threads()),
                Form::Item => shape.threads(),
                Form::View(rank) => {
                    let shape = self.shape_of(role, rank, shape.threads());
                    let is_read = matches!(role, Role::In { .. } | Role::AnyFloat);
                    let (len, layout) = self.layout(shape, is_read);
                    views.push(layout);
                    len
                }
            });
            self.slices.push(slice);
        }
        let (line, id) = match shape {
            Shape::Over([_, 1, 1]) | Shape::Grid([_, 1, 1], [_, 1, 1]) => (true, "global_idx_x()"),
            Shape::Over(_) | Shape::Grid(..) => (false, "global_thread_id()"),
        };
        let word = if line && !self.traits.shared_memory && self.once_in(2) {
            ""
        } else {
            "unsafe "
        };
        self.traits.along_x = word.is_empty();
        self.bind("i", Scalar::Usize, within(1e6), false);
        let fills = self.fills(shape);
        let mut body = vec![Node::leaf(format!("let i = {id};")).with_effects(&fills)];
        // At the maximum depth no rule makes a block, so no thread ends before all arrays are filled.
        let nest = if self.traits.shared_memory {
            super::DEEPEST
        } else {
            0
        };
        let nest = std::mem::replace(&mut self.nest, nest);
        self.read_inputs(&mut body);
        if !generics.is_empty() {
            self.parameter_to_variable(&mut body);
        }
        self.share(&mut body);
        self.nest = nest;
        let launch = Launch {
            seed,
            shape,
            scalars: vec![],
            lens,
            views,
            items,
            generics: generics.clone(),
            host: self.traits.host,
        };
        (
            format!("pub {word}fn k{declared}({})", params.join(", ")),
            body,
            launch,
        )
    }

    /// Declares variables of every type, with values that depend on the inputs.
    fn read_inputs(&mut self, body: &mut Block) {
        for slice in self.slices.clone() {
            if let Role::In { .. } = slice.role {
                let (name, (element, exprs)) = (self.name(), self.element(&slice));
                let text = format!("let mut {name} = {element};");
                body.push(Node::new(text, exprs, vec![]));
                self.bind(&name, slice.elem, of_variable(slice.elem), true);
            }
        }
        for ty in self.traits.types.clone() {
            if !self.scope.iter().any(|var| var.ty == ty && var.name != "i") {
                let (name, value) = (self.name(), self.varying(ty));
                body.push(Node::new(
                    format!("let mut {name} = @;"),
                    vec![value],
                    vec![],
                ));
                self.bind(&name, ty, of_variable(ty), true);
            }
        }
    }

    /// A value converted from an integer variable.
    fn varying(&mut self, ty: Scalar) -> Expr {
        let ints: Vec<_> = self
            .scope
            .iter()
            .filter(|v| v.ty.is_int())
            .cloned()
            .collect();
        let var = self.pick(&ints).clone();
        let int = make(var.ty, var.facts, &var.name, vec![]);
        match ty {
            Scalar::Bool => make(ty, of_variable(ty), "(@ & 5 != 1)", vec![int]),
            Scalar::F32 | Scalar::F64 => make(
                ty,
                of_variable(ty),
                format!("((@ & 127) as {ty})"),
                vec![int],
            ),
            Scalar::F16 | Scalar::Bf16 => make(
                ty,
                of_variable(ty),
                format!("{ty}::from_f32((@ & 127) as f32)"),
                vec![int],
            ),
            _ => make(ty, of_variable(ty), format!("(@ as {ty})"), vec![int]),
        }
    }

    fn shape(&mut self) -> Shape {
        if self.traits.shared_memory {
            return self.cooperative_shape();
        }
        let n = *self.pick(&[1, 7, 32, 33, 64, 100]);
        if self.traits.items {
            return Shape::Over([n, 1, 1]);
        }
        let block = *self.pick(&[1, 4, 8, 32]);
        match self.below(10) {
            0..=5 => Shape::Over([n, 1, 1]),
            6 => Shape::Over([
                *self.pick(&[3, 8, 17]),
                *self.pick(&[2, 5]),
                *self.pick(&[1, 3]),
            ]),
            7 => Shape::Grid([2, 2, 1], [4, 2, *self.pick(&[1, 2])]),
            _ => Shape::Grid([1 + self.below(4), 1, 1], [block, 1, 1]),
        }
    }

    fn scalar_param(&mut self, at: usize) -> String {
        let (ty, name) = (self.ty(|_| true), format!("a{at}"));
        let facts = if ty == Scalar::Usize {
            within(1000.0)
        } else {
            of_variable(ty)
        };
        let mutable = self.once_in(3);
        let facts = if mutable { of_variable(ty) } else { facts };
        match mutable {
            true => self.bind(&name, ty, facts, true),
            false => self.bind_uniform(&name, ty, facts),
        }
        format!("{}{name}: {ty}", if mutable { "mut " } else { "" })
    }

    /// The roles of the slice parameters: at most 6, since some devices have only 8 buffers, and one of these records faults.
    fn roles(&mut self) -> Vec<Role> {
        let each = |g: &mut Gen| match g.traits.items {
            true => 1,
            false => *g.pick(&[1, 1, 1, 2, 3]),
        };
        let mut roles = vec![];
        for _ in 0..1 + self.below(3) {
            roles.push(Role::In {
                covers: self.once_in(2),
            });
        }
        let floats = self.has(Scalar::F32) || self.has(Scalar::F64);
        if floats && self.once_in(3) {
            roles.push(Role::AnyFloat);
        }
        roles.push(Role::Out { each: each(self) });
        if self.traits.shared_memory && self.once_in(2) {
            roles.push(Role::Shared);
        }
        if floats && self.once_in(2) {
            roles.push(Role::Inexact { each: each(self) });
        } else if self.once_in(3) {
            roles.push(Role::Out { each: each(self) });
        }
        roles
    }

    fn slice_param(&mut self, role: Role) -> Slice {
        // `bool` elements hold one bit of a result only.
        let bools = self.once_in(3);
        let elem = match role {
            Role::AnyFloat | Role::Inexact { .. } => self.ty(is_wide),
            Role::In { .. } | Role::Out { .. } | Role::Shared => {
                let narrow = self.traits.narrow;
                let is_rare = |ty: Scalar| ty.size() < 4 && !narrow && ty != Scalar::Bool;
                self.ty(|ty| ty != Scalar::Usize && (bools || ty != Scalar::Bool) && !is_rare(ty))
            }
        };
        let word = match role {
            Role::In { .. } => "r",
            Role::AnyFloat => "wild",
            Role::Out { .. } => "out",
            Role::Inexact { .. } => "near",
            Role::Shared => "all",
        };
        let name = format!("{word}{}", self.slices.len());
        let form = self.form(role);
        Slice {
            name,
            elem,
            role,
            form,
        }
    }

    fn form(&mut self, role: Role) -> Form {
        match role {
            Role::Shared => Form::Slice,
            Role::In { covers: true } | Role::Out { each: 1 } | Role::Inexact { each: 1 }
                if self.traits.items =>
            {
                Form::Item
            }
            _ if self.once_in(7) => Form::View(2 + self.below(2)),
            _ => Form::Slice,
        }
    }

    fn len(&mut self, role: Role, threads: usize) -> usize {
        match role {
            Role::In { covers: true } => threads + self.below(4),
            Role::In { covers: false } | Role::AnyFloat => 1 + self.below(70),
            Role::Out { each } | Role::Inexact { each } => threads * each,
            Role::Shared => threads,
        }
    }

    /// Ends the body: stores the values of variables in the outputs.
    pub(super) fn results(&mut self, body: &mut Block) {
        for slice in self.slices.clone() {
            let Role::Out { each } = slice.role else {
                continue;
            };
            let vars = self
                .scope
                .iter()
                .filter(|v| v.ty == slice.elem && !["i", "t", "n"].contains(&v.name.as_str()));
            let vars: Vec<_> = vars.rev().take(each).cloned().collect();
            for (k, var) in vars.into_iter().enumerate() {
                let name = &slice.name;
                let place = match slice.form {
                    Form::Item => format!("*{name}"),
                    Form::View(2) => format!("{name}[[i, {k}]]"),
                    Form::View(_) => format!("{name}[[i, 0, {k}]]"),
                    Form::Slice if each == 1 => format!("{name}[i]"),
                    Form::Slice => format!("{name}[i * {each} + {k}]"),
                };
                let value = Expr {
                    node: Node::leaf(var.name),
                    ty: var.ty,
                    facts: var.facts,
                };
                body.push(Node::new(format!("{place} = @;"), vec![value], vec![]));
            }
        }
    }
}
