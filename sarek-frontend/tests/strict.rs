//! `#[kernel(strict)]`: the operations that it rejects, with their places.

use quote::quote;
use sarek_frontend::expand::lowered;

fn refused(body: proc_macro2::TokenStream) -> String {
    let item = quote! {
        unsafe fn k(x: &[f32], n: &[i32], sums: &[Atomic<f32>], counts: &[Atomic<i32>], out: &mut [f32]) {
            let i = global_idx_x();
            #body
        }
    };
    match lowered(quote!(strict), item) {
        Ok(kernel) => {
            assert!(kernel.strict, "{kernel}");
            String::new()
        }
        Err(errors) => errors.join("\n"),
    }
}

#[test]
fn what_is_exact_is_accepted() {
    for body in [
        quote!(out[i] = (x[i] * x[i] + 1.0) / 3.0 % 2.0;),
        quote!(out[i] = x[i].sqrt().mul_add(2.0, x[i]).recip().to_degrees();),
        quote!(out[i] = x[i].floor() + x[i].round().clamp(-1.0, 1.0).copysign(x[i]).fract();),
        quote!(out[i] = f32::from_bits(x[i].to_bits() ^ 1);),
        quote!(out[i] = n[i].min(3).pow(2) as f32;),
        quote!(counts[0].fetch_add(n[i]);),
        quote!(out[i] = sums[0].swap(x[i]);),
        quote!(out[i] = subgroup_shuffle(x[i], 0);),
    ] {
        assert_eq!(refused(body.clone()), "", "{body}");
    }
}

#[test]
fn what_devices_compute_in_their_own_way_is_refused() {
    for (body, message) in [
        (
            quote!(out[i] = x[i].exp();),
            "`exp` is not rounded in the same way",
        ),
        (
            quote!(out[i] = f32::sin(x[i]);),
            "`sin` is not rounded in the same way",
        ),
        (
            quote!(out[i] = x[i].log(2.0);),
            "`ln` is not rounded in the same way",
        ),
        (quote!(out[i] = x[i].rsqrt();), "`1.0 / x.sqrt()`"),
        (quote!(out[i] = x[i].powi(2);), "write the multiplications"),
        (
            quote!(out[i] = x[i].max(0.0);),
            "`if a > b { a } else { b }`",
        ),
        (
            quote!(out[i] = x[i].min(0.0);),
            "`if a < b { a } else { b }`",
        ),
        (quote!(sums[0].fetch_add(x[i]);), "`fetch_add` on floats"),
        (quote!(sums[0].fetch_max(x[i]);), "`fetch_max` on floats"),
        (
            quote!(out[i] = subgroup_sum(x[i]);),
            "`subgroup_sum` of floats",
        ),
        (
            quote!(unsafe { native!("cuda", "__threadfence();") };),
            "a target's own text",
        ),
    ] {
        let found = refused(body.clone());
        assert!(found.contains(message), "{body}: {found:?}");
    }
}

#[test]
fn all_of_it_is_told_at_once() {
    let found = refused(quote!(out[i] = x[i].exp() + x[i].max(x[i].tanh());));
    assert_eq!(found.matches("SRK0318").count(), 3, "{found}");
}

#[test]
fn functions_follow_their_kernel() {
    let item = quote!(
        fn f(x: f32) -> f32 {
            x
        }
    );
    let errors = sarek_frontend::expand::device(quote!(strict), item).errors;
    assert!(errors[0].contains("an option of `#[kernel]`"), "{errors:?}");
}
