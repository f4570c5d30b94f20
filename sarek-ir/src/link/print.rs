//! Translates prints to prints of scalars.

use super::build::{Frame, Linker};
use super::leaf::{Index, Part};
use super::shape::Shape;
use crate::print::Printer;
use crate::{ExprId, Loc, Print, PrintId, Stmt, Value};

impl Linker {
    pub fn print(&mut self, frame: &mut Frame<'_>, id: PrintId, loc: Loc) {
        let Print {
            pieces,
            args,
            printer,
        } = frame.ir.prints[id.index()].clone();
        let print = match printer {
            Printer::Pieces | Printer::Host(_) => Print {
                pieces,
                args: self.args(frame, args),
                printer,
            },
            Printer::Link(link) => {
                let mut values = vec![];
                for arg in frame.ir.list(args).collect::<Vec<_>>() {
                    self.printed(frame, arg, loc, &mut values);
                }
                Print {
                    pieces: (&[]).into(),
                    args: self.out.push_list(&values),
                    printer: Printer::Host(frame.links.printers[link as usize]),
                }
            }
        };
        self.out.prints.to_mut().push(print);
        let print = PrintId(self.out.prints.len() as u32 - 1);
        self.push(Stmt::Print { print }, loc);
    }

    /// The scalars of a value, depth first.
    fn printed(&mut self, frame: &mut Frame<'_>, arg: ExprId, loc: Loc, out: &mut Vec<ExprId>) {
        let shape = frame.resolve(frame.ir.type_of(arg));
        if let Shape::Scalar(_) = shape {
            return out.push(self.expr(frame, arg));
        }
        // A copy in locals: in memory the variants of an enum share bytes.
        let value = self.declare("printed", &shape, loc);
        self.initialise(frame, value.clone(), arg, loc);
        self.scalars(&value, &[], loc, out);
    }

    /// Collects the scalars of a part, at these indices of the enclosing arrays.
    fn scalars(&mut self, part: &Part, indices: &[u64], loc: Loc, out: &mut Vec<ExprId>) {
        match part.shape.clone() {
            Shape::Scalar(_) => out.push(self.scalar_at(part.clone(), indices, loc)),
            Shape::Struct(fields, _) => {
                for field in fields.iter() {
                    self.scalars(&part.clone().field(&field.name), indices, loc, out);
                }
            }
            Shape::Enum(variants) => {
                out.push(self.scalar_at(part.clone().tag(), indices, loc));
                for variant in variants.iter() {
                    for field in variant.fields.iter() {
                        let part = part.clone().payload(variant.name, &field.name);
                        self.scalars(&part, indices, loc, out);
                    }
                }
            }
            Shape::Array(elem, n) => {
                let part = Part {
                    shape: (*elem).clone(),
                    ..part.clone()
                };
                for i in 0..n {
                    self.scalars(&part, &[indices, &[i]].concat(), loc, out);
                }
            }
        }
    }

    fn scalar_at(&mut self, mut part: Part, indices: &[u64], loc: Loc) -> ExprId {
        let index = |i: &u64| Index {
            expr: self.literal(Value::Usize(*i), loc),
            site: None,
        };
        part.indices = indices.iter().map(index).collect();
        self.read(&part, loc)
    }
}
