//! rustc checks in each instance that elements of a type parameter have a nonzero size.

use quote::quote;
use sarek_frontend::expand::kernel;

#[test]
fn elements_of_a_parameter_have_a_size() {
    let said = "elements of this type have no size";
    for (item, times) in [
        (
            quote!(
                fn k<T: Element>(x: &[T], y: &mut [T]) {
                    y[global_idx_x()] = x[0];
                }
            ),
            2,
        ),
        (
            quote!(
                fn k<T: Element>(x: View2<T>, y: &mut [u32]) {
                    y[global_idx_x()] = 1;
                }
            ),
            1,
        ),
        (
            quote!(
                fn k<T: Element>(#[item] x: T, #[item] y: &mut T) {
                    *y = x;
                }
            ),
            2,
        ),
        (
            quote!(
                fn k<const N: usize>(x: &[[f32; N]], y: &mut [u32]) {
                    y[global_idx_x()] = 1;
                }
            ),
            1,
        ),
        (
            quote!(
                fn k<T: Element>(x: T, y: &mut [u32]) {
                    let tile = shared_array::<T, 4>();
                    let i = global_idx_x();
                    tile[thread_idx_x()] = x;
                    barrier();
                    y[i] = 1;
                }
            ),
            1,
        ),
        (
            quote!(
                fn k(x: &[P], y: &mut [f32]) {
                    y[global_idx_x()] = 1.0;
                }
            ),
            0,
        ),
    ] {
        let expansion = kernel(quote!(), item);
        assert!(expansion.errors.is_empty(), "{:?}", expansion.errors);
        let text = expansion.tokens.to_string();
        assert_eq!(text.matches(said).count(), times, "{text}");
    }
}
