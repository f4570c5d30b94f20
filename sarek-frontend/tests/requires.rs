//! `#[kernel(requires(…))]`: the checks on the host, and the assumptions of the proof.

use quote::quote;
use sarek_frontend::expand::lowered;
use sarek_ir::{Kernel, Precondition, SiteKind};

fn accepted(attribute: proc_macro2::TokenStream, item: proc_macro2::TokenStream) -> Kernel {
    lowered(attribute, item).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

fn refused(attribute: proc_macro2::TokenStream, item: proc_macro2::TokenStream) -> String {
    lowered(attribute, item)
        .expect_err("a kernel that is refused")
        .join("\n")
}

/// Rows of `width` elements with a distance of `stride`.
fn strided() -> proc_macro2::TokenStream {
    quote! {
        fn k(width: usize, stride: usize, y: &mut [f32]) {
            let (row, col) = (global_idx_y(), global_idx_x());
            if col < width {
                y[row * stride + col] = 1.0;
            }
        }
    }
}

#[test]
fn a_stride_beside_a_width() {
    assert!(refused(quote!(), strided()).contains("same index"));
    for attribute in [
        quote!(requires(width <= stride)),
        quote!(requires(stride >= width)),
        quote!(block = (16, 16), requires(width < stride)),
        quote!(requires(width == stride)),
        quote!(requires(y.len() > 3 && width <= stride)),
        quote!(requires(y.len() > 3), requires(stride >= width + 1)),
    ] {
        let kernel = accepted(attribute, strided());
        let holds = |p: &Precondition| matches!(p, Precondition::Holds(_));
        assert!(kernel.preconditions.iter().any(holds), "{kernel}");
    }
    for attribute in [
        quote!(requires(stride <= width)),
        quote!(requires(width <= stride + 1)),
        quote!(requires(width != stride)),
        quote!(requires(width <= stride || width == 0)),
    ] {
        assert!(refused(attribute, strided()).contains("same index"));
    }
}

#[test]
fn the_condition_is_kept_as_it_was_written() {
    let kernel = accepted(quote!(requires(width <= stride)), strided());
    let Some(Precondition::Holds(site)) = kernel.preconditions.first() else {
        panic!("{kernel}");
    };
    let SiteKind::Assert(text) = &kernel.sites[site.index()].kind else {
        panic!("{kernel}");
    };
    assert_eq!(text.replace(' ', ""), "width<=stride");
}

#[test]
fn halves_of_a_slice() {
    let item = quote! {
        fn k(n: usize, half: usize, y: &mut [f32]) {
            let i = global_idx_x();
            if i < n {
                y[i] += y[i + half];
            }
        }
    };
    assert!(lowered(quote!(), item.clone()).is_err());
    accepted(quote!(requires(n <= half)), item.clone());
    accepted(quote!(requires(half == n)), item.clone());
    assert!(lowered(quote!(requires(n <= half + 1)), item).is_err());
}

#[test]
fn floats_methods_and_fields_are_known() {
    let item = quote! {
        fn k(rate: f32, p: Params, y: &mut [f32]) {
            y[global_idx_x()] = rate;
        }
    };
    for condition in [
        quote!(rate < 4.0),
        quote!(rate.is_finite() && !(rate.abs() > 1.0)),
        quote!(p.at.x < rate),
        quote!(p.n * 2 <= y.len()),
    ] {
        let kernel = accepted(quote!(requires(#condition)), item.clone());
        assert_eq!(kernel.required().count(), 1, "{kernel}");
    }
}

#[test]
fn what_the_host_does_not_know_is_refused() {
    for condition in [
        quote!(global_idx_x() < n),
        quote!(y[0] < 1.0),
        quote!({
            let k = n;
            k > 1
        }),
    ] {
        let errors = refused(
            quote!(requires(#condition)),
            quote!(
                fn k(n: usize, y: &mut [f32]) {
                    y[global_idx_x()] = 1.0;
                }
            ),
        );
        assert!(errors.contains("the host cannot evaluate this"), "{errors}");
    }
    let errors = refused(quote!(requires = 3), strided());
    assert!(errors.contains("requires(k < n)"), "{errors}");
}
